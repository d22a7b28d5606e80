"""Carries out a compaction: older turns leave for the archive, and a summary replaces them.

Pages, spans, the removal of the text and the summary are one transaction: after a kill at any moment, either the turns
are in view or the summary is.
"""

from typing import TYPE_CHECKING

from msgspec import Struct

from foundation.privacy import cleared_fields
from memory.pages.types import ArchiveResult, OnPage
from memory.records import Conversation, Entry, EntryDraft, EntryKind
from models.messages import Role

if TYPE_CHECKING:  # receipts alone are light
    from context.assembly.view import BranchView
    from context.compaction.plan import CompactionPlan
    from context.compaction.projection import ProjectedCompaction
    from memory.memory import Memory


class CompactionReceipt(Struct, frozen=True, kw_only=True):
    """What a compaction did. `text` is the sentence for a person.

    `tokens_before` and `tokens_after` are of the whole request. `summary_seq` is the seq of the summary, which is the
    conversation's new leaf, and `summary_entry` its id.
    """

    text: str
    entries: int
    turns: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    pages: int = 0
    vision_tokens: int = 0
    summary_entry: str = ""
    summary_seq: int = 0
    summary_tokens: int = 0
    archived: str = ""  # the label in the archive
    pages_in_view: int = 0  # of all the past, after it
    page_tokens: int = 0  # what they cost
    stands_for: int = 0  # what the words on them would cost as text


class StoredSummary(Struct, frozen=True):
    """The summary's entry, and the archive of the entries (None where they had no text)."""

    summary: Entry
    archived: ArchiveResult | None


def carry_out(
    memory: "Memory", projection: "ProjectedCompaction", *, on_page: OnPage | None, label: str = ""
) -> StoredSummary:
    """Archives the entries that leave and appends the summary as a child of the leaf, in one transaction.

    `label` is what the archive calls them, "" for the conversation's title and the entries. Raises OutOfDate.
    """
    plan, occasion = projection.plan.entries, projection.plan.occasion
    conversation, view = occasion.conversation, occasion.view
    assert conversation is not None
    joined = archived_tokens(view) if plan.joins else 0
    draft = EntryDraft(
        conversation=conversation.seq,
        parent=occasion.message.seq if occasion.message else occasion.leaf,
        kind=EntryKind.SUMMARY,
        role=Role.USER,
        text=projection.text,
        meta=cleared_fields(
            {
                "covers": [plan.leaving[0].seq, plan.leaving[-1].seq],
                "first_kept": plan.first_kept,
                "prior": [] if plan.joins else [entry.seq for entry in view.summaries],
                "pinned": plan.pinned.seq if plan.pinned else None,
                "tokens": projection.plan.left + joined,
            }
        ),
    )

    leaving, label = [entry for entry in plan.leaving if entry.text], label or _label(conversation, plan)
    return StoredSummary(*memory.archive_and_append(leaving, draft, label=label, on_page=on_page))


def archived_tokens(view: "BranchView") -> int:
    """Tokens of everything that the summaries in view cover, as it was sent in requests."""
    return sum(int(summary.meta.get("tokens") or 0) for summary in view.summaries)


def receipt_of(projection: "ProjectedCompaction", done: StoredSummary, summary_tokens: int) -> CompactionReceipt:
    """The figures of what was done, and the sentence for a person."""
    plan, in_view = projection.plan.entries, projection.past.pages
    before, after = projection.plan.before, projection.after
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


def _label(conversation: Conversation, plan: "CompactionPlan") -> str:
    first, last = plan.leaving[0], plan.leaving[-1]
    return f"{conversation.title or conversation.id} · {first.id} to {last.id}"


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
