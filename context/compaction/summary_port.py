"""Port of what writes the summary of a compaction: the extractive summariser, or a model."""

from typing import Protocol

from msgspec import Struct

from context.compaction.summary import CountTokens, SummaryEntry, summarise
from models.messages import Usage
from models.prices import Cost


class SummaryTask(Struct, frozen=True, kw_only=True):
    """What is to be summarised, in at most `limit` tokens. `before`: earlier summaries that this one replaces.
    `focus`: words of what the person wants kept first."""

    entries: tuple[SummaryEntry, ...]
    before: tuple[str, ...] = ()
    limit: int
    count: CountTokens
    focus: str = ""

    def extract(self) -> str:
        """The extractive summary."""
        return summarise(self.entries, self.limit, self.count, before=self.before, focus=self.focus)


class WrittenSummary(Struct, frozen=True, kw_only=True):
    """A summary and what it cost. `model` wrote it (its spec), or was asked in vain: `warning` then says why."""

    text: str
    model: str = ""
    name: str = ""  # of the model, as in the statistics
    usage: Usage | None = None
    ms: int = 0
    price: Cost | None = None  # None where it is unknown
    warning: str = ""

    @property
    def cost(self) -> str:
        """`1,204 + 180 tokens`: prompt and answer, as the server counts them or estimated."""
        if self.usage is None:
            return ""
        about = "about " if self.usage.estimated else ""
        money = f", {self.price}" if self.price and not self.price.local else ""
        return f"{about}{self.usage.prompt_tokens:,} + {self.usage.completion_tokens:,} tokens{money}"


class SummaryPort(Protocol):
    """Writes summaries. Cancelling the task that awaits one stops the work."""

    async def write(self, task: SummaryTask) -> WrittenSummary:
        """The summary of the task, in at most its limit. Raises nothing."""
        ...
