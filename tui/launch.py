"""Opens the screen with the options of the command line."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.cli import output
from agent.cli.launch import LaunchOptions
from foundation.paths import config_dir
from foundation.program import TYPED, own_command
from tui.app import PalimpsestApp
from tui.chat.start import ChatStart
from tui.full_collections import FullCollections
from tui.session_opener import Opening
from tui.shutdown import ignore_interrupts
from tui.themes.files import load_themes
from tui.themes.terminal import TerminalGround

if TYPE_CHECKING:  # loaded after first paint
    from agent.session import Session


SIZE_VARIABLES: Final = ("COLUMNS", "LINES")
"""A shell that exports them tells the size that its window had once; Textual would never follow another."""


def run_chat(options: LaunchOptions, ground: TerminalGround | None = None) -> int:
    """Runs the chat and gives the exit status. Afterwards stderr shows the command that resumes the conversation."""
    for name in SIZE_VARIABLES:
        os.environ.pop(name, None)
    app = create_app(options, ground)
    app.when_closed = ignore_interrupts
    app.run()
    if app.chat.resumable_id:
        workspace = ("--workspace", options.workspace_flag) if options.workspace_flag else ()
        with suppress(OSError):  # the terminal may be closed
            output.narrate(f"Continue it with: {own_command(*workspace, '-r', app.chat.resumable_id, program=TYPED)}")
    if app.error is not None:
        raise app.error
    return app.exit_status


def create_app(options: LaunchOptions, ground: TerminalGround | None = None) -> PalimpsestApp:
    """The application for these options, not yet running. `ground` is what the terminal told."""
    themes, problems = load_themes(config_dir(options.config.environment) / "themes")
    opening = Opening(options)
    start = ChatStart(
        workspace=options.workspace,
        model=options.config.model,
        project=options.project or (Path.cwd(),),
        mode=(options.mode or options.config.tools.mode).value,
        working_directory=Path.cwd(),
        message=options.message,
        resume=options.resume,
        latest=options.latest,
        new_workspace=options.new_workspace,
        notices=(*options.notices, *problems),
        contents=options.brings,
        changes=options.changes,
        trust=opening.trust if options.trust is not None else None,
        untrusted_notice=options.untrusted_notice,
        notify=options.config.screen.notify,
        vim_keys=options.config.screen.vim_keys,
        links=opening.links,
        follow=opening.follow,
    )

    async def open_session() -> "Session":
        from tui.malloc_arenas import limit_arenas  # after first paint: it loads ctypes

        limit_arenas()
        session = await asyncio.to_thread(opening.open_session)
        FullCollections().start()
        return session

    screen = options.config.screen
    return PalimpsestApp(
        start, open_session, theme=screen.theme, ground=ground, own_themes=themes, own_keys=screen.keys
    )
