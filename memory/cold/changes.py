"""The tables that the search index follows: `changes`, a journal, and `terms`, an entry's words."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import apsw
from msgspec import Struct

from foundation.clock import from_ms
from memory.cold.sql import SqlRow, batches, each, fetch, marks, run, run_many
from memory.origin import DERIVED_FROM, MEMORY_TOOLS, QUOTING
from memory.records import MALFORMED, AnalysedTerms, ChangeRow, EntryAnalyser, EntryKind
from models.messages import Role

_TERMS = """SELECT e.seq, e.conversation, CAST(e.kind AS BLOB), CAST(e.role AS BLOB), CAST(e.speaker AS BLOB),
    e.time_ms, t.terms, t.length
    FROM terms t JOIN entries e ON e.seq = t.entry"""
IS_DERIVED = f"""(instr(coalesce(meta, x''), CAST('"{DERIVED_FROM}"' AS BLOB)) > 0
    OR instr(coalesce(meta, x''), CAST('"{MALFORMED}":true' AS BLOB)) > 0
    OR kind IN ('{EntryKind.TOOL_CALL.value}', '{EntryKind.SUMMARY.value}')
    OR (kind = '{EntryKind.TOOL_RESULT.value}' AND speaker IN ({", ".join(f"'{name}'" for name in MEMORY_TOOLS)}))
    OR (kind = '{EntryKind.MESSAGE.value}' AND role = '{Role.ASSISTANT.value}' AND speaker = '{QUOTING}'))"""
"""SQL: whether a row of `entries` is derived (memory/origin.py)."""
WRONGLY_DERIVED = f"SELECT entry FROM terms JOIN entries ON seq = entry WHERE derived <> {IS_DERIVED}"
"""SQL: entries whose terms' row contradicts them in this."""
_PUT_TERMS = f"""INSERT OR REPLACE INTO terms (entry, terms, length, analyser, derived)
    SELECT seq, ?2, ?3, ?4, {IS_DERIVED} FROM entries WHERE seq = ?1"""


class TermsRow(Struct, frozen=True):
    """An entry's terms, and the columns that a search filters by. `conversation` is a seq."""

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
    """The newest change's seq, or 0."""
    return int(fetch(connection, "SELECT coalesce(max(seq), 0) FROM changes")[0][0])


def terms(connection: apsw.Connection, after: int, limit: int) -> list[TermsRow]:
    """Terms of the entries that may be recalled, with a seq above `after`, in order of seq."""
    sql = f"{_TERMS} WHERE t.entry > ? AND t.derived = 0 ORDER BY t.entry LIMIT ?"
    return [_terms_row(row) for row in each(connection, sql, (after, limit))]


def derived_terms(connection: apsw.Connection) -> list[TermsRow]:
    """Terms of the derived entries (memory/origin.py), in order of seq."""
    return [_terms_row(row) for row in each(connection, f"{_TERMS} WHERE t.derived = 1 ORDER BY t.entry")]


def _terms_row(row: SqlRow) -> TermsRow:
    """Decodes a row. Names are read as bytes: a flipped bit in one must not stop the search."""
    names = [name.decode("utf-8", "replace") for name in row[2:5]]
    return TermsRow(*row[:2], *names, *row[5:])


def terms_of(connection: apsw.Connection, seqs: Iterable[int]) -> dict[int, TermsRow]:
    """Terms of these entries, by seq; those without terms and derived ones (memory/origin.py) are missing."""
    found: dict[int, TermsRow] = {}
    for batch in batches(sorted(set(seqs))):
        rows = each(connection, f"{_TERMS} WHERE t.entry IN ({marks(batch)}) AND t.derived = 0", batch)
        found.update((row[0], _terms_row(row)) for row in rows)
    return found


def note_change(connection: apsw.Connection, op: str, seqs: Iterable[int]) -> None:
    """Adds rows to the journal that the index follows: `op` is add, change, archive or remove."""
    run_many(connection, "INSERT INTO changes (op, entry) VALUES (?, ?)", [(op, seq) for seq in seqs])


def put_terms(  # noqa: PLR0917 — the entry's own, and what finds its words
    connection: apsw.Connection, seq: int, text: str, speaker: str, analyse: EntryAnalyser, meta: Mapping[str, Any]
) -> None:
    """Stores the terms of an entry, which is there already, and replaces older ones."""
    kind, time_ms = fetch(connection, "SELECT kind, time_ms FROM entries WHERE seq = ?", (seq,))[0]
    put_analysed(connection, seq, analyse(text, speaker, meta, said_at(kind, time_ms)))


def said_at(kind: str, time_ms: int) -> datetime | None:
    """The moment from which the relative dates of an entry count; None where it is no message."""
    return from_ms(time_ms) if kind == EntryKind.MESSAGE.value else None


def put_analysed(connection: apsw.Connection, seq: int, terms: AnalysedTerms) -> None:
    """Stores the terms of an entry, which is there already, and replaces older ones."""
    run(connection, _PUT_TERMS, (seq, terms.packed, terms.length, terms.analyser))
