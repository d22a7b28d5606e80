"""Makes observations of what a turn added, while nobody waits."""

from collections.abc import Callable, Collection

from agent.background.scheduler import ShouldStop, StepResult
from memory.memory import Memory
from memory.observations.original import ObservationMaker

BATCH = 32  # entries of one step of the rules: some 0.1 s


class ObservationJob:
    """Observes entries with one maker, in order, a batch a step."""

    status = ""
    failure = "observations not made"

    def __init__(
        self,
        memory: Memory,
        open_maker: Callable[[], ObservationMaker],
        cursors: Collection[str],
        *,
        enabled: bool = True,
        batch: int = BATCH,
        essential: bool = True,
    ) -> None:
        """`cursors`: that of the maker, then those that go along with it (memory.observations.store)."""
        self.name = f"observing-{next(iter(cursors))}"
        self.essential = essential
        self._memory = memory
        self._open_maker = open_maker
        self._maker: ObservationMaker | None = None
        self._cursors = tuple(cursors)
        self._enabled = enabled and not memory.read_only
        self._batch = batch

    def due(self) -> bool:
        """Whether there are entries that the maker has not looked at."""
        return self._enabled and self._memory.observations.is_due(self._cursors[0])

    def step(self, should_stop: ShouldStop) -> StepResult:
        observations = self._memory.observations
        batch = observations.batch(self._cursors[0], self._batch)
        if batch is None:
            return StepResult()
        maker = self._maker = self._maker or self._open_maker()
        made = maker.make(batch.originals, batch.known)
        observations.store(batch, made, maker.name, self._cursors)
        return StepResult(more=not made.problem, error=made.problem)
