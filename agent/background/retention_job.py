"""Once a day: archives by rules where that is switched on, and proposes what a person may want to do."""

from __future__ import annotations

from typing import Final

from msgspec import structs

from agent.background.scheduler import ShouldStop, StepResult
from agent.background.upkeep_news import UpkeepNews
from foundation.clock import Clock, from_ms, to_ms
from foundation.program import own_command
from memory.memory import Memory
from memory.settings import RetentionSettings
from memory.upkeep.clock_doubt import is_plausible, last_stored_earlier
from memory.upkeep.rules import least_days
from memory.upkeep.state import UpkeepState, change_state, read_state

_DAY_MS: Final = 86_400_000
_PROPOSE_EACH: Final = 7 * _DAY_MS  # the most often that something is proposed


class _Interrupted(Exception):
    """A step has to end; raised out of a callback, caught by the step."""


class RetentionJob:
    """Keeps to `retention.*`. It deletes nothing."""

    name = "retention"
    failure = "retention rules not applied"
    essential = False

    def __init__(self, memory: Memory, settings: RetentionSettings, clock: Clock, news: UpkeepNews) -> None:
        self._memory = memory
        self._settings = settings
        self._clock = clock
        self._news = news

    @property
    def status(self) -> str:
        return "archiving by your rules" if self._settings.background else ""

    def due(self) -> bool:
        """Whether memory is old enough for a rule or a proposal, and a day has passed since the last look."""
        days = [days for days in (self._settings.propose_days, least_days(self._settings)) if days]
        if not days or self._memory.read_only or not self._is_time(read_state(self._memory.workspace)):
            return False
        began = self._memory.conversations.first_made()
        return began is not None and self._now_ms() - to_ms(began) >= min(days) * _DAY_MS

    def _is_time(self, state: UpkeepState) -> bool:
        """A day after the last look; at once where that was later than now, by a clock that has been set back."""
        return not 0 <= self._now_ms() - state.ruled_ms < _DAY_MS

    def _is_sure(self, state: UpkeepState) -> bool:
        """Whether the clock is not far ahead of the last look, or before the first of what was stored earlier than
        today: else the rules wait a day, for a wrong one is set."""
        now = self._clock.now()
        return is_plausible(from_ms(state.ruled_ms) if state.ruled_ms else last_stored_earlier(self._memory, now), now)

    def _now_ms(self) -> int:
        return to_ms(self._clock.now())

    def step(self, should_stop: ShouldStop) -> StepResult:
        workspace = self._memory.workspace
        if not self._is_time(read_state(workspace)):  # another process has done it since `due`
            return StepResult()
        if not self._is_sure(read_state(workspace)):
            change_state(workspace, lambda state: structs.replace(state, ruled_ms=self._now_ms()))
            return StepResult()
        if self._settings.background and not self._archive(should_stop):
            return StepResult(more=True)
        change_state(workspace, lambda state: structs.replace(state, ruled_ms=self._now_ms()))
        self._propose()
        return StepResult()

    def _archive(self, should_stop: ShouldStop) -> bool:
        """Archives by the rules, and says so; False where it was interrupted."""
        from memory.upkeep.retention import BY_RULE, archive_conversations, plan, receipt

        def check() -> None:
            if should_stop():
                raise _Interrupted

        workspace = self._memory.workspace
        planned = plan(self._memory, self._settings, self._clock.now())
        before = {run.id for run in read_state(workspace).runs}
        try:
            archive_conversations(self._memory, planned.doing("archive"), planned.time, BY_RULE, check)
        except _Interrupted:
            return False
        finally:
            self._news.put(*(receipt(run) for run in read_state(workspace).runs if run.id not in before))
        return True

    def _propose(self) -> None:
        """Says what the rules would delete, or what could be archived: not more than once a week, nor while a person
        said "not now"."""
        from memory.upkeep.proposal import LEAST, is_later, proposal, proposal_sentence
        from memory.upkeep.retention import due_sentence, plan

        now, state = self._clock.now(), read_state(self._memory.workspace)
        since_proposed = self._now_ms() - state.proposed_ms
        if is_later(state, now) or 0 <= since_proposed < _PROPOSE_EACH:
            return
        command = f"`{own_command('retention')}` does"
        sentences = [due_sentence(plan(self._memory, self._settings, now), command)]
        if self._settings.propose_days:
            proposed = proposal(self._memory, self._settings, now)
            sentences.append(proposal_sentence(proposed) if proposed.bytes >= LEAST else "")
        if any(sentences):
            self._news.put(*sentences)
            change_state(self._memory.workspace, lambda state: structs.replace(state, proposed_ms=self._now_ms()))
