"""Carries out a compaction: archives older turns and replaces them with a summary.

Pages, spans, the removal of the text and the summary are one transaction: after a kill at any moment, either the turns
or the summary are in view.
"""

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from context.compaction.carried import FILES, OWN
from foundation.privacy import clear, cleared_fields
from memory.origin import UNTRUSTED, untrusted_source
from memory.pages.types import ArchiveResult, OnPage
from memory.records import Conversation, Entry, EntryCost, EntryDraft, EntryKind
from models.messages import Role

if TYPE_CHECKING:  # keeps the import of receipts light
    from context.assembly.view import BranchView
    from context.compaction.audit import CompactionAudit
    from context.compaction.plan import CompactionPlan
    from context.compaction.projection import ProjectedCompaction
    from context.compaction.summary_port import WrittenSummary
    from memory.memory import Memory


CAUSE_AUTOMATIC, CAUSE_MANUAL, CAUSE_OVERFLOW = "automatic", "manual", "overflow"


class CompactionReceipt(Struct, frozen=True, kw_only=True):
    """Result of a compaction. `text` is the sentence for a person.

    `cause`: automatic (the request passed its working set), manual (/compact) or overflow (the server rejected it).
    `tokens_before` counts the whole request as it would be sent with nothing changed, `tokens_after` as it is then.
    `summary_seq` is the seq of the summary, which is the conversation's new leaf, and `summary_entry` its id.
    """

    text: str
    cause: str = CAUSE_AUTOMATIC
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
    pages_in_view: int = 0  # number of pages in view after the compaction
    page_tokens: int = 0  # their cost
    stands_for: int = 0  # the cost of their text as text
    audited: int = 0  # figures, names and decisions that were checked before anything left
    carried: int = 0  # lines of them that the summary has word for word
    focus: str = ""  # what the summary keeps first
    focus_lines: int = 0  # of the summary, about it
    warning: str = ""  # why the summary is not by the model that was asked for it


MOVED = "moved"
"""Meta of a summary: what left for it, as its receipt says it."""


class StoredSummary(Struct, frozen=True):
    """The summary's entry, and the result of archiving the entries (None where they have no text)."""

    summary: Entry
    archived: ArchiveResult | None


def carry_out(
    memory: "Memory", projection: "ProjectedCompaction", *, on_page: OnPage | None, label: str = ""
) -> StoredSummary:
    """Archives the leaving entries and appends the summary as a child of the leaf, in one transaction.

    `label` is their label in the archive; "" for the conversation's title and the ids of the entries. Raises OutOfDate.
    """
    plan, inputs = projection.plan.entries, projection.plan.inputs
    conversation, view = inputs.conversation, inputs.view
    assert conversation is not None
    joined_tokens = archived_tokens(view) if plan.joins else 0
    price = projection.written.price if projection.written else None
    untrusted = untrusted_source(reversed((*(view.summaries if plan.joins else ()), *plan.leaving)))
    draft = EntryDraft(
        conversation=conversation.seq,
        parent=inputs.message.seq if inputs.message else inputs.leaf,
        kind=EntryKind.SUMMARY,
        role=Role.USER,
        text=projection.text,
        meta=cleared_fields(
            {
                "covers": [plan.leaving[0].seq, plan.leaving[-1].seq],
                "first_kept": plan.first_kept,
                "prior": [] if plan.joins else [entry.seq for entry in view.summaries],
                "pinned": plan.pinned.seq if plan.pinned else None,
                "tokens": projection.plan.original_tokens + joined_tokens,
                MOVED: _moved(plan),
                **({OWN: list(projection.own)} if projection.own else {}),
                **({FILES: projection.files.fields} if projection.files.fields else {}),
                **({"cost": price.fields} if price else {}),
                **({UNTRUSTED: untrusted} if untrusted else {}),
            }
        ),
    )

    cost = _cost_of(projection)
    leaving, label = [entry for entry in plan.leaving if entry.text], label or _label(conversation, plan)
    return StoredSummary(*memory.archive_and_append(leaving, draft, label=label, on_page=on_page, cost=cost))


def archived_tokens(view: "BranchView") -> int:
    """Tokens of all entries that the summaries in view cover, as sent in requests before any was reduced."""
    return sum(int(summary.meta.get("tokens") or 0) for summary in view.summaries)


