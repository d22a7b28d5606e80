"""The find bar of the chat: carries out its keys on the transcript."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from textual import on, work

from tui.widgets.find_bar import FindBar
from tui.widgets.prompt.input import Prompt
from tui.widgets.status import StatusBar
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:  # loaded when it is first used
    from tui.chat.controller import ChatController
    from tui.chat.find_mode import FindMode

REFIND_S: Final = 0.5  # seconds between two looks at what came while the bar is open


class ChatFind(FindBar):
    """Stands in place of the status bar while it is open."""

    def __init__(
        self,
        transcript: Transcript,
        controller: "Callable[[], ChatController | None]",
        prompt: Prompt,
        status: StatusBar,
    ) -> None:
        super().__init__()
        self._transcript = transcript
        self._controller = controller
        self._prompt = prompt
        self._status = status
        self._mode: FindMode | None = None

    def open(self) -> None:
        """Remembers where one is, and finds the last query again."""
        from tui.palette.key_rows import key_rows  # after the first frame

        if self._mode is None:
            from tui.chat.find_mode import FindMode

            self._mode = FindMode(self._transcript, self, self._controller)
            self.set_interval(REFIND_S, self._find_again)
        self._status.display = False
        self._mode.open()
        self.name_key(next((row.label for row in key_rows(self.screen) if row.id == "chat.find"), ""))
        super().open()
        self._find(self.query_text)

    async def close(self, *, stays: bool) -> None:
        """Gives the keys back to the prompt; goes back to where one was unless one `stays`."""
        if not self.display or self._mode is None:
            return
        self.workers.cancel_node(self)  # pyright: ignore[reportUnknownMemberType] - Textual leaves its results untyped
        had_keys = self.has_focus_within or self.screen.focused is None
        self.display, self._status.display = False, True
        if had_keys:
            self._prompt.focus()
        await self._mode.leave(stays=stays)

    @on(FindBar.QueryChanged)
    def _query_changed(self, message: FindBar.QueryChanged) -> None:
        if self.display:
            self._find(message.query)

    @work(exclusive=True, group="find")
    async def _find(self, query: str) -> None:
        if self._mode:
            await self._mode.search(query)

    @work(exclusive=True, group="find again")
    async def _find_again(self) -> None:
        if self._mode and self.display:
            await self._mode.refresh()

    @on(FindBar.StepRequested)
    @work(group="step")
    async def _step(self, message: FindBar.StepRequested) -> None:
        if self._mode:
            await self._mode.step(message.by)

    @on(FindBar.Closed)
    async def _left(self, message: FindBar.Closed) -> None:
        if self.screen.is_current and not (message.is_blur and self.has_focus_within):
            await self.close(stays=message.stays)
