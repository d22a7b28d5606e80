"""The background jobs of a session: answers that had no room, readable mirrors, observations, repacking, re-analysis,
vectors, sync."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from agent.background.answer_job import AnswerJob
from agent.background.daily_notes import DailyNotes
from agent.background.disk_job import DiskJob
from agent.background.forgotten_locations_job import ForgottenLocationsJob
from agent.background.model_maker import ModelMaker
from agent.background.model_observation_job import ModelObservationJob
from agent.background.observation_job import ObservationJob
from agent.background.retention_job import RetentionJob
from agent.background.sample_job import SampleJob
from agent.background.scheduler import BackgroundJob, Scheduler, ShouldStop, StepResult
from agent.background.shrink_job import ShrinkJob
from agent.background.sync_job import SyncJob
from agent.background.upkeep_news import UpkeepNews
from agent.background.version_job import VersionJob
from agent.spending.budget import OFFLINE, SpendingBudget
from foundation.clock import Clock
from foundation.errors import PalimpsestError
from memory.errors import NotFound
from memory.memory import Memory
from memory.observations.original import ObservationMaker
from memory.observations.store import RULES_CURSOR
from memory.records import Conversation, Entry
from memory.search.reindex import ReindexResult
from memory.settings import (
    CheckSettings,
    DiskSettings,
    ObserveSettings,
    RetentionSettings,
    SyncSettings,
    VersionSettings,
)
from models.chat.open import open_model
from models.chat.spec import parse_spec
from models.embed.settings import EmbedSettings
from models.settings import ModelSettings

REPACK_S = 10.0
"""A frame of 64 pages takes some five seconds; what is left is packed after the next turn."""
REINDEX_S = 5.0
"""Some ten thousand turns of conversation; what is left is analysed after the next turn."""
VECTORS_S = 2.0
"""After each such slice the status bar shows how many vectors there are."""


class MirrorJob:
    """Updates the readable mirrors of conversations that a turn added to."""

    name = "mirror"
    status = "writing the mirror"
    failure = "mirror not written"
    essential = True

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._changed: list[int] = []

    def add(self, conversation: int) -> None:
        """Notes that the conversation of this seq has changed."""
        if conversation not in self._changed:
            self._changed.append(conversation)

    def due(self) -> bool:
        return bool(self._changed)

    def step(self, should_stop: ShouldStop) -> StepResult:
        conversation = self._changed.pop(0)
        try:
            self._memory.mirrors.update(conversation)
        except NotFound:
            pass  # deleted meanwhile, with its mirror
        except (PalimpsestError, OSError):
            self._changed.append(conversation)  # for the next run, behind those that may succeed
            raise
        return StepResult(more=bool(self._changed))


class _Interrupted(Exception):
    """A step has to end; raised out of a callback, caught by the step."""


class RepackJob:
    """Packs pages at rest more tightly. A frame that is interrupted is packed from its beginning the next time."""

    name = "repacking"
    status = "compressing pages"
    failure = "pages not packed"
    essential = False

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def due(self) -> bool:
        """Whether there are enough pages at rest to fill a frame."""
        return not self._memory.read_only and self._memory.vault.fills_a_frame()

    def step(self, should_stop: ShouldStop) -> StepResult:
        def check(_: int) -> None:
            if should_stop():
                raise _Interrupted

        try:
            self._memory.vault.repacking.run(seconds=REPACK_S, on_page=check)
        except _Interrupted:
            return StepResult(more=True)
        return StepResult()


class ReindexJob:
    """Analyses entries again whose terms were found by an older analyser."""

    name = "reindexing"
    status = "re-indexing older entries"
    failure = "older entries not re-indexed"
    essential = False

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._is_done = False

    def due(self) -> bool:
        """Whether there are such entries. Those whose text could not be read are tried again at the next start."""
        if self._is_done or self._memory.read_only:
            return False
        self._is_done = self._memory.renewing.left() == 0
        return not self._is_done

    def step(self, should_stop: ShouldStop) -> StepResult:
        def go_on(_: ReindexResult) -> bool:
            return not should_stop()

        renewed = self._memory.renewing.run(seconds=REINDEX_S, on_batch=go_on)
        self._is_done = renewed.left <= renewed.unread
        self._memory.search.update()
        return StepResult()


class VectorJob:
    """Embeds entries that have no vector yet."""

    name = "embedding"
    failure = "vectors not made"
    essential = False

    def __init__(self, memory: Memory, embedder: str, slice_s: float | None = None) -> None:
        self._memory = memory
        self._is_wanted = embedder not in {"", "none"} and not memory.read_only
        self._slice_s = VECTORS_S if slice_s is None else slice_s
        self._progress: tuple[int, int] | None = None

    @property
    def status(self) -> str:
        """How many vectors there are; "" while none had to be made."""
        return f"making vectors: {self._progress[0]:,} of {self._progress[1]:,}" if self._progress else ""

    def due(self) -> bool:
        """Whether an embedder is set. Whether a vector is missing is found out by the first step."""
        return self._is_wanted

    def step(self, should_stop: ShouldStop) -> StepResult:
        filled = self._memory.search.vectors.fill(self._report, should_stop, self._slice_s)
        if filled.done or filled.trouble:
            self._progress = None
        return StepResult(not (filled.done or filled.trouble), filled.trouble)

    def _report(self, done: int, total: int) -> None:
        self._progress = done, total


def _rules() -> ObservationMaker:
    from memory.observations.rules import RulesMaker  # many patterns, which the first frame does not wait for

    return RulesMaker()


class JobSettings(Protocol):
    """The settings of the jobs, and the process's environment (agent.config.config)."""

    @property
    def embed(self) -> EmbedSettings: ...

    @property
    def observe(self) -> ObserveSettings: ...

    @property
    def versions(self) -> VersionSettings: ...

    @property
    def sync(self) -> SyncSettings: ...

    @property
    def retention(self) -> RetentionSettings: ...

    @property
    def check(self) -> CheckSettings: ...

    @property
    def disk(self) -> DiskSettings: ...

    @property
    def models(self) -> ModelSettings: ...

    @property
    def environment(self) -> Mapping[str, str]: ...


