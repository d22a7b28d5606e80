"""What is in view once older turns have left: their summary, and the pages that stand for what is old."""

from collections.abc import Sequence

from msgspec import Struct

from context.assembly.budget import Budget
from context.assembly.request import HistoryZones
from context.assembly.tokens import MessageCounter
from context.assembly.view import BranchView
from context.compaction.plan import CompactionPlan
from context.pages.in_view import TO_COME, PageRequest, page_room
from context.pages.recipe import ChapterStart
from context.state import ContextState
from memory.records import Entry
from models.chat.port import Profile
from models.fence import SAMPLE_NONCE


class PendingCompaction(Struct, frozen=True, kw_only=True):
    """A compaction about to be made. `text` is its summary's; `beside` are the tokens that stand beside zone B then."""

    leaf: int | None
    view: BranchView
    plan: CompactionPlan
    text: str
    profile: Profile
    budget: Budget
    beside: int
    nominal: int  # what pages may take of a request
    begin: ChapterStart | None = None  # where the pages of the epoch before begin


def past_after(
    bench: ContextState, leaving: PendingCompaction, entries: Sequence[Entry], counting: MessageCounter, *, asks: bool
) -> HistoryZones:
    """Zones B and C as they will be, with these entries in zone C."""
    reader, view, plan = bench.past, leaving.view, leaving.plan
    said = {} if plan.joins else {entry.seq: reader.text_of(entry) for entry in view.summaries}
    said[TO_COME] = leaving.text
    summaries = sum(map(counting.text, said.values()))
    standing = bench.pages.chosen(
        PageRequest(
            leaf=leaving.leaf,
            in_view=view.seqs,
            summaries=tuple(said),
            leaving=plan.leaving,
            profile=leaving.profile,
            begin=leaving.begin,
            counting=counting,
            nominal=leaving.nominal,
            room=page_room(leaving.nominal, leaving.budget, leaving.beside + summaries),
        )
    )
    pages = tuple(zip(standing.pages, bench.pages.drawn(standing.pages), strict=True))
    texts = [text for seq, text in said.items() if seq not in standing.hidden]
    return reader.past_of(texts, entries, counting, asks=asks, pages=pages, nonce=SAMPLE_NONCE)


def expected(room: int, past: HistoryZones) -> int:
    """About what pages will take once older turns have left: never more than half of what they stand for."""
    turns = sum(tokens for _, tokens in past.turns)
    return min(room, past.page_tokens + turns // 2)
