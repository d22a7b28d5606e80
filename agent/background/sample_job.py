"""Compares a sample of what is stored with its hashes, once in `check.sample_days` days."""

from __future__ import annotations

import time
from typing import Final

from msgspec import structs

from agent.background.scheduler import ShouldStop, StepResult
from agent.background.upkeep_news import UpkeepNews
from foundation.clock import Clock, to_ms
from memory.memory import Memory
from memory.records import IntegrityProblem
from memory.settings import CheckSettings
from memory.upkeep.integrity import REPAIR, fault_words, faults_sentence
from memory.upkeep.state import MOST_FAULTS, Round, SampleRecord, UpkeepState, change_state, read_state

SECONDS_A_KIND: Final = 1.0
"""Of entries, packs and versions each: with them a sampled check takes some three seconds."""

_DAY_MS: Final = 86_400_000


class SampleJob:
    """Checks a slice of each kind, a kind a step."""

    name = "sampling"
    status = "checking a sample of the stored data"
    failure = "sample not checked"
    essential = False

    def __init__(self, memory: Memory, settings: CheckSettings, clock: Clock, news: UpkeepNews) -> None:
        self._memory = memory
        self._days = settings.sample_days
        self._clock = clock
        self._news = news
        self._left: list[str] = []
        self._record = SampleRecord(time_ms=0)
        self._problems: list[IntegrityProblem] = []

    def due(self) -> bool:
        """Whether the last sampled or full check, or the first entry, is so many days old."""
        if not self._days or self._memory.read_only:
            return False
        return bool(self._left) or self._is_time(read_state(self._memory.workspace))

    def _is_time(self, state: UpkeepState) -> bool:
        last = max(state.sample.time_ms if state.sample else 0, state.checked_ms)
        if not last:
            made = self._memory.conversations.first_made()
            last = to_ms(made) if made else 0
        return bool(last) and to_ms(self._clock.now()) - last >= self._days * _DAY_MS

    def step(self, should_stop: ShouldStop) -> StepResult:
        from memory.upkeep.sample import KINDS, check_slice

        state = read_state(self._memory.workspace)
        if not self._left:
            if not self._is_time(state):  # another process has done it since `due`
                return StepResult()
            self._left, self._problems = list(KINDS), []
            self._record = SampleRecord(time_ms=to_ms(self._clock.now()))
        kind, began = self._left[0], time.monotonic()
        done = check_slice(self._memory, kind, state.rounds.get(kind, Round()), SECONDS_A_KIND, should_stop)
        self._left.pop(0)
        self._problems += done.problems
        self._record = structs.replace(
            self._record,
            bytes=self._record.bytes + done.bytes,
            seconds=round(self._record.seconds + time.monotonic() - began, 2),
            **{kind: done.count},
        )
        change_state(
            self._memory.workspace,
            lambda state: structs.replace(state, rounds={**state.rounds, kind: done.round}),
        )
        if not self._left:
            self._finish()
        return StepResult(more=bool(self._left))

    def _finish(self) -> None:
        record, faults = self._record, tuple(map(fault_words, self._problems))

        def change(state: UpkeepState) -> UpkeepState:
            known = tuple(dict.fromkeys((*state.faults, *faults)))
            return structs.replace(state, sample=record, faults=known[:MOST_FAULTS])

        new = set(faults) - set(read_state(self._memory.workspace).faults)
        change_state(self._memory.workspace, change)
        if new:
            self._news.put(f"{faults_sentence(faults)} {REPAIR}")