class LeavingPort(Protocol):
    """What is called before entries leave a request (context.state)."""

    flush: Callable[[], None]
    on_leaving: Callable[[Conversation, Sequence[Entry]], None]


class SessionJobs:
    """The jobs of one session, in the order in which they run."""

    def __init__(
        self, memory: Memory, settings: JobSettings, budget: SpendingBudget, clock: Clock, context: LeavingPort
    ) -> None:
        """Has the rules observe, and the notes keep, what is about to leave a request of the context.

        Raises Misuse for an invalid `observe.model`.
        """
        embed, observe = settings.embed, settings.observe
        self._said: tuple[str, ...] = ()
        self.mirror = MirrorJob(memory)
        self.answers = AnswerJob(lambda entry: self.mirror.add(entry.conversation_seq))
        self.vectors = VectorJob(memory, embed.embedder if embed.background else "")
        self.observing = ObservationJob(memory, _rules, RULES_CURSOR, enabled=observe.rules)
        self.notes = DailyNotes(memory, clock, enabled=observe.daily_notes)
        self.model_observing = ModelObservationJob(memory, _model_maker(memory, settings, budget, clock), clock)
        context.flush, context.on_leaving = self.observing.flush, self.notes.keep
        self.news = news = UpkeepNews(memory.workspace)
        self.sync = SyncJob(memory, settings.sync, settings.environment, clock, news)
        self.leaving = ForgottenLocationsJob(memory, settings.sync, settings.environment, clock, news)
        upkeep: tuple[BackgroundJob, ...] = (
            DiskJob(memory, settings.disk, clock, news),
            SampleJob(memory, settings.check, clock, news),
            RetentionJob(memory, settings.retention, clock, news),
            ShrinkJob(memory, clock, news),
        )
        own = (self.observing, self.vectors, self.model_observing)
        self.at_start: tuple[BackgroundJob, ...] = (*own, self.leaving, self.sync, *upkeep)
        self.all: tuple[BackgroundJob, ...] = (
            self.answers,
            self.mirror,
            self.observing,
            RepackJob(memory),
            ReindexJob(memory),
            self.vectors,
            self.model_observing,
            VersionJob(memory, settings.versions),
            self.leaving,
            self.sync,
            *upkeep,
        )

    def take_warnings(self) -> tuple[str, ...]:
        """What the person should know of the jobs, each sentence once."""
        said, self._said = self._said, ()
        return said + self.model_observing.take_warnings() + self.notes.take_warnings()

    def warn(self, sentence: str) -> None:
        """Has the person know of something that a job of an earlier process came to."""
        self._said += (sentence,)

    async def close(self, scheduler: Scheduler) -> None:
        """Ends the running step, completes the essential jobs, and closes the model that observes."""
        self.model_observing.close()
        await scheduler.close()
        await asyncio.to_thread(self.model_observing.release)


def _model_maker(
    memory: Memory, settings: JobSettings, budget: SpendingBudget, clock: Clock
) -> Callable[[], ModelMaker] | None:
    """Opens the maker with `observe.model`; None where none is set."""
    spec = settings.observe.model
    if spec in {"", OFFLINE}:
        return None
    parse_spec(spec)

    def opened() -> ModelMaker:
        model = open_model(spec, settings=settings.models, env=settings.environment)
        return ModelMaker(model, memory.model_requests, budget, clock, settings.observe.tokens_a_day)

    return opened
