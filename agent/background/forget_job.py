"""Goes on with what an earlier process began to forget."""

from agent.background.scheduler import ShouldStop, StepResult
from memory.memory import Memory


class ForgetJob:
    """Finishes open jobs of forgetting, once in a session: what cannot be finished now waits for the next start."""

    name = "forgetting"
    status = "forgetting"
    failure = "not forgotten yet"
    essential = False

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._has_run = False

    def due(self) -> bool:
        """Whether there is an open job; reads names alone."""
        from memory.forgotten.journal import Journal

        return not (self._has_run or self._memory.read_only) and bool(
            Journal(self._memory.workspace.forgotten).open_ids()
        )

    def step(self, should_stop: ShouldStop) -> StepResult:
        from agent.services.forgetting import finish_pending

        self._has_run = True
        finish_pending(self._memory)
        return StepResult()
