"""Opens the screens about the program: themes, settings, keys."""

import asyncio
from typing import TYPE_CHECKING

from textual.screen import Screen

from agent.services.settings import set_for_user
from foundation.terminal_text import visible
from tui.dialogs.theme import pick_theme
from tui.typed_app import themed_app

if TYPE_CHECKING:
    from agent.commands.results import OpenNamedScreen
    from agent.session import Session


async def open_program_screen(screen: Screen[None], session: "Session", opened: "OpenNamedScreen") -> str:
    """Opens it; gives a sentence about what was done there, or "". Raises PalimpsestError where that failed."""
    app = themed_app(screen)
    match opened.screen:
        case "theme":
            name = await pick_theme(app, opened.text)
            return await _keep_theme(session, name) if name else ""
        case "settings":
            return ""
        case "keys":
            app.action_show_keys()
            return ""


async def _keep_theme(session: "Session", name: str) -> str:
    """Makes it the theme of all workspaces."""
    origin = await asyncio.to_thread(set_for_user, session.workspace, session.config.environment, "screen.theme", name)
    if origin:
        return f"The theme is {name} now; the next start goes by {visible(origin)}."
    return f"The theme is {name} now, in each workspace."
