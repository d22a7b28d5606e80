"""Keeps the context meter at what the next request will hold: the newest answer counts as soon as it is stored."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.screen import Screen

from agent.events import AnswerStored, ContextReady, SessionEvent, Stopped
from foundation.errors import PalimpsestError
from tui.widgets.status import StatusBar

if TYPE_CHECKING:
    from agent.session import Session
    from context.report import ContextReport


class NextRequest:
    """Counts an answer at once by the model's counter, and then the whole request, off the event loop."""

    def __init__(
        self, screen: Screen[None], session: "Session", status: StatusBar, show: "Callable[[ContextReport], object]"
    ) -> None:
        """`show` shows the figures of the request."""
        self._screen, self._session, self._status, self._show = screen, session, status, show
        self._requests = 0  # requests begun: figures that were read before the last one are dropped

    def take(self, event: SessionEvent) -> None:
        """Takes an event of the turn, after the status bar did."""
        match event:
            case ContextReady():
                self._requests += 1
            case AnswerStored(text=text) | Stopped(text=text):
                tokens = self._status.info.tokens
                self._status.update_info(tokens=tokens + self._session.model.counter.count(text) if tokens else 0)
            case _:
                pass

    def read(self) -> None:
        """Counts the next request of the open conversation, and shows its figures."""
        self._screen.run_worker(self._read, group="next request", exclusive=True)

    async def _read(self) -> None:
        before, conversation = self._requests, self._session.conversation
        if conversation is None:
            return
        try:
            report = (await self._session.preview_request()).report
        except (PalimpsestError, OSError):  # the next message says it
            return
        now = self._session.conversation
        if before == self._requests and now is not None and now.id == conversation.id:
            self._show(report)
