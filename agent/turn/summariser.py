"""Has a model write the summary of a compaction; its extract stands in where the model fails."""

import asyncio
import time
from collections.abc import Mapping

from agent.spending.budget import SpendingBudget
from context import Context
from context.compaction.projection import PlannedCompaction, ProjectedCompaction
from context.compaction.summary_port import SummaryPort, SummaryTask, WrittenSummary
from context.settings import ContextSettings
from models.chat.open import open_model
from models.chat.port import ChatModel, TokenCounter
from models.chat.read_answer import ReadAnswer
from models.messages import Request, Usage
from models.prices import Cost
from models.settings import ModelSettings
from models.tokens import request_tokens

OFFLINE = "offline"  # answers with quotes: the extract is better


class ExtractiveSummariser:
    """Sentences of the turns. No model is called."""

    async def write(self, task: SummaryTask) -> WrittenSummary:
        return WrittenSummary(text=await asyncio.to_thread(task.extract))


class ModelSummariser:
    """A model's summary, audited; the extract where it fails, is empty, too long, or says what the turns do not.

    `most`: the tokens that one summary may cost. The time limits are those of every answer (models.*_timeout).
    """

    def __init__(self, model: ChatModel, most: int) -> None:
        self._model = model
        self._most = most
        self._prepared = False
        self.budget: SpendingBudget | None = None  # of the session

    async def write(self, task: SummaryTask) -> WrittenSummary:
        if self.budget and (refusal := await asyncio.to_thread(self.budget.background_refusal)):
            return await self._extract(task, refusal)
        from context.compaction.written_summary import UnusableAnswer, audited, summary_request  # loads NumPy

        if not self._prepared:
            await self._model.prepare()
            self._prepared = True
        profile = self._model.profile
        request = await asyncio.to_thread(summary_request, task, self._model, self._most)
        if request is None:
            return await self._extract(task, "the messages do not fit context.summary_cost or its window")
        answer = ReadAnswer()
        start = time.monotonic()
        trouble = await answer.read(self._model, request)
        ms = round((time.monotonic() - start) * 1000)
        usage = answer.usage or self._estimated(request, answer.text)
        if self.budget and (answer.text or answer.usage):
            self.budget.take(profile, usage)
        if not trouble:
            try:
                text = await asyncio.to_thread(audited, answer.text, task)
            except UnusableAnswer as unusable:
                trouble = str(unusable)
            else:
                money = self._cost(usage)
                return WrittenSummary(text=text, model=profile.spec, name=profile.name, usage=usage, ms=ms, price=money)
        asked = answer.text or answer.usage  # else nothing was read: there is nothing to count
        return await self._extract(task, trouble, usage if asked else None, ms)

    async def _extract(
        self, task: SummaryTask, trouble: str, usage: Usage | None = None, ms: int = 0
    ) -> WrittenSummary:
        profile = self._model.profile
        written = WrittenSummary(text="", model=profile.spec, name=profile.name, usage=usage, ms=ms)
        warning = (
            f"The summary consists of extracted sentences, not written by {profile.spec}: {trouble.rstrip('.')}"
            f"{f' ({written.cost})' if written.cost else ''}."
        )
        text = await asyncio.to_thread(task.extract)
        return WrittenSummary(
            text=text,
            model=profile.spec,
            name=profile.name,
            usage=usage,
            ms=ms,
            price=self._cost(usage) if usage else None,
            warning=warning,
        )

    def _cost(self, usage: Usage) -> Cost | None:
        return self.budget.cost(self._model.profile, usage) if self.budget else None

    def _estimated(self, request: Request, answer: str) -> Usage:
        counter = self._model.counter
        prompt = request_tokens(request, counter)
        return Usage(prompt_tokens=prompt, completion_tokens=counter.count(answer), estimated=True)

    async def close(self) -> None:
        await self._model.close()


def open_summariser(
    context: ContextSettings, models: ModelSettings, environment: Mapping[str, str]
) -> ModelSummariser | None:
    """The model of `context.summary_model`; None where none is set. Raises Misuse for an invalid spec."""
    if context.summary_model in {"", OFFLINE}:
        return None
    return ModelSummariser(open_model(context.summary_model, settings=models, env=environment), context.summary_cost)


class CompactionSummaries:
    """Has the summaries of compactions written, one at a time."""

    def __init__(self, context: Context, summariser: SummaryPort) -> None:
        self._context = context
        self._summariser = summariser
        self._task: asyncio.Task[ProjectedCompaction] | None = None

    async def write(
        self, compaction: PlannedCompaction | ProjectedCompaction, counter: TokenCounter
    ) -> ProjectedCompaction | None:
        """The compaction with its summary; None where it was stopped meanwhile. Stores nothing."""
        plan = compaction.plan if isinstance(compaction, ProjectedCompaction) else compaction
        self._task = writing = asyncio.create_task(self._written(plan, counter))
        try:
            await asyncio.wait([writing])
        finally:
            self._task = None
            writing.cancel()
        return None if writing.cancelled() else writing.result()

    async def _written(self, plan: PlannedCompaction, counter: TokenCounter) -> ProjectedCompaction:
        task = await asyncio.to_thread(self._context.summary_task, plan, counter)
        written = await self._summariser.write(task)
        return await asyncio.to_thread(self._context.with_summary, plan, written, counter)

    def stop(self) -> None:
        """Stops the model that writes. Does nothing where none does."""
        if self._task is not None:
            self._task.cancel()
