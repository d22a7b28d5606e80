"""The Textual application: themes, signals and the chat screen."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import structs
from textual import events, work
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.filter import Monochrome, NoColor
from textual.theme import Theme
from textual.worker import WorkerFailed

from foundation.terminal_text import visible
from tui.chat.screen import ChatScreen
from tui.chat.start import ChatStart
from tui.held_keys import HeldKeys, hold_keys
from tui.left_screens import is_of_left_screen
from tui.output.app import ChangesOnlyApp
from tui.output.direct_driver import direct_driver
from tui.output.ground_reports import ASK, GroundReported, reporting_driver
from tui.output.paste_guard import guard_pastes
from tui.output.tmux_clipboard import REFUSED, copy_through_tmux, is_in_tmux
from tui.shutdown import TerminalWatch, tolerant_driver
from tui.themes.choice import resolve_theme
from tui.themes.muted_rows import MutedRows
from tui.themes.own import THEMES
from tui.themes.palette_256 import with_greys
from tui.themes.terminal import AUTO, TerminalGround
from tui.themes.themed_screen import ThemedScreen
from tui.themes.variables import variables_for
from tui.widgets.transcript.items import MutedLine

if TYPE_CHECKING:  # loaded after first paint
    from textual.notifications import SeverityLevel

    from agent.session import Session
    from tui.palette.rows import PaletteRow
    from tui.widgets.prompt.input import Prompt


class PalimpsestApp(ChangesOnlyApp):
    """The application. It ends in the same way on a key, a signal and a closed terminal."""

    TITLE = "Palimpsest"
    CSS_PATH: ClassVar = ["styles/chat.tcss", "styles/rooms.tcss", "styles/short.tcss"]
    VERTICAL_BREAKPOINTS: ClassVar = [(0, "-short"), (18, "-tall")]  # pyright: ignore[reportIncompatibleVariableOverride] - Textual
    ENABLE_COMMAND_PALETTE = False
    INLINE_PADDING = 0
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "show_keys", "Keys and commands", id="app.keys", show=False, priority=True),
        Binding("ctrl+p", "show_palette", "Command palette", id="app.palette", show=False, priority=True),
        Binding("ctrl+q", "quit", "Quit", id="app.quit", show=False, priority=True),
        Binding(
            "ctrl+z", "suspend_process", "Suspend if there is no edit to undo; fg resumes", id="app.stop", show=False
        ),
    ]

    def __init__(
        self,
        start: ChatStart,
        open_session: Callable[[], Awaitable["Session"]],
        *,
        theme: str = AUTO,
        ground: TerminalGround | None = None,
        own_themes: Sequence[Theme] = (),
        own_keys: Mapping[str, str] | None = None,
    ) -> None:
        """`theme` is a name, or AUTO; `own_themes` and `own_keys` are those of the person; `ground` is what the
        terminal told.
        """
        super().__init__()
        self._ground = ground or TerminalGround()
        self.take_themes((*THEMES, *own_themes))
        self._asked_theme = theme
        self.use_theme(theme)
        self._own_keys = own_keys or {}
        self.set_class(self.no_color, "-no-colour")
        if self.no_color:  # Textual alone would leave greys
            self._filters = [NoColor() if isinstance(theme_, Monochrome) else theme_ for theme_ in self._filters]
        self._filters.append(MutedRows())
        self.last_typed = 0.0  # on the monotonic clock: dialogs that interrupt wait for a pause
        self.held_keys = HeldKeys(self, super().on_event)
        self.chat = ChatScreen(start, open_session)
        self._watch = TerminalWatch(self.chat.leave)
        self.when_closed: Callable[[], object] = lambda: None  # called when the session is closed

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return variables_for(self.current_theme)

    @property
    def has_dark_ground(self) -> bool | None:
        """Whether the terminal is dark; None where it does not tell."""
        return self._ground.is_dark

    def refresh_css(self, animate: bool = True) -> None:
        """Before there is a screen it reads the styles once: Textual reads them in a copy here, then again for the
        first widget (some 2 % of the CPU of the start)."""
        if self.screen_stack:
            super().refresh_css(animate)
            return
        self.stylesheet.set_variables(self.get_css_variables())
        self.stylesheet.update(self, animate=animate)

    def take_themes(self, themes: Iterable[Theme]) -> None:
        """Makes them available, each in place of one of its name."""
        for theme in themes:
            self.register_theme(with_greys(theme) if self.console.color_system == "256" else theme)

    def use_theme(self, name: str) -> None:
        """Shows the theme of this name; the one for the terminal where it is AUTO, or there is none of this name."""
        self.named_theme = name if name in self.available_themes else AUTO
        self.theme = resolve_theme(name, self.available_themes, is_dark=self._ground.is_dark)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: "SeverityLevel" = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Shows a toast, with control characters made visible and without markup."""
        del markup
        super().notify(visible(message), title=visible(title), severity=severity, timeout=timeout, markup=False)

    def copy_to_clipboard(self, text: str) -> None:
        """Copies the text; within tmux through it as well, which says so where it cannot."""
        super().copy_to_clipboard(text)
        if is_in_tmux(os.environ):
            self._copy_through_tmux(text)

    @work(exclusive=True, group="clipboard")
    async def _copy_through_tmux(self, text: str) -> None:
        if not await asyncio.to_thread(copy_through_tmux, text, os.environ):
            self.notify(REFUSED, severity="warning")

    def show_key_names(self) -> None:
        """Shows the keys with the names that the setting screen.keys has for them."""
        hold_keys(self, self._show_keys(with_names=True))

    def action_show_keys(self) -> None:
        """Shows the keys of the screen on top and, of the chat, the commands; does what is chosen."""
        hold_keys(self, self._show_keys())

    def show_keys_after_prompt(self) -> None:
        """Shows them after a `?` in an empty prompt, where what is typed next goes on."""
        hold_keys(self, self._show_keys(after_prompt=True))

    def action_show_palette(self) -> None:
        """Shows all that can be done in the chat; does what is chosen."""
        hold_keys(self, self._show_palette())

    @work(exclusive=True, group="palette")
    async def _show_keys(self, *, after_prompt: bool = False, with_names: bool = False) -> None:
        from tui.palette.key_rows import key_rows
        from tui.palette.rows import command_rows

        commands = command_rows() if self.screen is self.chat else []
        prompt = self.chat.prompt
        if not after_prompt:
            note = "Enter runs it · Esc closes · /keys shows the names for the setting screen.keys"
            rows = [*key_rows(self.screen), *commands]
            await self._choose("Keys and commands", lambda: rows, note, with_names=with_names)
        elif prompt.text == "?":  # nothing more came at once
            note = "Enter runs it · Esc closes · keep typing in the prompt · F1 opens this list with a filter"
            rows = [*key_rows(self.screen), *commands]
            await self._choose("Keys and commands", lambda: rows, note, prompt)

    @work(exclusive=True, group="palette")
    async def _show_palette(self) -> None:
        from agent.commands import registry
        from tui.palette.key_rows import key_rows
        from tui.palette.rows import command_rows, first_rows, session_rows, setting_rows, theme_rows

        if self.screen is not self.chat:
            return
        controller = self.chat.controller
        of_session = await session_rows(controller.session) if controller else []
        if controller:
            await registry.refresh(controller.session)
        actions = [row for row in key_rows(self.chat) if row.action and row.id]
        rows = [*command_rows(), *of_session, *actions, *setting_rows(), *theme_rows(self.available_themes)]
        note = f"type to search all {len(rows):,} · Enter runs it · Esc closes · F1 lists the keys"
        await self._choose("Palette", lambda: rows, note, first=first_rows(rows))

    async def _choose(
        self,
        title: str,
        rows: "Callable[[], list[PaletteRow]]",
        note: str,
        type_on: "Prompt | None" = None,
        first: "Sequence[PaletteRow]" = (),
        *,
        with_names: bool = False,
    ) -> None:
        """Shows the rows and does what is chosen; closes a list that is open instead."""
        from tui.palette.screen import PaletteScreen

        if isinstance(self.screen, PaletteScreen):
            self.screen.dismiss(None)
            return
        screen = PaletteScreen(title, rows(), note, type_on, first, with_names=with_names)
        row = await self.push_screen_wait(screen)
        if type_on and not screen.is_typed_on and self.chat.prompt.text == "?":  # it was no text
            self.chat.prompt.clear()
        if row is None:
            return
        if row.line.endswith(" "):
            self.chat.prompt.replace_text(row.line)
        elif row.line:
            self.chat.submissions.enter(row.line)
        elif row.action:
            await self.run_action(row.action, row.node)

    def use_keys(self, keys: Mapping[str, str]) -> list[str]:
        """Gives actions the person's own keys; a sentence for each that cannot be given."""
        if not keys:
            self.set_keymap({})
            return []
        from tui.bindings import default_keys, known_actions
        from tui.palette.own_keys import lost_keys, own_keymap

        keymap, problems = own_keymap(keys, known_actions(type(self)))
        self.set_keymap(keymap)
        return problems + lost_keys(keymap, default_keys(type(self)))

    def use_panel(self, setting: Literal["auto", "on", "off"]) -> None:
        """Shows the panel beside the conversation by this setting."""
        if self.chat.side_panel:
            self.chat.side_panel.use(setting)

    def get_driver_class(self) -> type[Driver]:
        return reporting_driver(tolerant_driver(direct_driver(guard_pastes(super().get_driver_class()))))

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste):
            self.last_typed = time.monotonic()
            if isinstance(event, events.Paste):  # terminals end its lines as Enter does
                event.text = event.text.replace("\r\n", "\n").replace("\r", "\n")
            if self.held_keys.takes(event):
                return
        elif isinstance(event, events.AppFocus) and self.named_theme == AUTO:
            self.write_sequence(ASK)
        await super().on_event(event)

    def on_ground_reported(self, message: GroundReported) -> None:
        """Follows a terminal that has become light, or dark."""
        if message.is_dark != self._ground.is_dark:
            self._ground = structs.replace(self._ground, is_dark=message.is_dark)
            self.use_theme(self.named_theme)

    def on_mount(self) -> None:
        self.theme_changed_signal.subscribe(self, self._draw_colours)
        self.push_screen(self.chat)
        self._watch.start()
        self.call_after_refresh(self._take_up_own)
        self.set_interval(self._watch.PERIOD, self._watch.check)

    def _draw_colours(self, _theme: Theme) -> None:
        """Draws every open screen in the colours of the theme in use, those below another one too."""
        for screen in self.screen_stack:
            if isinstance(screen, ThemedScreen):
                screen.draw_colours()

    def _take_up_own(self) -> None:
        """Takes up the person's keys, and what was typed before there was a screen."""
        if typed := self._ground.typed.rstrip("\r"):  # it waits for an Enter that follows: it may be part of a paste
            self.chat.prompt.insert(visible(typed.replace("\r", "\n")))
        problems = self.use_keys(self._own_keys)
        if self._asked_theme not in (AUTO, *self.available_themes):
            problems.append(f"screen.theme: there is no theme “{self._asked_theme}”. /theme lists them.")
        self.chat.transcript.interject(*(MutedLine(visible(problem), tone="warning", gap=True) for problem in problems))

    async def on_unmount(self) -> None:
        self._watch.stop()
        self.held_keys.stop()
        await self.chat.close_session()
        self.when_closed()

    def _handle_exception(self, error: Exception) -> None:
        """Ends the chat, unless the error is of a screen that was left."""
        if not is_of_left_screen(error, self.screen_stack):
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Ends the chat. The error is raised afterwards, once and without the values of variables."""
        self._close_messages_no_wait()

    @property
    def error(self) -> Exception | None:
        """The exception that ended the chat, if any."""
        found = self._exception
        return found.error if isinstance(found, WorkerFailed) else found  # type: ignore[return-value]  # workers raise Exceptions

    @property
    def exit_status(self) -> int:
        """The exit status; 143 where SIGTERM ended the chat, 129 where its terminal was closed."""
        return self.return_code or self._watch.status

    async def action_quit(self) -> None:
        self.chat.leave()
