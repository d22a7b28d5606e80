"""Seals of rows other than entries that are shown or cited: titles, labels, places in files, epochs' heads.

A seal is a column of its row. A trigger empties it on a change of the row, and the writer fills empty seals before each
commit, so that no writing code can forget it. Entries have seals of their own: `memory.cold.integrity.row_hashes`.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import apsw
from msgspec import Struct

from memory.cold.integrity.row_hashes import seal_of
from memory.cold.sql import SqlRow, each, fetch, run, run_many


class SealedTable(Struct, frozen=True, dict=True):
    """A table's key, its sealed columns, and those of them that are TEXT: read as bytes, whatever they hold."""

    name: str
    key: tuple[str, ...]
    rest: tuple[str, ...]
    text: frozenset[str]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return (*self.key, *self.rest)

    @cached_property
    def listed(self) -> str:
        """The sealed columns, in their order."""
        return ", ".join(f"CAST({name} AS BLOB)" if name in self.text else name for name in self.columns)

    @cached_property
    def where(self) -> str:
        return " AND ".join(f"CAST({name} AS BLOB) = ?" if name in self.text else f"{name} = ?" for name in self.key)

    def seal(self, values: Sequence[Any]) -> bytes:
        """The seal of a row; TEXT as bytes."""
        return seal_of((self.name, *values))


def _table(name: str, key: str, rest: str = "", text: str = "") -> SealedTable:
    return SealedTable(name, tuple(key.split()), tuple(rest.split()), frozenset(text.split()))


CONVERSATIONS = _table("conversations", "seq", "source id title created_ms kind", "source id kind")
ARCHIVES = _table("archives", "seq", "label created_ms origin", "label origin")
CHUNKS = _table("chunks", "entry n", "body")
EPOCHS = _table("epochs", "conversation", "number started_ms reason state", "reason")
REQUESTS = _table("requests", "conversation", "entry sent_ms state")
PLACES = _table("knowledge_places", "memory start", "place read_by", "place read_by")
TABLES = (
    CONVERSATIONS,
    _table("labels", "conversation label", text="label"),
    ARCHIVES,
    CHUNKS,
    EPOCHS,
    REQUESTS,
    _table("usage", "entry", "model prompt_tokens completion_tokens cached_tokens", "model"),
    _table("mirrors", "conversation", "leaf head bytes sha256"),
    _table(
        "knowledge",
        "seq",
        "id source name root kind category sha256 text_sha256 chars conversation sketch",
        "id source name root kind category",
    ),
    PLACES,
    _table("knowledge_views", "memory number", "start length picture mode", "picture mode"),
    _table("knowledge_patterns", "pattern", "importance", "pattern"),
)


def fill_seals(db: apsw.Connection) -> None:
    """Seals added and changed rows, within their transaction."""
    for table in TABLES:
        if rows := fetch(db, f"SELECT {table.listed} FROM {table.name} WHERE seal IS NULL"):
            width = len(table.key)
            sql = f"UPDATE {table.name} SET seal = ? WHERE {table.where}"
            run_many(db, sql, [(table.seal(row), *row[:width]) for row in rows])


class BrokenRow(Struct, frozen=True):
    """A row that does not match its seal; `seal` None where it has none."""

    table: SealedTable
    values: SqlRow
    seal: bytes | None


def broken_rows(db: apsw.Connection) -> Iterator[BrokenRow]:
    """Broken rows of all tables."""
    for table in TABLES:
        for *values, seal in each(db, f"SELECT {table.listed}, seal FROM {table.name}"):
            if table.seal(values) != seal:
                yield BrokenRow(table, tuple(values), seal)


def restore_row(db: apsw.Connection, row: BrokenRow, before: SqlRow) -> None:
    """The row's values at the time of its seal."""
    assignments = ", ".join(
        f"{name} = CAST(? AS TEXT)" if name in row.table.text else f"{name} = ?" for name in row.table.columns
    )
    key = row.values[: len(row.table.key)]
    run(db, f"UPDATE {row.table.name} SET {assignments} WHERE {row.table.where}", (*before, *key))
