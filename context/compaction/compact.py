"""Compaction: older turns leave for the archive, and a summary of them stands in their place.

Pages, spans, the letting go of text and the summary are one transaction: killed anywhere, the turns are in view or the
summary is, never neither.

What a compaction did, in figures.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import apsw
from msgspec import Struct

from context.assembly.tokens import MessageCounter
from context.assembly.view import BranchView
from context.compaction.plan import CompactionPlan
from context.compaction.summary import SummaryEntry, summarise
from context.report import PageUsage
from foundation.privacy import Cleared, TextSource, clear, cleared_fields
from memory.pages.types import ArchiveResult
from memory.records import Conversation, Entry, EntryDraft, EntryKind
from models.fence import label, neutral, reference
from models.messages import Role

if TYPE_CHECKING:
    from memory.memory import Memory


class CompactionReceipt(Struct, frozen=True, kw_only=True):
    """Older turns left for the archive and a summary stands in their place.

    `tokens_before` and `tokens_after` are of the whole request, with all that stays in it.

    `text` is the sentence for a person. `entries` is 0 where there was nothing to do; `summary_seq` is the summary's
    seq (the conversation's new leaf) and `summary_entry` its id.
    """

    text: str
    entries: int = 0
    turns: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    pages: int = 0
    vision_tokens: int = 0
    summary_entry: str = ""
    summary_seq: int | None = None
    summary_tokens: int = 0
    archived: str = ""  # the label in the archive
    pages_in_view: int = 0  # of all the past, after it
    page_tokens: int = 0  # what they cost
    stands_for: int = 0  # what the words on them would cost as text


TextOf = Callable[[Entry], str]
OnPage = Callable[[int], None]


class BranchPosition(Struct, frozen=True):
    """Where: a conversation, the leaf of its branch, and what is in view from there."""

    conversation: Conversation
    leaf: int
    view: BranchView


class StoredSummary(Struct, frozen=True):
    """The summary's entry, and what was archived with it (None where no text was left to archive)."""

    summary: Entry
    archived: ArchiveResult | None


def summary_of(plan: CompactionPlan, view: BranchView, text_of: TextOf, counting: MessageCounter) -> Cleared:
    """The text that stands for what leaves."""
    said = [
        SummaryEntry(reference(entry.id), label(_speaker(entry)), entry.role is Role.USER, entry.time, neutral(text))
        for entry in plan.leaving
        if (text := clear(text_of(entry), TextSource.OTHER))
    ]
    before = [text_of(entry) for entry in view.summaries] if plan.joins else []
    text = summarise(said, plan.summary_limit, counting.text, before=before)
    if view.further:
        text += "\nEntries before these are found by search."
    return clear(text, TextSource.OTHER)


def stored(
    memory: "Memory",
    place: BranchPosition,
    plan: CompactionPlan,
    text: Cleared,
    *,
    tokens: int,
    on_page: OnPage | None,
    label: str = "",
) -> StoredSummary:
    """Archives what leaves and appends the summary as a child of the leaf, in one transaction. Raises OutOfDate.

    `tokens` are what leaves, as it stood in requests; `label` is what the archive calls it, "" for the conversation's
    title and the entries.
    """
    found: list[Entry] = []
    joined = archived_tokens(place.view) if plan.joins else 0
    draft = EntryDraft(
        conversation=place.conversation.seq,
        parent=place.leaf,
        kind=EntryKind.SUMMARY,
        role=Role.USER,
        text=text,
        meta=cleared_fields(
            {
                "covers": [plan.leaving[0].seq, plan.leaving[-1].seq],
                "first_kept": plan.first_kept,
                "prior": [] if plan.joins else [entry.seq for entry in place.view.summaries],
                "pinned": plan.pinned.seq if plan.pinned else None,
                "tokens": tokens + joined,
            }
        ),
    )

    def append(db: apsw.Connection) -> None:
        found.append(memory.cold.insert(db, draft))

    texts = [entry for entry in plan.leaving if entry.text]
    if not texts:
        memory.cold.write(append)
        return StoredSummary(found[-1], None)
    named = label or _label(place.conversation, plan)
    archived = memory.vault.archive_entries(texts, label=named, also=append, on_page=on_page)
    return StoredSummary(found[-1], archived)


def archived_tokens(view: BranchView) -> int:
    """Tokens of all that the summaries in view stand for, as it stood in requests."""
    return sum(int(summary.meta.get("tokens") or 0) for summary in view.summaries)


def receipt_of(
    plan: CompactionPlan,
    done: StoredSummary,
    took: tuple[int, int],
    summary_tokens: int,
    in_view: PageUsage | None = None,
) -> CompactionReceipt:
    """What was done, in figures and in a sentence. `took`: the whole request's tokens before and after."""
    before, after = took
    pages = len(done.archived.pages) if done.archived else 0
    where = f"{_counted(pages, 'page')} of the archive" if pages else "the archive"
    what = _counted(plan.turns, "older turn") if plan.turns else _counted(len(plan.leaving), "older tool result")
    text = (
        f"{what} ({_counted(len(plan.leaving), 'entry', 'entries')}) left for {where}. The whole request: "
        f"{before:,} → {after:,} tokens. A summary of {summary_tokens:,} stands in their place, and every word "
        "can be recalled."
    )
    if in_view:
        text += (
            f" In it the model goes on seeing {in_view.stands_for:,} tokens of the past as "
            f"{_counted(in_view.count, 'picture')} for {in_view.tokens:,}."
        )
    return CompactionReceipt(
        text=text,
        entries=len(plan.leaving),
        turns=plan.turns,
        tokens_before=before,
        tokens_after=after,
        pages=pages,
        vision_tokens=done.archived.vision_tokens if done.archived else 0,
        summary_entry=done.summary.id,
        summary_seq=done.summary.seq,
        summary_tokens=summary_tokens,
        archived=done.archived.label if done.archived else "",
        pages_in_view=in_view.count if in_view else 0,
        page_tokens=in_view.tokens if in_view else 0,
        stands_for=in_view.stands_for if in_view else 0,
    )


def nothing_to_do(tokens: int, total: int) -> CompactionReceipt:
    """The receipt where no turn could leave."""
    return CompactionReceipt(
        text=f"Nothing left for the archive: {tokens:,} of {total:,} tokens are taken, and there is no older turn.",
        tokens_before=tokens,
        tokens_after=tokens,
    )


def _label(conversation: Conversation, plan: CompactionPlan) -> str:
    first, last = plan.leaving[0], plan.leaving[-1]
    return f"{conversation.title or conversation.id} · {first.id} to {last.id}"


def _speaker(entry: Entry) -> str:
    return entry.speaker or entry.role.value


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


__all__ = ["CompactionReceipt", "OnPage", "StoredSummary", "nothing_to_do", "receipt_of", "stored", "summary_of"]
