"""Receipts of the working set: which entries are shown with less, and what that saves."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from context.report import Reduction
from memory.records import Entry, EntryKind

if TYPE_CHECKING:  # keeps the import of receipts light
    from context.assembly.view import BranchView

CAUSE_WORKING_SET = "working_set"
REDUCED = "old tool results were shortened"
"""The reason of an epoch that begins with reductions; their receipt has the figures."""


class ReductionReceipt(Struct, frozen=True):
    """What was reduced before a request. `text` is the sentence for a person; tokens are those of the whole request."""

    text: str
    tokens_before: int
    tokens_after: int
    reductions: tuple[Reduction, ...]


def reductions_in_view(
    view: "BranchView", whole: Mapping[int, int], tokens: Mapping[int, int]
) -> tuple[Reduction, ...]:
    """The reduced entries of a view, oldest first. `whole` and `tokens`: those of each entry before, and now."""
    return tuple(
        Reduction(entry.id, _tool(entry), max(whole.get(entry.seq, 0), tokens.get(entry.seq, 0)), tokens[entry.seq])
        for entry in view.entries
        if entry.seq in view.reduced and entry.seq in tokens
    )


def reduction_receipt(reductions: Sequence[Reduction], earlier: Collection[str], total: int) -> ReductionReceipt | None:
    """The receipt of those that are new; None where none is. `earlier`: ids of entries that were reduced before;
    `total`: tokens of the whole request now."""
    new = tuple(item for item in reductions if item.entry not in earlier)
    if not new:
        return None
    before = total + sum(item.saved for item in new)
    return ReductionReceipt(receipt_sentence(new, before, total), before, total, new)


def starting_at(receipt: ReductionReceipt, before: int) -> ReductionReceipt:
    """The receipt with the tokens of the request that it changed: as the server counted it, for example."""
    text = receipt_sentence(receipt.reductions, before, receipt.tokens_after)
    return replace(receipt, text=text, tokens_before=before)


def receipt_sentence(reductions: Sequence[Reduction], before: int, after: int) -> str:
    """What was reduced, and the tokens of the whole request, for a person."""
    results = sum(bool(item.tool) for item in reductions)
    messages = len(reductions) - results
    lines = (
        f"{results} old tool result{'s were' if results > 1 else ' was'} cut to one "
        f"line{' each' if results > 1 else ''}"
        if results
        else ""
    )
    lost = f"passages recalled for {messages} older message{'s' * (messages > 1)} were dropped" if messages else ""
    what = ", and ".join(filter(None, (lines, lost)))
    return f"Request: {before:,} → {after:,} tokens. {what[:1].upper()}{what[1:]}. All of it can be recalled."


def _tool(entry: Entry) -> str:
    if entry.kind is not EntryKind.TOOL_RESULT:
        return ""
    return entry.speaker or str(entry.meta.get("name") or "tool")
