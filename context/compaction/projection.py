"""A planned compaction, and the request's past after it: the summary, and the pages that show the oldest turns.

It is planned once: `Context.assemble` plans the one that a request needs, `Context.plan_compaction` the one that a
person asks for; `Context.compact` carries both out.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from context.assembly.budget import Budget
from context.assembly.history import tokens_by_entry
from context.assembly.request import HistoryZones
from context.assembly.tokens import MessageCounter
from context.assembly.view import BranchView
from context.compaction.plan import CompactionBudget, CompactionPlan, plan_entries
from context.compaction.summary import SummaryEntry, summarise
from context.pages.in_view import TO_COME, PageRequest, page_room
from context.pages.recipe import ChapterStart
from context.settings import ContextSettings
from foundation.privacy import Cleared, TextSource, clear
from memory.records import Conversation, Entry
from models.chat.port import Profile
from models.fence import SAMPLE_NONCE, label, neutralise, reference
from models.messages import Role

if TYPE_CHECKING:  # it imports what a request is made of
    from context.state import ContextState


class CompactionInputs(Struct, frozen=True, kw_only=True):
    """What a compaction is planned for: a branch, what is in view of it, and what else the request holds.

    `fixed` counts the tokens outside the conversation, `tail` those of `message`, the question that is being sent.
    """

    conversation: Conversation | None
    leaf: int | None
    view: BranchView
    past: HistoryZones
    fixed: int
    message: Entry | None = None
    tail: int = 0
    low: int  # tokens that the request should have afterwards
    running: bool
    profile: Profile
    budget: Budget
    page_room: int  # tokens that pages may take of a request
    begin: ChapterStart | None = None  # where the pages of the current epoch begin


class PlannedCompaction(Struct, frozen=True, kw_only=True):
    """What a compaction will do: where, which entries leave, and the figures of the request."""

    occasion: CompactionInputs
    entries: CompactionPlan
    tokens: Mapping[int, int]  # by entry in view, the message among them
    before: int  # tokens of the whole request
    more_pages: int  # tokens that pages in view will take beyond today's

    @property
    def left(self) -> int:
        """Tokens of the entries that leave."""
        return self._of(self.entries.leaving)

    @property
    def beside(self) -> int:
        """Tokens of the request without summaries and pages, once the entries have left."""
        return self.occasion.fixed + self._of(self.entries.kept)

    def _of(self, entries: Sequence[Entry]) -> int:
        return sum(self.tokens.get(entry.seq, 0) for entry in entries)


class ProjectedCompaction(Struct, frozen=True):
    """A plan with its summary's text, and the past as the next request will show it."""

    plan: PlannedCompaction
    text: Cleared
    past: HistoryZones

    @property
    def after(self) -> int:
        """Tokens of the whole request after the compaction."""
        return self.plan.beside + sum(tokens for _, tokens in self.past.summaries)


def plan_compaction(occasion: CompactionInputs, settings: ContextSettings) -> PlannedCompaction | None:
    """The plan; None where nothing can leave."""
    past, view, message = occasion.past, occasion.view, occasion.message
    tokens = dict(tokens_by_entry(past))
    fixed = occasion.fixed
    if message is None:
        fixed += occasion.tail
    else:
        tokens[message.seq] = occasion.tail
        view = BranchView(view.summaries, (*view.entries, message), view.further)
    summaries = sum(count for _, count in past.summaries)
    pages = _expected_pages(occasion.page_room, past)
    figures = CompactionBudget(occasion.budget.total, fixed + pages, summaries - past.page_tokens, occasion.low)
    entries = plan_entries(view, tokens, figures, settings, running=occasion.running)
    if entries is None:
        return None
    return PlannedCompaction(
        occasion=occasion,
        entries=entries,
        tokens=tokens,
        before=occasion.fixed + occasion.tail + past.tokens,
        more_pages=pages - past.page_tokens,
    )


def project(
    bench: "ContextState",
    plan: PlannedCompaction,
    counting: MessageCounter,
    shown: Sequence[Entry] = (),
    *,
    asks: bool = False,
) -> ProjectedCompaction:
    """The plan's summary, and the past with the entries `shown` after it. `asks`: a user's message comes next."""
    reader, occasion, entries = bench.past, plan.occasion, plan.entries
    view = occasion.view
    text = _summary_text(entries, view, reader.text_of, counting)
    said = {} if entries.joins else {entry.seq: reader.text_of(entry) for entry in view.summaries}
    said[TO_COME] = text
    summaries = sum(map(counting.text, said.values()))
    standing = bench.pages.chosen(
        PageRequest(
            leaf=occasion.leaf,
            in_view=view.seqs,
            summaries=tuple(said),
            leaving=entries.leaving,
            profile=occasion.profile,
            begin=occasion.begin,
            counting=counting,
            nominal=occasion.page_room,
            room=page_room(occasion.page_room, occasion.budget, plan.beside + summaries),
        )
    )
    pages = tuple(zip(standing.pages, bench.pages.drawn(standing.pages), strict=True))
    texts = [text for seq, text in said.items() if seq not in standing.hidden]
    past = reader.past_of(texts, shown, counting, asks=asks, pages=pages, nonce=SAMPLE_NONCE)
    return ProjectedCompaction(plan, text, past)


def _summary_text(
    plan: CompactionPlan, view: BranchView, text_of: Callable[[Entry], str], counting: MessageCounter
) -> Cleared:
    said = [
        SummaryEntry(
            reference(entry.id), label(entry.speaker or entry.role.value), entry.role is Role.USER, entry.time, text
        )
        for entry in plan.leaving
        if (text := neutralise(clear(text_of(entry), TextSource.OTHER)))
    ]
    before = [text_of(entry) for entry in view.summaries] if plan.joins else []
    text = summarise(said, plan.summary_limit, counting.text, before=before)
    if view.further:
        text += "\nEntries before these are found by search."
    return clear(text, TextSource.OTHER)


def _expected_pages(room: int, past: HistoryZones) -> int:
    """Tokens that pages will roughly take once older turns have left: at most half of what they show."""
    turns = sum(tokens for _, tokens in past.turns)
    return min(room, past.page_tokens + turns // 2)
