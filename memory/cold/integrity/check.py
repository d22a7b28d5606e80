"""Check of the whole store."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import apsw

from foundation.names import OWNER
from memory.cold.changes import WRONGLY_DERIVED
from memory.cold.encoding import digest, to_bytes, unpack
from memory.cold.integrity.bit_flips import row_before
from memory.cold.integrity.forged_names import forged
from memory.cold.integrity.row_hashes import COLUMNS, LAST_SEQ, LISTED, broken_seals
from memory.cold.integrity.row_seals import broken_rows
from memory.cold.sql import SqlRow, each, fetch
from memory.errors import Damaged
from memory.names import shown
from memory.records import EntryKind, IntegrityProblem
from models.messages import Role

FILE = "cold.db"


def check(connection: apsw.Connection, is_gone: Callable[[str], bool]) -> list[IntegrityProblem]:
    """All problems; `is_gone` tests whether the process of an answer's owner has ended."""
    try:
        problems = list(_file(connection))
        if not problems:  # rows of a damaged file say nothing
            checks = (_texts, _rows, _names, _sealed_rows, partial(_answers, is_gone=is_gone), _spans, _terms)
            found = (problem for check_part in checks for problem in _guarded(check_part, connection))
            problems = _unique(found)
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as error:  # SQLError: a column of ours is not there
        return [IntegrityProblem("file", FILE, f"SQLite cannot read it: {error}.")]
    return problems


def check_entries(connection: apsw.Connection, first: int, last: int) -> list[IntegrityProblem]:
    """Problems of the texts and rows of the entries from `first` to `last` (seqs), and of nothing else."""
    try:
        checks = (partial(_texts, first=first, last=last), partial(_rows, first=first, last=last))
        return _unique(problem for check_part in checks for problem in _guarded(check_part, connection))
    except (apsw.CorruptError, apsw.NotADBError) as error:
        return [IntegrityProblem("file", FILE, f"SQLite cannot read it: {error}.")]


def _unique(problems: Iterable[IntegrityProblem]) -> list[IntegrityProblem]:
    """Reports an item once that is damaged in two ways."""
    named: dict[tuple[str, str], IntegrityProblem] = {}
    for problem in problems:
        named.setdefault(("entry" if problem.what == "text" else problem.what, problem.where), problem)
    return list(named.values())


def _guarded(
    check_part: Callable[[apsw.Connection], Iterator[IntegrityProblem]], connection: apsw.Connection
) -> Iterator[IntegrityProblem]:
    """Problems of one check; a name that is not UTF-8 ends it, and is reported by `_rows`."""
    try:
        yield from check_part(connection)
    except UnicodeDecodeError as error:
        yield IntegrityProblem("row", FILE, f"A name in it is not UTF-8 ({error.reason}).")


def _rows(connection: apsw.Connection, first: int = 0, last: int = LAST_SEQ) -> Iterator[IntegrityProblem]:
    """Entries whose row does not match its seal, or has none."""
    for _, values, seal in broken_seals(connection, first, last):
        yield IntegrityProblem("entry", _name(values[1]), _differing(values, row_before(values, seal)))
    sql = f"""SELECT {LISTED} FROM entries e WHERE e.seq NOT IN (SELECT entry FROM seals WHERE entry BETWEEN ? AND ?)
              AND e.seq BETWEEN ? AND ?"""
    kinds, roles = {kind.value.encode() for kind in EntryKind}, {role.value.encode() for role in Role}
    for values in each(connection, sql, (first, last, first, last)):
        columns = dict[str, Any](zip(COLUMNS, values, strict=True))
        for column, known in (("kind", kinds), ("role", roles)):
            if columns[column] not in known:
                value = _name(columns[column])
                yield IntegrityProblem("entry", _name(columns["id"]), f"Its {column} is “{value}”, which is not valid.")
        yield IntegrityProblem("entry", _name(columns["id"]), "Its row has no seal, so it cannot be verified.")


def _differing(now: SqlRow, before: SqlRow | None) -> str:
    if before is None:
        return "Its row was changed: speaker, time or parent may be wrong."
    column, here, there = next(pair for pair in zip(COLUMNS, now, before, strict=True) if pair[1] != pair[2])
    if isinstance(here, bytes) and column in ("id", "kind", "role", "speaker"):
        return f"A bit flipped in its {column}: “{_name(here)}” instead of “{_name(there)}”."
    return f"A bit flipped in its row ({column})."


