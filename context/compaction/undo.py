"""Undo of the newest compaction in view: its turns come back, in the request that was sent before it, byte for byte.

Nothing is removed: an entry is appended that names the view from before, and the epoch from before becomes the
conversation's, in one transaction. The archive keeps its pages, from which the turns are read to the letter. Messages
sent since the compaction follow the turns that come back.
"""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from context.assembly.history import HistoryReader
from context.assembly.tokens import MessageCounter
from context.assembly.view import BranchView, anchor_of, read_view
from context.compaction.plan import turns_of
from context.epoch import EpochState, before_compaction, decode_epoch, encode_epoch
from context.working_set.reductions import reduced
from foundation.errors import Misuse
from foundation.privacy import clear, cleared_fields
from memory.context_store import NewEpoch
from memory.records import UNDOES, Conversation, Entry, EntryDraft, EntryKind
from models.messages import Role

if TYPE_CHECKING:  # import cycle
    from context.state import ContextState

_TEXT = "A compaction was undone here: the turns that it archived are in view again."


class UndoReceipt(Struct, frozen=True):
    """Result of an undo. `text` is the sentence for a person.

    Tokens count the whole request, with what pages show as text.
    """

    text: str
    turns: int
    tokens_before: int
    tokens_after: int
    entry: str  # id of the entry that was appended


class PlannedUndo(Struct, frozen=True):
    """The entry to be appended, the epoch that comes back (None where it is not kept), and the view afterwards."""

    draft: EntryDraft
    state: EpochState | None
    is_kept: bool  # the epoch's state, so that the request is the same to the byte
    summary: Entry
    now: BranchView
    then: BranchView


def plan_undo(components: "ContextState", conversation: Conversation, total: int) -> PlannedUndo:
    """Plans the undo of the newest compaction in view, for requests of `total` tokens. Raises Misuse where there is
    none."""
    leaf = conversation.leaf
    now = components.history.view(leaf, total)
    if leaf is None or not now.summaries:
        raise Misuse("Nothing to undo", "No turns of this branch were archived.", "/compact archives them.")
    summary = now.summaries[-1]
    meta = {UNDOES: summary.seq, **_view_before(components, summary)}
    stored = components.store.epoch(conversation.seq)
    current = decode_epoch(stored.state) if stored else None
    state = before_compaction(current, summary.seq)
    if state is not None and components.pages.changed(state.pages, state.pages_digest):
        state = None
    draft = EntryDraft(
        conversation=conversation.seq,
        parent=leaf,
        kind=EntryKind.SUMMARY,
        role=Role.USER,
        text=clear(_TEXT),
        meta=cleared_fields(meta),
    )
    anchor = replace(summary, seq=leaf + 1, meta=meta)
    path = chain((anchor,), components.conversations.path(leaf))
    then = read_view(path, total, components.conversations.entries)
    now = reduced(now, current.reduced if current else {})
    then = reduced(then, state.reduced if state else {})
    return PlannedUndo(draft, None if state is current else state, state is not None, summary, now, then)


def _view_before(components: "ContextState", summary: Entry) -> dict[str, object]:
    """The anchor's fields for the view from before a compaction."""
    assert summary.parent is not None
    path = components.conversations.path(summary.parent)
    anchor = next((entry for entry in path if entry.kind is EntryKind.SUMMARY), None)
    if anchor is None:
        return {"first_kept": 0, "prior": [], "pinned": None}
    before = anchor_of(anchor)
    own = [] if UNDOES in anchor.meta else [anchor.seq]
    first = anchor.seq if before.first_kept is None else before.first_kept
    return {"first_kept": first, "prior": [*before.prior, *own], "pinned": before.pinned}


def carry_out_undo(components: "ContextState", planned: PlannedUndo, number: int) -> Entry:
    """Appends the entry and sets the epoch, in one transaction. `number` is that of the current epoch."""
    state = planned.state
    epoch = NewEpoch(number, clear(state.reason), encode_epoch(state)) if state else None
    return components.store.append(planned.draft, epoch)


def tokens_in_view(reader: HistoryReader, view: BranchView, counting: MessageCounter) -> int:
    """Tokens of a view as text."""
    return reader.zones(view, counting, question_follows=False).tokens


def undo_receipt(planned: PlannedUndo, entry: Entry, before: int, after: int) -> UndoReceipt:
    """The receipt of an undo. Tokens are those of the whole request."""
    back = [found for found in planned.then.entries if found.seq not in planned.now.seqs]
    turns = len(turns_of(back))
    since = _messages_since(planned.now.entries, planned.summary)
    text = (
        f"Compaction undone: {turns:,} older turn{'s are' if turns != 1 else ' is'} back in the context. "
        f"Request: {before:,} → {after:,} tokens."
    )
    if since:
        text += f" The {since:,} message{'s' * (since != 1)} since then follow{'s' * (since == 1)} them."
    if not planned.is_kept:
        text += " The head of the request is rebuilt, because the old one is no longer stored."
    text += " They stay until the window is full or /compact archives them again. The pages stay in the archive."
    return UndoReceipt(text, turns, before, after, entry.id)


def _messages_since(entries: Sequence[Entry], summary: Entry) -> int:
    return sum(entry.seq > summary.seq and entry.kind is EntryKind.MESSAGE for entry in entries)
