"""Progress of pages or files, shown in the status bar and cancelled by a key."""

import asyncio
from threading import Event

from agent.commands.results import Cancelled
from tui.widgets.status import StatusBar


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
