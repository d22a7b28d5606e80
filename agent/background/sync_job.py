"""Syncs with the workspace's locations, where the person switched that on.

A location that does not answer is tried again later, and only /status and `doctor` name it: being offline is normal.
New devices, and notes that others changed, are told in the chat.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from agent.background.scheduler import ShouldStop, StepResult
from agent.background.upkeep_news import UpkeepNews
from foundation.clock import Clock
from foundation.errors import TemporaryFailure
from memory.memory import Memory

if TYPE_CHECKING:  # loaded by the first step
    from memory.settings import SyncSettings
    from memory.sync.forgotten import DeletionPort


class SyncJob:
    """Syncs at most every `sync.minutes`. Without `deletions` what other devices deleted waits for a `sync now`."""

    name = "sync-job"
    status = "syncing"
    failure = "not synced"
    essential = False

    def __init__(
        self, memory: Memory, settings: SyncSettings, environment: Mapping[str, str], clock: Clock, news: UpkeepNews
    ) -> None:
        self.deletions: DeletionPort | None = None
        self._memory = memory
        self._settings = settings
        self._environment = environment
        self._clock = clock
        self._news = news
        self._is_wanted = settings.background and bool(settings.locations) and not memory.read_only
        self._left: list[str] = []
        self._next: datetime | None = None

    def due(self) -> bool:
        """Whether it is switched on, and the last run was long enough ago."""
        if not self._is_wanted:
            return False
        if not self._left and (self._next is None or self._clock.now() >= self._next):
            self._left = list(self._settings.locations)
            self._next = self._clock.now() + timedelta(minutes=self._settings.minutes)
        return bool(self._left)

    def step(self, should_stop: ShouldStop) -> StepResult:
        from memory.sync.encryption import open_keys
        from memory.sync.place import open_sync_place
        from memory.sync.sync import Sync

        settings, workspace = self._settings, self._memory.workspace
        keys = open_keys(settings.recipients, self._environment)
        encrypts = bool(settings.recipients)
        sync = Sync(self._memory, self.deletions, keys=keys, encrypts=encrypts, ask_above=settings.ask_above)
        if sync.device is None:  # the configuration names a location, and `sync add` was never said here
            self._left.clear()
            return StepResult()
        try:
            result = sync.run(open_sync_place(self._left[0], workspace.root, [workspace.root]), should_stop)
        except TemporaryFailure:
            self._left.pop(0)
            return StepResult(more=bool(self._left))
        self._news.put(*result.news)
        if result.stopped:
            return StepResult(more=True)
        self._left.pop(0)
        return StepResult(more=bool(self._left), error=result.problem)
