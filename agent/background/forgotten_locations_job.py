"""Takes what was forgotten from a location of sync that did not answer then.

The person asked for that when they forgot it, so it does not wait for `sync.background`. Nothing else is sent there.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from agent.background.scheduler import ShouldStop, StepResult
from agent.background.upkeep_news import UpkeepNews
from foundation.clock import Clock
from memory.memory import Memory

if TYPE_CHECKING:
    from memory.settings import SyncSettings

_BETWEEN: Final = timedelta(minutes=10)  # two attempts


class ForgottenLocationsJob:
    """Tries at the start of a session, and then at most every ten minutes."""

    name = "forgotten-locations"
    status = "deleting forgotten text from a location"
    failure = "forgotten text is still at a location"
    essential = False

    def __init__(
        self, memory: Memory, settings: SyncSettings, environment: Mapping[str, str], clock: Clock, news: UpkeepNews
    ) -> None:
        self._memory = memory
        self._settings = settings
        self._environment = environment
        self._clock = clock
        self._news = news
        self._next: datetime | None = None

    def due(self) -> bool:
        """Whether a location that is configured holds something forgotten, and the last attempt was long ago."""
        if (
            not self._settings.locations
            or self._memory.read_only
            or (self._next is not None and self._clock.now() < self._next)
        ):
            return False
        return bool(self._pending())

    def step(self, should_stop: ShouldStop) -> StepResult:
        from memory.sync.renewal import LocationAccess, renew_locations

        if should_stop():
            return StepResult(more=True)
        self._next = self._clock.now() + _BETWEEN
        before, access = self._pending(), LocationAccess(self._settings, self._environment)
        left = [each for each in renew_locations(self._memory, access) if each.location in before]
        if done := before - {each.location for each in left}:
            self._news.put(f"Forgotten text was also deleted from {', '.join(sorted(done))}.")
        return StepResult(error="; ".join(map(str, left)))

    def _pending(self) -> frozenset[str]:
        from memory.sync.renewal import pending_locations

        return frozenset(pending_locations(self._memory)).intersection(self._settings.locations)
