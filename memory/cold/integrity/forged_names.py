"""Rows whose names fit no grammar: listed for `check`, and removed by `check --repair`. Files are not touched."""

from collections.abc import Iterator

import apsw
import msgspec
from msgspec import Struct

from foundation.names import OWNER, PACK, PAGE, PICTURE, TOKEN, Grammar
from foundation.typed_json import decode_json
from memory.cold.sql import SqlRow, each, fetch, run, run_many
from memory.names import shown


class ForgedValue(Struct, frozen=True):
    """A value of a column that no version of this program writes."""

    table: str
    column: str
    value: object
    noun: str

    @property
    def sentence(self) -> str:
        where = f"Table {self.table}, column {self.column}"
        return f"{where}: {shown(self.value)} instead of {self.noun}. It is not followed."


class _Column(Struct, frozen=True):
    table: str
    name: str
    grammar: Grammar
    may_be_empty: bool = False
    is_list: bool = False


_COLUMNS = (
    _Column("leaving", "name", PACK),
    _Column("leaving", "owner", OWNER, may_be_empty=True),
    _Column("answers", "owner", OWNER),
    _Column("deletions", "token", TOKEN),
    _Column("deletions", "pages", PAGE, is_list=True),
    _Column("unsealed", "pack", PACK, may_be_empty=True),
    _Column("packs", "name", PACK),
    _Column("pages", "id", PAGE),
    _Column("pages", "pack", PACK),
    _Column("spans", "page", PAGE),
    _Column("archive_pages", "page", PAGE),
    _Column("passages", "page", PAGE),
    _Column("knowledge_views", "picture", PICTURE, may_be_empty=True),
)
_GONE = "w_0"  # an owner that never existed: its answers are recovered


def forged(db: apsw.Connection) -> Iterator[ForgedValue]:
    """Every value that does not fit its grammar, once per table and column."""
    for column in _COLUMNS:
        for (raw,) in each(db, f"SELECT DISTINCT CAST({column.name} AS BLOB) FROM {column.table}"):
            value = raw.decode("utf-8", "replace")
            if not _fits(column, value):
                yield ForgedValue(column.table, column.name, value, column.grammar.noun)


def remove_forged(db: apsw.Connection) -> int:
    """Removes those rows, or blanks the value where the row holds more than the name; gives the number of values.

    An unfinished answer stays, as one whose writer has ended. Pages are removed with their places: their manifest
    restores its part of them.
    """
    run(db, "PRAGMA defer_foreign_keys = ON")
    count = 0
    for column in reversed(_COLUMNS):
        bad = [
            (raw,)
            for (raw,) in fetch(db, f"SELECT DISTINCT CAST({column.name} AS BLOB) FROM {column.table}")
            if not _fits(column, raw.decode("utf-8", "replace"))
        ]
        if bad:
            _remove(db, column, bad)
        count += len(bad)
    return count


def _remove(db: apsw.Connection, column: _Column, bad: list[SqlRow]) -> None:
    which = f"CAST({column.name} AS BLOB) = ?"
    match column.table:
        case "answers":
            run_many(db, f"UPDATE answers SET owner = '{_GONE}' WHERE {which}", bad)
        case "knowledge_views":
            run_many(db, f"UPDATE knowledge_views SET picture = '' WHERE {which}", bad)
        case "pages":
            run_many(db, f"DELETE FROM spans WHERE page IN (SELECT id FROM pages WHERE {which})", bad)
            run_many(db, f"DELETE FROM pages WHERE {which}", bad)
        case table:
            run_many(db, f"DELETE FROM {table} WHERE {which}", bad)


def _fits(column: _Column, value: str) -> bool:
    if not value:
        return column.may_be_empty
    if not column.is_list:
        return column.grammar.fits(value)
    try:
        return all(column.grammar.fits(item) for item in decode_json(value, tuple[str, ...]))
    except msgspec.DecodeError:
        return False
