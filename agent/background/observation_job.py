"""Makes observations of what a turn added, while nobody waits."""

from collections.abc import Callable

from agent.background.scheduler import ShouldStop, StepResult
from memory.memory import Memory
from memory.observations.original import ObservationMaker

BATCH = 32  # entries of one step of the rules: some 0.1 s


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
        observations = self._memory.observations
        batch = observations.batch(self._cursor, BATCH)
        if batch is None:
            return StepResult()
        maker = self._maker = self._maker or self._open_maker()
        made = maker.make(batch.originals, batch.known)
        observations.store(batch, made, maker.name, self._cursor)
        return StepResult(more=True)
