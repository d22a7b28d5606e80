"""What others keep up with: the journal of changes, and the terms of entries."""

from collections.abc import Iterable

import apsw
from msgspec import Struct

from memory.cold.lookup import batches, marks
from memory.cold.sql import SqlRow, each, fetch
from memory.records import ChangeRow

_TERMS = """SELECT e.seq, e.conversation, CAST(e.kind AS BLOB), CAST(e.role AS BLOB), CAST(e.speaker AS BLOB),
    e.time_ms, t.terms, t.length
    FROM terms t JOIN entries e ON e.seq = t.entry"""


class TermsRow(Struct, frozen=True):
    """An entry's terms, and what a search filters by. `conversation` is the conversation's seq."""

    entry: int
    conversation: int
    kind: str
    role: str
    speaker: str
    time_ms: int
    packed: bytes
    length: int


def changes(connection: apsw.Connection, after: int, limit: int) -> list[ChangeRow]:
    """Changes with a seq above `after`, oldest first."""
    rows = each(connection, "SELECT seq, op, entry FROM changes WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit))
    return [ChangeRow(seq=seq, op=op, entry=entry) for seq, op, entry in rows]


def last_change(connection: apsw.Connection) -> int:
    """The newest change's seq, 0 where there is none."""
    return int(fetch(connection, "SELECT coalesce(max(seq), 0) FROM changes")[0][0])


def terms(connection: apsw.Connection, after: int, limit: int) -> list[TermsRow]:
    """Terms of entries with a seq above `after`, in order of seq."""
    rows = each(connection, f"{_TERMS} WHERE t.entry > ? ORDER BY t.entry LIMIT ?", (after, limit))
    return [_terms_row(row) for row in rows]


def _terms_row(row: SqlRow) -> TermsRow:
    """Names are read as bytes: a flipped bit in one must not stop the search."""
    names = [one.decode("utf-8", "replace") for one in row[2:5]]
    return TermsRow(*row[:2], *names, *row[5:])


def terms_of(connection: apsw.Connection, seqs: Iterable[int]) -> dict[int, TermsRow]:
    """Terms of these entries, by seq; none for those that have none."""
    found: dict[int, TermsRow] = {}
    for some in batches(sorted(set(seqs))):
        rows = each(connection, f"{_TERMS} WHERE t.entry IN ({marks(some)})", some)
        found.update((row[0], _terms_row(row)) for row in rows)
    return found