def receipt_of(
    projection: "ProjectedCompaction", stored: StoredSummary, summary_tokens: int, cause: str
) -> CompactionReceipt:
    """Receipt of a finished compaction: its figures, and the sentence for a person."""
    plan, in_view = projection.plan.entries, projection.history.pages
    before, after = projection.plan.unchanged, projection.after
    pages = len(stored.archived.pages) if stored.archived else 0
    destination = f" on {_counted(pages, 'page')}" if pages else ""
    text = (
        f"Archived {_moved(plan)}{destination} and replaced them with a summary of {summary_tokens:,} tokens. "
        f"{_sizes(before, after)} Every word can be recalled."
    )
    text += _author(projection.written) + _focused(projection) + _checked(projection.audit)
    if in_view:
        text += (
            f" The model still sees {in_view.stands_for:,} tokens of the archived turns, as "
            f"{_counted(in_view.count, 'picture')} that cost {in_view.tokens:,} tokens."
        )
    return CompactionReceipt(
        text=text,
        cause=cause,
        entries=len(plan.leaving),
        turns=plan.turns,
        tokens_before=before,
        tokens_after=after,
        pages=pages,
        vision_tokens=stored.archived.vision_tokens if stored.archived else 0,
        summary_entry=stored.summary.id,
        summary_seq=stored.summary.seq,
        summary_tokens=summary_tokens,
        archived=stored.archived.label if stored.archived else "",
        pages_in_view=in_view.count if in_view else 0,
        page_tokens=in_view.tokens if in_view else 0,
        stands_for=in_view.stands_for if in_view else 0,
        audited=projection.audit.items,
        carried=len(projection.audit.carried),
        focus=projection.plan.focus,
        focus_lines=projection.focus_lines,
        warning=projection.written.warning if projection.written else "",
    )


def stored_receipt(summary: Entry) -> str:
    """What of a receipt its summary still tells."""
    moved = summary.meta.get(MOVED) or "older turns"
    return f"Archived {moved} and replaced them with a summary. Every word can be recalled."


def _moved(plan: "CompactionPlan") -> str:
    """`12 older turns (24 entries)`."""
    results = sum(entry.kind is EntryKind.TOOL_RESULT for entry in plan.leaving)
    moved = _counted(plan.turns, "older turn") if plan.turns else _counted(results, "older tool result")
    return f"{moved} ({_counted(len(plan.leaving), 'entry', 'entries')})"


def with_sizes(receipt: CompactionReceipt, before: int, after: int) -> CompactionReceipt:
    """The receipt with the tokens of the request that the compaction changed, and of the one that it led to."""
    text = receipt.text.replace(_sizes(receipt.tokens_before, receipt.tokens_after), _sizes(before, after), 1)
    return replace(receipt, text=text, tokens_before=before, tokens_after=after)


def _sizes(before: int, after: int) -> str:
    return f"Request: {before:,} → {after:,} tokens."


def _author(written: "WrittenSummary | None") -> str:
    """The model that wrote the summary, and its cost; "" for the extractive summary."""
    if written is None or written.warning:
        return ""
    return f" Summary written by {written.model}, {written.cost}."


def _focused(projection: "ProjectedCompaction") -> str:
    """How much of the summary is about what the person wants kept first, in a sentence."""
    if not (focus := projection.plan.focus):
        return ""
    if not projection.focus_lines:
        return f" These turns do not mention “{focus}”."
    return f" The summary has {_counted(projection.focus_lines, 'line')} about “{focus}”."


def _checked(audit: "CompactionAudit") -> str:
    """What the audit found, in a sentence."""
    if not audit.items:
        return ""
    carried = f", {len(audit.carried):,} of them copied word for word" if audit.carried else ""
    what = "figures, names and decisions" if audit.items > 1 else "figure, name or decision"
    return f" Checked that {audit.items:,} {what} can still be found{carried}."


def _cost_of(projection: "ProjectedCompaction") -> EntryCost | None:
    written = projection.written
    return EntryCost(written.usage, clear(written.name), written.ms) if written and written.usage else None


def _label(conversation: Conversation, plan: "CompactionPlan") -> str:
    first, last = plan.leaving[0], plan.leaving[-1]
    return f"{conversation.title or conversation.id} · {first.id} to {last.id}"


def _counted(number: int, singular: str, plural: str = "") -> str:
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
