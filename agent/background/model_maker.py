"""The maker of observations that asks a model: within the caps of a day, with what it cost in the ledger."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from agent.spending.budget import SpendingBudget
from foundation.clock import Clock
from foundation.errors import PalimpsestError
from foundation.log import logger
from foundation.privacy import clear
from memory.model_requests import OBSERVE, ModelRequests, TokenReserve
from memory.observations.model_notes import ModelNotes, UselessAnswer, notes_request, read_notes
from memory.observations.observation import Observation
from memory.observations.original import Known, Original
from models.chat.port import ChatModel
from models.chat.read_answer import ReadAnswer
from models.messages import Request, Usage
from models.tokens import request_tokens

LEAST_REPORTED: Final = 0.5  # of the estimate: what a server reports below it would pass the cap
OFF: Final = '`palimpsest config set observe.model SPEC`, or `""` for none'
POLL_S: Final = 0.1  # between looks at whether the answer is to be stopped

_log = logger("observe")


class MakerStopped(Exception):
    """The request was given up for a turn, or because the session closes."""


class MakerUnavailable(PalimpsestError):
    """No model makes observations now: a cap is reached, or the model does not answer."""

    code = "observe_model"

    def __init__(self, title: str, model: str, reason: str, hint: str) -> None:
        super().__init__(title, f"{model}: {reason}", hint)
        self.reason = reason


class ModelMaker:
    """Makes observations with one model, for one worker thread at a time. `should_stop` ends a request early."""

    def __init__(
        self, model: ChatModel, requests: ModelRequests, budget: SpendingBudget, clock: Clock, most: int
    ) -> None:
        """`most` tokens a day, from midnight by the machine's clock."""
        self.should_stop: Callable[[], bool] = lambda: False
        self.thrown_away = 0
        self._model = model
        self._requests = requests
        self._budget = budget
        self._clock = clock
        self._most = most
        self._runner: asyncio.Runner | None = None
        self._prepared = False

    @property
    def name(self) -> str:
        """The model's spec."""
        return self._model.profile.spec

    @property
    def is_remote(self) -> bool:
        return self._model.profile.remote

    @property
    def used_today(self) -> int:
        """Tokens since midnight, over all programs of the workspace. Reads the store."""
        return self._requests.tokens(OBSERVE, self._midnight())

    def fitting(self, originals: Sequence[Original]) -> int:
        """How many of the first originals one request holds."""
        self._prepare()
        planned = notes_request(originals, self._model)
        return planned[1] if planned else 0

    def make(self, originals: Sequence[Original], known: Mapping[int, Known]) -> Mapping[int, Observation]:
        """Observations by one request for those originals that fit (see `fitting`).

        Raises MakerUnavailable where a cap is reached or the model fails, MakerStopped, and UselessAnswer.
        """
        self._prepare()
        planned = notes_request(originals, self._model)
        if planned is None:
            return {}
        request, held = planned
        if refusal := self._budget.background_refusal():
            raise self._capped(refusal)
        prompt = request_tokens(request, self._model.counter)
        reserve = self._requests.reserve(
            TokenReserve(
                purpose=OBSERVE,
                model=clear(self._model.profile.name),
                conversation=originals[0].conversation,
                prompt_tokens=prompt,
                answer_tokens=request.max_tokens,
            ),
            self._midnight(),
            self._most,
        )
        if not reserve:
            used = f"{self.used_today:,} of {self._most:,} tokens used today (observe.tokens_a_day)"
            raise self._capped(f"{used}; the next request would exceed the limit.")
        notes = self._ask(request, originals[:held], reserve, prompt)
        _log.info("a model made %d observations of %d entries", len(notes.made), held)
        self.thrown_away += sum(notes.refused.values())
        for reason, count in notes.refused.items():
            _log.warning("%d of a model's observations thrown away: %s", count, reason)
        return notes.made

    def close(self) -> None:
        """Ends the model's connections."""
        if self._runner is not None:
            self._runner.run(self._model.close())
            self._runner.close()
            self._runner = None

    def _ask(self, request: Request, originals: Sequence[Original], reserve: int, prompt: int) -> ModelNotes:
        answer = ReadAnswer()
        start = time.monotonic()
        try:
            trouble = self._run(answer, request)
        finally:
            self._settle(reserve, answer, prompt, start)
        if trouble and answer.cost_nothing:
            hint = f"Next attempt in five minutes. Start its server, or use another model ({OFF})."
            raise MakerUnavailable("Only the rules make observations", self.name, f"{trouble.rstrip('.')}.", hint)
        if trouble:
            raise UselessAnswer(trouble)  # it was paid for, and is not asked for again
        return read_notes(answer.text, originals)

    def _run(self, answer: ReadAnswer, request: Request) -> str:
        async def read() -> str:
            reading = asyncio.create_task(answer.read(self._model, request))
            while not (await asyncio.wait([reading], timeout=POLL_S))[0]:
                if self.should_stop():
                    reading.cancel()
                    with suppress(asyncio.CancelledError):
                        await reading
                    raise MakerStopped
            return reading.result()

        return self._loop().run(read())

    def _settle(self, reserve: int, answer: ReadAnswer, prompt: int, start: float) -> None:
        """Counts what the request took: by the server, else an estimate; nothing where it read nothing."""
        if answer.cost_nothing:
            self._requests.release(reserve)
            return
        profile = self._model.profile
        completion = self._model.counter.count(answer.reasoning + answer.text)
        usage = answer.usage or Usage()
        if usage.prompt_tokens + usage.completion_tokens < (prompt + completion) * LEAST_REPORTED:
            usage = Usage(prompt_tokens=prompt, completion_tokens=completion, estimated=True)
        cost = self._budget.cost(profile, usage)
        self._budget.take(profile, usage)
        self._requests.settle(reserve, usage, round((time.monotonic() - start) * 1000), cost.fields if cost else None)

    def _prepare(self) -> None:
        if not self._prepared:
            self._loop().run(self._model.prepare())
            self._prepared = True

    def _loop(self) -> asyncio.Runner:
        self._runner = self._runner or asyncio.Runner()
        return self._runner

    def _capped(self, sentence: str) -> MakerUnavailable:
        title = "Only the rules make observations until midnight"
        return MakerUnavailable(title, self.name, sentence, "It continues at midnight, or with a higher limit.")

    def _midnight(self) -> datetime:
        return self._clock.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
