"""Makes observations of what a turn added, while nobody waits."""

import time
from collections.abc import Callable
from contextlib import suppress

from agent.background.scheduler import ShouldStop, StepResult
from foundation.errors import PalimpsestError
from memory.memory import Memory
from memory.observations.original import ObservationMaker

BATCH = 32  # entries of one step of the rules: some 0.1 s
FLUSH_BATCH = 8
FLUSH_S = 0.25


class ObservationJob:
    """Observes entries with one maker, in order, a batch a step. `cursor`: see memory.observations.store."""

    name = "observing"
    status = ""
    failure = "observations not made"
    essential = True

    def __init__(
        self, memory: Memory, open_maker: Callable[[], ObservationMaker], cursor: str, *, enabled: bool = True
    ) -> None:
        self._memory = memory
        self._open_maker = open_maker
        self._maker: ObservationMaker | None = None
        self._cursor = cursor
        self._enabled = enabled and not memory.read_only

    def due(self) -> bool:
        """Whether there are entries that the maker has not looked at."""
        return self._enabled and self._memory.observations.is_due(self._cursor)

    def step(self, should_stop: ShouldStop) -> StepResult:
        return StepResult(more=self._observe(BATCH))

    def flush(self) -> None:
        """Observes now what is due, for FLUSH_S at most: entries are about to leave a request. What is left, and what
        fails, is observed after the turn."""
        until = time.monotonic() + FLUSH_S
        with suppress(PalimpsestError, OSError):
            while self.due() and time.monotonic() < until and self._observe(FLUSH_BATCH):
                pass

    def _observe(self, most: int) -> bool:
        """Observes the next entries, at most so many; False where there were none."""
        observations = self._memory.observations
        batch = observations.batch(self._cursor, most)
        if batch is None:
            return False
        maker = self._maker = self._maker or self._open_maker()
        made = maker.make(batch.originals, batch.known)
        observations.store(batch, made, maker.name, self._cursor)
        return True
