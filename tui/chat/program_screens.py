"""Opens the screens about the program: themes, settings, keys."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

from textual.screen import Screen

from agent.config.edit import parse_value
from agent.services.live_settings import take_up
from agent.services.settings import SettingRow, change_setting, setting_rows
from context.switches import SWITCHES
from foundation.errors import Misuse
from foundation.paths import config_dir
from foundation.terminal_text import visible, visible_line
from tui.dialogs.theme import pick_theme
from tui.output.attention import Attention
from tui.settings.screen import SettingsScreen
from tui.themes.files import load_themes
from tui.themes.terminal import AUTO
from tui.typed_app import ThemedApp, app_of, themed_app
from tui.widgets.prompt.input import Prompt

if TYPE_CHECKING:
    from agent.commands.results import OpenNamedScreen
    from agent.session import Session
    from context.report import ContextReport
    from tui.overview.list_screen import ListScreen

_OUTRANKED: Final = "; /switches overrides it"


async def open_program_screen(
    screen: Screen[None],
    session: "Session",
    opened: "OpenNamedScreen",
    attention: Attention,
    show_report: Callable[["ContextReport"], None],
) -> str:
    """Opens it; gives the command that was chosen there, a sentence on what was done, or "". `show_report` shows the
    figures of the next request.

    Raises PalimpsestError where that failed.
    """
    app = themed_app(screen)
    match opened.screen:
        case "theme":
            await _read_own_themes(app, session, opened.text)
            name = await pick_theme(app, opened.text)
            return await _keep_theme(session, name) if name else ""
        case "settings":
            settings = SettingsOfSession(screen, session, attention)
            await app_of(screen).push_screen_wait(SettingsScreen(settings, opened.text))
        case "keys":
            app.show_key_names()
        case "context":
            await _show_context(screen, session, opened.text, show_report)
        case "memory" | "statistics" | "archive":
            await app_of(screen).push_screen_wait(_overview(session, opened.screen))
        case "clean":
            from tui.overview.clean_screen import CleanScreen

            return await app_of(screen).push_screen_wait(CleanScreen(session)) or ""
        case "models":
            from agent.services.models_view import SessionModels
            from tui.overview.models_screen import ModelsScreen

            spec = await app_of(screen).push_screen_wait(ModelsScreen(SessionModels(session)))
            return f"/model {spec}" if spec else ""
        case "changes":
            from tui.overview.changes_screen import ChangedFilesScreen

            await app_of(screen).push_screen_wait(ChangedFilesScreen(session))
        case "permissions":
            from tui.overview.permissions_screen import PermissionsScreen

            await app_of(screen).push_screen_wait(PermissionsScreen(session.permissions, session.commands))
        case "mcp":
            from agent.services.mcp_servers import SessionServers
            from tui.overview.servers_screen import ServersScreen

            await app_of(screen).push_screen_wait(ServersScreen(SessionServers(session)))
    return ""


def _overview(session: "Session", name: Literal["memory", "statistics", "archive"]) -> "ListScreen[None]":
    """The screen of what the workspace holds."""
    match name:
        case "memory":
            from tui.overview.memory_screen import MemoryScreen

            return MemoryScreen(session)
        case "statistics":
            from agent.services.statistics_view import statistics_view
            from tui.overview.statistics_screen import StatisticsScreen

            return StatisticsScreen(lambda: statistics_view(session))
        case "archive":
            from tui.overview.archive_screen import ArchiveScreen

            return ArchiveScreen(session.memory, session.config.screen.pictures)


async def _show_context(
    screen: Screen[None], session: "Session", text: str, show_report: Callable[["ContextReport"], None]
) -> None:
    """Shows the next request; the status bar and the panel show the same figures from then on."""
    from agent.services.context_view import context_view
    from tui.overview.context_screen import ContextScreen

    await app_of(screen).push_screen_wait(ContextScreen(lambda: context_view(session, text), show_report))


class SettingsOfSession:
    """The settings of a session, for their screen."""

    def __init__(self, screen: Screen[None], session: "Session", attention: Attention) -> None:
        self._screen = screen
        self._session = session
        self._attention = attention
        self._workspace, self._environment = session.workspace, session.config.environment

    async def rows(self) -> list[SettingRow]:
        return await asyncio.to_thread(setting_rows, self._workspace, self._environment)

    async def change(self, name: str, text: str | None, *, user: bool) -> str:
        """Sets it, or takes it out for None; gives a sentence about what holds then. Raises PalimpsestError."""
        if name == "screen.theme" and text is not None:
            await _read_own_themes(themed_app(self._screen), self._session, text)
        row = await asyncio.to_thread(change_setting, self._workspace, self._environment, name, text, user=user)
        where = "" if row.origin == "default" else f"Set by {visible(row.origin)}."
        await asyncio.to_thread(take_up, self._session, name)
        problems = self._take_up(row)
        outranked = _OUTRANKED if name.removeprefix("context.") in SWITCHES else ""
        value = f"{name} is {visible(row.written) or 'empty'}."
        return " ".join(filter(None, [value, f"It applies {row.holds}{outranked}.", *problems, where]))

    def _take_up(self, row: SettingRow) -> list[str]:
        """Takes up what the screen alone reads; gives a sentence for each part that it cannot."""
        match row.setting.name:
            case "screen.theme":
                themed_app(self._screen).use_theme(row.written)
            case "screen.vim_keys":
                self._screen.query_one(Prompt).use_vim_keys(bool(parse_value(row.setting, row.written)))
            case "screen.panel":
                themed_app(self._screen).use_panel(row.written)
            case "screen.keys":
                problems = themed_app(self._screen).use_keys(parse_value(row.setting, row.written))
                return [visible(problem) for problem in problems]
            case "screen.notify":
                self._attention.kind = self._session.config.screen.notify
            case _:
                pass
        return []


async def _read_own_themes(app: ThemedApp, session: "Session", name: str) -> None:
    """Takes up themes whose files came or were mended since the start.

    Raises Misuse where there is no theme of the name; "" names none.
    """
    folder = config_dir(session.config.environment) / "themes"
    themes, problems = await asyncio.to_thread(load_themes, folder)
    app.take_themes(themes)
    if name not in ("", AUTO, *app.available_themes):
        message = f"There is no theme “{visible_line(name)}”."
        raise Misuse("Unknown theme", message, " ".join(problems) or "/theme lists them.")


async def _keep_theme(session: "Session", name: str) -> str:
    """Makes it the theme of all workspaces."""
    workspace, environment = session.workspace, session.config.environment
    row = await asyncio.to_thread(change_setting, workspace, environment, "screen.theme", name, user=True)
    if row.written != name:
        return f"Theme set to {name}. At the next start, {visible(row.origin)} overrides it."
    return f"Theme set to {name} for all workspaces."
