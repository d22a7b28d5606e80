"""Gives the room of deleted rows back to the disk, while nobody waits."""

from __future__ import annotations

from typing import Final

from agent.background.scheduler import ShouldStop, StepResult
from agent.background.upkeep_news import UpkeepNews
from foundation.clock import Clock
from memory.memory import Memory
from memory.upkeep.disk import can_shrink, shrink_database

_EACH_S: Final = 3600.0  # seconds between two attempts of a session


class ShrinkJob:
    """Tries once an hour where a fifth of the database, and 16 MB, are free pages."""

    name = "shrinking"
    status = "shrinking the database"
    failure = "database not shrunk"
    essential = False

    def __init__(self, memory: Memory, clock: Clock, news: UpkeepNews) -> None:
        self._memory = memory
        self._clock = clock
        self._news = news
        self._tried: float | None = None

    def due(self) -> bool:
        if self._memory.read_only:
            return False
        is_time = self._tried is None or self._clock.monotonic() - self._tried >= _EACH_S
        return is_time and can_shrink(self._memory)

    def step(self, should_stop: ShouldStop) -> StepResult:
        self._tried = self._clock.monotonic()
        if sentence := shrink_database(self._memory, should_stop):
            self._news.put(sentence)
        return StepResult()