def _sealed_rows(connection: apsw.Connection) -> Iterator[IntegrityProblem]:
    """Rows of other tables that do not match their seals."""
    for row in broken_rows(connection):
        what = _ROWS.get(row.table.name, row.table.name)
        key = " ".join(
            _name(value) if isinstance(value, bytes) else str(value) for value in row.values[: len(row.table.key)]
        )
        why = "it has no seal" if row.seal is None else "its seal differs"
        yield IntegrityProblem(what, f"{row.table.name} {key}", f"Its row was changed: {why}.")


_ROWS = {"conversations": "conversation", "labels": "label", "chunks": "chunks"}
"""The noun of `check` for a row of a table; other tables use the table's name."""


def _name(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _file(connection: apsw.Connection) -> Iterator[IntegrityProblem]:
    for (result,) in each(connection, "PRAGMA integrity_check"):
        if result != "ok":
            yield IntegrityProblem("file", FILE, f"SQLite's own check says: {result}.")
    for table, row, parent, _ in each(connection, "PRAGMA foreign_key_check"):
        yield IntegrityProblem(
            "reference", f"{table} {row}", f"A row of {table} names a row of {parent} that is not there."
        )


def _texts(connection: apsw.Connection, first: int = 0, last: int = LAST_SEQ) -> Iterator[IntegrityProblem]:
    sql = """SELECT CAST(id AS BLOB), body, packed, chars, sha256 FROM entries
             WHERE body IS NOT NULL AND seq BETWEEN ? AND ?"""
    for raw, body, packed, chars, sha256 in each(connection, sql, (first, last)):
        id_ = _name(raw)
        try:
            text = unpack(body, packed, chars)
        except Damaged as error:
            yield IntegrityProblem("text", id_, error.message)
            continue
        if digest(to_bytes(text)) != sha256:
            yield IntegrityProblem("text", id_, "The text was changed: its SHA-256 differs.")
        elif len(text) != chars:
            yield IntegrityProblem("text", id_, f"The text has {len(text)} characters, its row says {chars}.")


def _names(connection: apsw.Connection) -> Iterator[IntegrityProblem]:
    for value in forged(connection):
        yield IntegrityProblem("name", f"{value.table} {shown(value.value)}", value.sentence)


def _answers(connection: apsw.Connection, is_gone: Callable[[str], bool]) -> Iterator[IntegrityProblem]:
    rows = fetch(connection, "SELECT e.id, owner FROM answers JOIN entries e ON e.seq = entry")
    for id_, owner in rows:
        if OWNER.fits(owner) and is_gone(owner):
            yield IntegrityProblem("answer", id_, "The answer was cut off by a crash and is not recovered yet.")
    orphans = each(
        connection,
        """SELECT DISTINCT e.id FROM chunks c JOIN entries e ON e.seq = c.entry
           WHERE c.entry NOT IN (SELECT entry FROM answers)""",
    )
    for (id_,) in orphans:
        yield IntegrityProblem("chunks", id_, "Parts of an answer remain, although it is finished.")


def _spans(connection: apsw.Connection) -> Iterator[IntegrityProblem]:
    misplaced = each(
        connection,
        """SELECT e.id, s.page FROM spans s JOIN entries e ON e.seq = s.entry LEFT JOIN pages p ON p.id = s.page
           WHERE p.id IS NULL OR s.start < 0 OR s.length < 0 OR s.start + s.length > e.chars
              OR s.page_start < 0 OR s.page_start + s.length > p.chars""",
    )
    for id_, page in misplaced:
        yield IntegrityProblem("span", id_, f"Its place on page {page} lies outside of the page or the text.")
    lost = each(
        connection,
        """SELECT id FROM entries e WHERE body IS NULL AND chars > coalesce(
           (SELECT sum(length) FROM spans s WHERE s.entry = e.seq), 0)""",
    )
    for (id_,) in lost:
        yield IntegrityProblem("span", id_, "Its text was deleted, but not all of it is on pages.")


def _terms(connection: apsw.Connection) -> Iterator[IntegrityProblem]:
    missing = each(
        connection,
        """SELECT id FROM entries WHERE seq NOT IN (SELECT entry FROM terms)
           AND seq NOT IN (SELECT entry FROM answers)""",
    )
    for (id_,) in missing:
        yield IntegrityProblem("terms", id_, "It is not indexed, so search cannot find it.")
    for (id_,) in each(connection, f"SELECT id FROM entries WHERE seq IN ({WRONGLY_DERIVED})"):
        yield IntegrityProblem("terms", id_, "Its index row is wrong about whether it repeats other entries.")
