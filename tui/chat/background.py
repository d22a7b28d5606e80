"""Background work of the chat: watching edited files, detecting a local model, the progress of long commands."""

import asyncio
import time
from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, Final, Protocol

from agent.commands.results import Cancelled
from agent.tools.commands.commands import ended_sentence
from foundation.errors import PalimpsestError
from foundation.terminal_text import visible
from tui.typed_app import seconds_since_key
from tui.widgets.status import StatusBar
from tui.widgets.transcript.items import MutedLine, notice_line

if TYPE_CHECKING:
    from agent.session import Session
    from tui.widgets.transcript.view import Transcript

PERIOD: Final = 1.0  # seconds between two checks; each takes about 2 ms
AWAY_PERIOD: Final = 5.0  # the same while nobody types
AWAY_S: Final = 30.0  # seconds without a key after which nobody types


class Shown(Protocol):
    """Where what goes on beside the conversation is shown."""

    transcript: "Transcript"
    status: StatusBar

    def read_next_request(self) -> object: ...


async def watch(session: "Session", is_idle: Callable[[], bool], view: Shown) -> None:
    """Reports edited files, news of upkeep and ended commands until it is cancelled. During a turn, which checks the
    files itself, it only shows what works in the background. After a change, by another process too, the next request
    is counted anew."""
    transcript = view.transcript
    reported = ""  # the last error, shown once
    changes = MemoryChanges(session)
    started = time.monotonic()
    while True:
        is_away = min(seconds_since_key(transcript), time.monotonic() - started) > AWAY_S
        await asyncio.sleep(AWAY_PERIOD if is_away else PERIOD)
        view.status.update_info(working=session.working)
        if not is_idle():
            continue
        ended = [MutedLine(ended_sentence(command)) for command in session.commands.take_ended()]
        transcript.add_notices(*ended)
        try:
            notices = await asyncio.to_thread(session.context.reload)
        except (PalimpsestError, OSError) as error:
            if str(error) != reported:
                reported = str(error)
                transcript.add_notices(MutedLine(reported, tone="warning"))
            continue
        reported = ""
        transcript.add_notices(*[notice_line(notice.level, str(notice)) for notice in notices])
        if await asyncio.to_thread(changes.have_ended) or notices:
            view.read_next_request()
        news = await asyncio.to_thread(session.jobs.news.take)
        transcript.add_notices(*[MutedLine(visible(sentence), tone="warning") for sentence in news])


class MemoryChanges:
    """Sees the writes of the memory by their version. A series of writes is over once a look finds no further one."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._known: int | None = None  # None before the first look
        self._last = 0

    def have_ended(self) -> bool:
        """Whether a series of writes ended since the last look that said so. Blocks."""
        last, self._last = self._last, self._session.memory.cold.data_version()
        if self._known is None:
            self._known = self._last
        if self._last == self._known or self._last != last:
            return False
        self._known = self._last
        return True


class PageProgress:
    """Called with the number of pages done. After `cancel` the next call aborts the work; nothing is purged then."""

    def __init__(self, status: StatusBar, activity: str, pages: int, unit: str = "page") -> None:
        self._status = status
        self._activity = activity
        self._pages = pages
        self._unit = unit
        self._cancelled = Event()
        self._loop = asyncio.get_running_loop()
        self._show(0)

    def __call__(self, done: int) -> None:
        if self._cancelled.is_set():
            raise Cancelled(self._activity.capitalize())
        self._loop.call_soon_threadsafe(self._show, done)

    def cancel(self) -> None:
        self._cancelled.set()
        self._status.update_info(doing=f"{self._activity} · stopping at the next {self._unit}")

    def _show(self, done: int) -> None:
        if not self._cancelled.is_set():
            self._status.update_info(doing=f"{self._activity} · {self._count(done)}Esc cancels")

    def _count(self, done: int) -> str:
        if not done:
            return f"about {self._pages:,} {self._unit}{'s' if self._pages != 1 else ''} · " if self._pages else ""
        total = f" of about {max(self._pages, done):,}" if self._pages else ""
        return f"{self._unit} {done:,}{total} · "
