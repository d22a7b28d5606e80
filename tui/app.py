"""The Textual application: themes, signals and the chat screen."""

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.driver import Driver
from textual.filter import Monochrome, NoColor
from textual.worker import WorkerFailed

from foundation.terminal_text import visible
from tui.chat.screen import ChatScreen
from tui.chat.start import ChatStart
from tui.output.app import ChangesOnlyApp
from tui.shutdown import TerminalWatch, tolerant_driver
from tui.themes import DARK, THEMES

if TYPE_CHECKING:  # loaded after first paint
    from textual.notifications import SeverityLevel

    from agent.session import Session


class PalimpsestApp(ChangesOnlyApp):
    """The application. It ends in the same way on a key, a signal and a closed terminal."""

    TITLE = "Palimpsest"
    CSS_PATH: ClassVar = ["styles/chat.tcss", "styles/recall.tcss"]
    ENABLE_COMMAND_PALETTE = False
    INLINE_PADDING = 0
    BINDINGS: ClassVar = []

    def __init__(
        self, start: ChatStart, open_session: Callable[[], Awaitable["Session"]], *, theme: str = DARK
    ) -> None:
        super().__init__()
        for theme_ in THEMES:
            self.register_theme(theme_)
        self.theme = theme
        if self.no_color:  # Textual alone would leave greys
            self._filters = [NoColor() if isinstance(theme_, Monochrome) else theme_ for theme_ in self._filters]
        self.last_typed = 0.0  # on the monotonic clock: dialogs that interrupt wait for a pause
        self.chat = ChatScreen(start, open_session)
        self._watch = TerminalWatch(self.chat.leave)

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

    def get_driver_class(self) -> type[Driver]:
        return tolerant_driver(super().get_driver_class())

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste):
            self.last_typed = time.monotonic()
        await super().on_event(event)

    def on_mount(self) -> None:
        self.push_screen(self.chat)
        self._watch.start()
        self.set_interval(self._watch.PERIOD, self._watch.check)

    async def on_unmount(self) -> None:
        self._watch.stop()
        await self.chat.close_session()

    def _fatal_error(self) -> None:
        """Ends the chat. The error is raised afterwards, once and without the values of variables."""
        self._close_messages_no_wait()

    @property
    def error(self) -> Exception | None:
        """The exception that ended the chat, if any."""
        found = self._exception
        return found.error if isinstance(found, WorkerFailed) else found  # type: ignore[return-value]  # workers raise Exceptions

    async def action_quit(self) -> None:
        self.chat.leave()
