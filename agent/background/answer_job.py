"""Stores answers that ended while the disk was full, once there is room."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Final

from agent.background.scheduler import ANSWERS, ShouldStop, StepResult
from foundation.errors import PalimpsestError
from memory.errors import NotFound
from memory.records import Entry

STORED_LATER: Final = "There is free space again: the unsaved answer is now stored."


class AnswerJob:
    """The unstored answers of one session, oldest first, without the words that the person hid. They are lost where
    the program ends before there is room; what was written of them while they streamed is kept.
    """

    name = ANSWERS
    status = ""
    failure = "answer not stored"
    essential = True

    def __init__(self, on_stored: Callable[[Entry], None]) -> None:
        """`on_stored` gets each entry, in a worker thread."""
        self.on_notice: Callable[[str], None] | None = None  # a face's, for the event loop's thread
        self._on_stored = on_stored
        self._lock = Lock()
        self._unstored: deque[Callable[[], Entry]] = deque()
        self._notices: tuple[str, ...] = ()

    def add(self, store: Callable[[], Entry]) -> None:
        """Keeps what stores an answer, until it has."""
        self._unstored.append(store)

    def due(self) -> bool:
        return bool(self._unstored)

    def step(self, should_stop: ShouldStop) -> StepResult:
        with self._lock:
            while self._unstored:
                with suppress(NotFound):  # deleted meanwhile
                    self._on_stored(self._unstored[0]())
                    self._notices = (STORED_LATER,)
                self._unstored.popleft()
        return StepResult()

    async def store_now(self) -> None:
        """Tries at once, before the next message. What still cannot be stored waits on."""
        if self._unstored:
            with suppress(PalimpsestError, OSError):
                await asyncio.to_thread(self.step, lambda: False)
        self.report()

    def report(self) -> None:
        """Tells the face that answers are stored now, once. For the event loop's thread."""
        if self.on_notice is not None:
            notices, self._notices = self._notices, ()
            for sentence in notices:
                self.on_notice(sentence)
