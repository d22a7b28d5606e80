"""Puts the text of a store's schema right: its statements are those of a released schema, which this program knows.

A flipped bit in one of them makes SQLite refuse the whole file, though every row is whole.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from memory.cold.connection import open_store
from memory.cold.schema import empty_stores
from memory.cold.sql import fetch, pragma, run

_ROWS = """SELECT rowid, CAST(type AS BLOB), CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB)
    FROM sqlite_schema ORDER BY rowid"""
_MOST_WRONG = 16  # bytes of one part: more is another part


class _Part(NamedTuple):
    """A row of the schema as bytes; `sql` is None for an index that SQLite made itself."""

    type: bytes
    name: bytes
    table: bytes
    sql: bytes | None


def put_schema_right(store: Path) -> int:
    """Gives damaged parts of the schema their text again, in this file; gives their number. Raises apsw.Error, OSError.

    For a private copy: SQLite does not look at what it writes.
    """
    db = open_store(store)
    try:
        run(db, "PRAGMA trusted_schema = OFF")
        run(db, "PRAGMA writable_schema = ON")  # before the first read: parts that cannot be parsed are left out
        found = {row[0]: _part(*row[1:]) for row in fetch(db, _ROWS)}
        right = _corrected(found, _known(pragma(db, "user_version")))
        for rowid, part in right.items():
            values = [None if text is None else text.decode() for text in part]
            sql = "UPDATE sqlite_schema SET type = ?, name = ?, tbl_name = ?, sql = ? WHERE rowid = ?"
            run(db, sql, (*values, rowid))
        return len(right)
    finally:
        db.close()


def _corrected(found: dict[int, _Part], known: Iterable[_Part]) -> dict[int, _Part]:
    """The parts that are not as released, each with the released one that it was."""
    there = set(found.values())
    missing = [part for part in known if part not in there]
    corrected: dict[int, _Part] = {}
    for rowid, part in found.items():
        near = min(missing, key=lambda other: _distance(part, other), default=None)
        if near is not None and 0 < _distance(part, near) <= _MOST_WRONG:
            corrected[rowid] = near
            missing.remove(near)
    return corrected


def _distance(part: _Part, other: _Part) -> int:
    """In how many bytes they differ; more than any limit where one is longer."""
    pairs = [(mine or b"", theirs or b"") for mine, theirs in zip(part, other, strict=True)]
    if any(len(mine) != len(theirs) for mine, theirs in pairs):
        return 1 << 30
    return sum(a != b for mine, theirs in pairs for a, b in zip(mine, theirs, strict=True))


def _known(number: int) -> list[_Part]:
    """The parts of the released schema of that number; of the newest where there is none."""
    parts: list[_Part] = []
    for released, empty in empty_stores():
        parts = [_part(*row[1:]) for row in fetch(empty, _ROWS)]
        if released == number:
            break
    return parts


def _part(*values: bytes | None) -> _Part:
    type_, name, table, sql = values
    return _Part(type_ or b"", name or b"", table or b"", sql)
