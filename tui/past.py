"""Stored entries as pieces of a transcript."""

from collections.abc import Callable, Sequence

from memory.cold import Entry, EntryKind
from memory.errors import Damaged
from memory.pages.types import Passage
from models.messages import Image, Role
from tui.widgets.status import short_count
from tui.widgets.transcript.pieces import Asked, Piece, Quiet, passages

Pictures = Callable[[Sequence[Image]], list[Piece]]
"""The pictures that went with a message, as pieces."""


def pieces_of(entries: Sequence[Entry], passage: Callable[[Entry], Passage], pictures: Pictures) -> list[Piece]:
    """The entries, oldest first. Archived words are read back from their pages; this may take a moment."""
    pieces: list[Piece] = []
    for entry in entries:
        pieces += _pieces(entry, passage, pictures)
    return pieces


def _pieces(entry: Entry, passage: Callable[[Entry], Passage], pictures: Pictures) -> list[Piece]:
    match entry.kind, entry.role:
        case EntryKind.SUMMARY, _:
            return [Quiet("older turns are in the archive; a summary stands in their place", gap=True)]
        case EntryKind.MESSAGE, Role.USER:
            seen = [part for part in entry.sent if isinstance(part, Image)]
            return [Asked(_text(entry, passage)), *pictures(seen)]
        case EntryKind.MESSAGE, _:
            shown = passages(_text(entry, passage))
            return shown if entry.complete else [*shown, Quiet("the answer broke off here", gap=True)]
        case ((EntryKind.TOOL_CALL | EntryKind.TOOL_RESULT), _):
            return [Quiet(f"▸ {entry.meta.get('name', 'tool')}: {short_count(entry.chars)} characters", gap=True)]
        case _:
            return []


def _text(entry: Entry, passage: Callable[[Entry], Passage]) -> str:
    """A damaged page is named in the place of what stood on it; the rest of the conversation is shown."""
    try:
        return passage(entry).text
    except Damaged as error:
        return f"[lost: {error.message}]"
