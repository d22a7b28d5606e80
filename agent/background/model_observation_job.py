"""Has a model make observations of what the rules have looked at, several originals a request, while nobody waits.

The rules' observations are there first: a model's takes the place of the rules' of the same original, and where it
makes none, or cannot be used, they stay. Requests are sent one at a time, and not before there is enough for one.
"""

import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from agent.background.model_maker import OFF, MakerStopped, MakerUnavailable, ModelMaker
from agent.background.scheduler import ShouldStop, StepResult
from foundation.clock import Clock
from foundation.log import logger
from memory.memory import Memory
from memory.observations.model_notes import UselessAnswer, is_worth_a_request, joined
from memory.observations.observation import Observation
from memory.observations.store import MODEL_CURSOR, Batch

QUIET_S = 2.0
"""How long nobody waits for the program before a request is sent: a session about to close sends none."""
ENOUGH: Final = 6  # entries that a request is worth
OLDEST: Final = timedelta(minutes=10)  # how long fewer wait
MOST_ENTRIES: Final = 24  # of a batch
MOST_WAITING: Final = 200  # entries; older ones are left to the rules
RETRY_S: Final = 300.0  # after a model that does not answer, or a cap that is reached

_log = logger("observe")


class ObserverTrouble(Struct, frozen=True):
    """A model that makes no observations now: since when, why, and what the person can do about it."""

    since: datetime
    reason: str
    hint: str


class ModelObservationJob:
    """Observes entries with a model, a request a step, from when it is switched on. `open_maker`: None for no model."""

    name = "observing-model"
    failure = "observations by the model not made"
    essential = False

    def __init__(self, memory: Memory, open_maker: Callable[[], ModelMaker] | None, clock: Clock) -> None:
        self._memory = memory
        self._open_maker = None if memory.read_only else open_maker
        self._maker: ModelMaker | None = None
        self._clock = clock
        self._since: datetime | None = clock.now()  # None once the cursor is set
        self._retry_at = 0.0
        self._warning = ""
        self._warned = set[str]()
        self._closing = False
        self.trouble: ObserverTrouble | None = None

    @property
    def status(self) -> str:
        """For the status bar."""
        return f"observing with {self._maker.name}" if self._maker else ""

    def take_warnings(self) -> tuple[str, ...]:
        """Why the rules alone make observations; the same once a day."""
        warning, self._warning = self._warning, ""
        return (warning,) if warning else ()

    def today(self) -> tuple[str, int, int] | None:
        """The model's spec, its tokens today, and how many of its observations were thrown away; None for no model."""
        if self._open_maker is None:
            return None
        maker = self._opened()
        return maker.name, maker.used_today, maker.thrown_away

    def due(self) -> bool:
        if self._open_maker is None or self._clock.monotonic() < self._retry_at:
            return False
        observations = self._memory.observations
        if self._since is not None:
            observations.begin(MODEL_CURSOR, self._since)
            self._since = None
        count, oldest = observations.waiting(MODEL_CURSOR, ENOUGH)
        return count >= ENOUGH or (oldest is not None and self._clock.now() - oldest >= OLDEST)

    def step(self, should_stop: ShouldStop) -> StepResult:
        maker, observations = self._opened(), self._memory.observations
        maker.should_stop = lambda: self._closing or (should_stop() and not maker.is_remote)
        quiet_until = time.monotonic() + QUIET_S
        while time.monotonic() < quiet_until:
            if should_stop():
                return StepResult(more=True)
            time.sleep(0.02)
        observations.skip(MODEL_CURSOR, MOST_WAITING)
        batch = observations.batch(MODEL_CURSOR, MOST_ENTRIES)
        if batch is None:
            return StepResult()
        part, made = _first_request(batch, maker), dict[int, Observation]()
        try:
            if part.originals:
                made = self._with_rules(maker.make(part.originals, part.known))
                self.trouble = None
        except MakerStopped:
            return StepResult(more=True)
        except MakerUnavailable as unavailable:
            _log.warning("no model observes %d entries", len(part.originals))
            self._retry_at = self._clock.monotonic() + RETRY_S
            self._warn(f"{unavailable.title}: {unavailable.message}")
            self._set_trouble(unavailable.reason, unavailable.hint)
            return StepResult()
        except UselessAnswer as useless:
            _log.warning("a model's answer about %d entries is not used", len(part.originals))
            self._warn(f"Only the rules observe some entries: {maker.name}: {useless}.")
            self._set_trouble(f"its last answer was useless: {useless}", f"Try another model ({OFF}).")
        observations.store(part, made, maker.name, MODEL_CURSOR)
        return StepResult(more=self.due())

    def close(self) -> None:
        """Ends the request in flight; `release` then closes the model."""
        self._closing = True

    def release(self) -> None:
        """Closes the model. No step may run any more."""
        if self._maker is not None:
            self._maker.close()

    def _opened(self) -> ModelMaker:
        assert self._open_maker is not None
        self._maker = self._maker or self._open_maker()
        return self._maker

    def _with_rules(self, made: Mapping[int, Observation]) -> dict[int, Observation]:
        earlier = self._memory.observations.of(made)
        return {
            seq: joined(observation, earlier[seq].observation if seq in earlier else None)
            for seq, observation in made.items()
        }

    def _set_trouble(self, reason: str, hint: str) -> None:
        since = self.trouble.since if self.trouble else self._clock.now()
        self.trouble = ObserverTrouble(since, reason, hint)

    def _warn(self, sentence: str) -> None:
        key = f"{self._clock.now().astimezone():%Y-%m-%d} {sentence.split(':', 1)[0]}"
        if key not in self._warned:
            self._warned.add(key)
            self._warning = sentence


def _first_request(batch: Batch, maker: ModelMaker) -> Batch:
    """The first originals of a batch that one request holds, of one conversation; those not worth one pass."""
    worth = tuple(filter(is_worth_a_request, batch.originals))
    if not worth:
        return Batch((), {}, batch.start, batch.end)
    fitting = maker.fitting(worth)
    if not fitting:  # the first is too long for the model's window
        return Batch((), {}, batch.start, worth[0].seq)
    end = batch.end if fitting == len(worth) else worth[fitting].seq - 1
    return Batch(worth[:fitting], batch.known, batch.start, end)
