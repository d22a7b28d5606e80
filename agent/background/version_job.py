"""Drops versions that are no longer kept, and copies of those that are, once a session."""

from typing import Final

from agent.background.scheduler import ShouldStop, StepResult
from memory.memory import Memory
from memory.settings import VersionSettings

_MOST_COPIES: Final = 500  # a session; each is compared with its version


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
        self._is_due = False
        self._memory.versions.store.keep(self._settings)  # it takes milliseconds
        self._memory.versions.drop_copies(_MOST_COPIES, should_stop)
        return StepResult(more=False)
