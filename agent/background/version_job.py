"""Drops versions that are no longer kept, once a session."""

from agent.background.scheduler import ShouldStop, StepResult
from memory.memory import Memory
from memory.settings import VersionSettings


class VersionJob:
    """Keeps what `versions.*` say."""

    name = "versions"
    status = ""
    failure = "old versions not dropped"
    essential = False

    def __init__(self, memory: Memory, settings: VersionSettings) -> None:
        self._memory = memory
        self._settings = settings
        self._is_due = not memory.read_only

    def due(self) -> bool:
        return self._is_due

    def step(self, should_stop: ShouldStop) -> StepResult:
        del should_stop  # it takes milliseconds
        self._is_due = False
        self._memory.versions.store.keep(self._settings)
        return StepResult(more=False)
