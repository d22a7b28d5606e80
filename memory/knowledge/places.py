"""Where in its file a passage stands, for citations: found by the entry and the passage's first character."""

import apsw
from msgspec import Struct

from foundation.clock import from_ms, iso
from memory.cold.sql import fetch

KIND = "knowledge"
"""The kind of the conversations that hold what was added, and the origin of their archives."""

_BEFORE = "SELECT coalesce(sum(chars), 0) FROM entries WHERE conversation = ? AND seq < ?"
_PLACES = """SELECT p.place, p.read_by, k.replaced_ms FROM knowledge k JOIN knowledge_places p ON p.memory = k.seq
             WHERE k.conversation = ?1 AND p.start < max(?3, ?2 + 1) AND p.start >= (
                 SELECT max(start) FROM knowledge_places f WHERE f.memory = k.seq AND f.start <= ?2
             ) ORDER BY p.start"""


class Spot(Struct, frozen=True):
    """`place` as a citation says it, for an older version until when it held; `offset` is within the file's text.

    `read_by` is the OCR engine whose word a part of it is.
    """

    place: str = ""
    read_by: str = ""
    offset: int = 0


def spot(db: apsw.Connection, conversation: int, entry: int, start: int, end: int) -> Spot:
    """The place of an entry's characters (by its seq); nothing where the conversation is not of a known file.

    Where the first of them stand before any page or heading, the place that follows within them is theirs.
    """
    offset = int(fetch(db, _BEFORE, (conversation, entry))[0][0]) + start
    found = fetch(db, _PLACES, (conversation, offset, offset + end - start))
    if not found:
        return Spot(offset=offset)
    place = next((row[0] for row in found if row[0]), "")
    if (replaced_ms := found[0][2]) is not None:
        place = ", ".join(part for part in (f"until {iso(from_ms(replaced_ms))[:10]}", place) if part)
    return Spot(place, next((row[1] for row in found if row[1]), ""), offset)
