"""Where in its file a passage stands, for citations: found by the entry and the passage's first character."""

import apsw
from msgspec import Struct

from foundation.clock import from_ms, iso
from memory.cold.sql import fetch, first

KIND = "knowledge"
"""The kind of the conversations that hold what was added, and the origin of their archives."""

_BEFORE = "SELECT coalesce(sum(chars), 0) FROM entries WHERE conversation = ? AND seq < ?"
_PLACE = """SELECT p.place, p.read_by, k.replaced_ms FROM knowledge k JOIN knowledge_places p ON p.memory = k.seq
            WHERE k.conversation = ? AND p.start <= ? ORDER BY p.start DESC LIMIT 1"""


class Spot(Struct, frozen=True):
    """`place` as a citation says it, for an older version until when it held; `offset` is within the file's text.

    `read_by` is the OCR engine whose word it is.
    """

    place: str = ""
    read_by: str = ""
    offset: int = 0


def spot(db: apsw.Connection, conversation: int, entry: int, start: int) -> Spot:
    """The place of character `start` of an entry (its seq); nothing where the conversation is not of a known file."""
    offset = int(fetch(db, _BEFORE, (conversation, entry))[0][0]) + start
    found = first(db, _PLACE, (conversation, offset))
    if found is None:
        return Spot(offset=offset)
    place, read_by, replaced_ms = found
    if replaced_ms is not None:
        place = ", ".join(part for part in (f"until {iso(from_ms(replaced_ms))[:10]}", place) if part)
    return Spot(place, read_by, offset)
