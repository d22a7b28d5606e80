"""Warns of the room that memory takes, before its budget is used up or the disk is full."""

from __future__ import annotations

from typing import Final

from msgspec import structs

from agent.background.scheduler import ShouldStop, StepResult
from agent.background.upkeep_news import UpkeepNews
from foundation.clock import Clock, to_ms
from memory.memory import Memory
from memory.settings import DiskSettings
from memory.upkeep.disk import ADVICE, disk_warning, measure
from memory.upkeep.state import change_state, read_state

EACH_S: Final = 600.0
"""Seconds between two measurements of a session."""

_DAY_MS: Final = 86_400_000


class DiskJob:
    """Measures after a turn, every ten minutes at most; warns once a day."""

    name = "measuring"
    status = ""
    failure = "room not measured"
    essential = False

    def __init__(self, memory: Memory, settings: DiskSettings, clock: Clock, news: UpkeepNews) -> None:
        self._memory = memory
        self._settings = settings
        self._clock = clock
        self._news = news
        self._measured: float | None = None

    def due(self) -> bool:
        if self._memory.read_only or not (self._settings.budget_mb or self._settings.free_mb):
            return False
        return self._measured is None or self._clock.monotonic() - self._measured >= EACH_S

    def step(self, should_stop: ShouldStop) -> StepResult:
        del should_stop  # two seconds at the most
        self._measured = self._clock.monotonic()
        workspace = self._memory.workspace
        warning = disk_warning(measure(workspace), self._settings, advice=ADVICE)
        now_ms = to_ms(self._clock.now())
        if warning and now_ms - read_state(workspace).warned_ms >= _DAY_MS:
            self._news.put(warning)
            change_state(workspace, lambda state: structs.replace(state, warned_ms=now_ms))
        return StepResult()
