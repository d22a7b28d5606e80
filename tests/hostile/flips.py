"""Single bits flipped in what a store holds as text, as a failing disk flips them."""

import random
from collections.abc import Iterator
from pathlib import Path

import apsw
from msgspec import Struct

from memory.cold.sql import fetch, run

INTERNAL = {
    "terms.terms": "derived from the text, never given out: a search may miss an entry",
    "terms.analyser": "which program made the terms",
    "changes.op": "what a second process must catch up with",
    "answers.owner": "a lock's name, held against its grammar",
    "deletions.token": "a hash",
    "deletions.name": "a hash",
    "deletions.pages": "ids of pages to let go of",
    "leaving.name": "a file to delete, held against its grammar",
    "leaving.owner": "a lock's name",
    "unsealed.pack": "a pack to write a manifest for",
    "token_counts.tokenizer": "a count is made anew under another name",
    "observed.maker": "whose cursor it is: what is before it is looked at again, and nothing is made twice",
    "passages.hash": "where a text that is drawn again stands already",
}
"""Columns that hold no text which is given out, each with what it is."""


class Cell(Struct, frozen=True):
    """One value of one row: `key` are the row's key columns with their values."""

    table: str
    column: str
    kind: str
    key: tuple[tuple[str, object], ...]
    value: bytes

    @property
    def name(self) -> str:
        return f"{self.table}.{self.column}"


def cells(database: Path) -> list[Cell]:
    """Every value that is text or bytes and is given out."""
    db = apsw.Connection(str(database))
    try:
        return list(_cells(db))
    finally:
        db.close()


def _cells(db: apsw.Connection) -> Iterator[Cell]:
    tables = fetch(db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    for (table,) in tables:
        columns = fetch(db, f"PRAGMA table_info({table})")
        keys = [name for _, name, _, _, _, pk in sorted(columns, key=lambda one: one[5]) if pk]
        for _, column, kind, *_ in columns:
            if kind not in {"TEXT", "BLOB"} or f"{table}.{column}" in INTERNAL:
                continue
            sql = f"SELECT CAST({column} AS BLOB), {', '.join(keys)} FROM {table} WHERE length({column}) > 0"
            for value, *key in fetch(db, sql):
                yield Cell(table, column, kind, tuple(zip(keys, key, strict=True)), value)


def flipped(cell: Cell, bit: int) -> bytes:
    held = bytearray(cell.value)
    held[bit // 8] ^= 1 << bit % 8
    return bytes(held)


def put(database: Path, cell: Cell, value: bytes, before: bytes) -> None:
    """The value in the cell's place, where `before` stands now. No trigger runs, as none does when a disk fails."""
    db = apsw.Connection(str(database))
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    db.set_busy_timeout(5000)
    where = " AND ".join(f"CAST({name} AS BLOB) = ?" if name == cell.column else f"{name} = ?" for name, _ in cell.key)
    keys = [before if name == cell.column else key for name, key in cell.key]
    cast = "CAST(? AS TEXT)" if cell.kind == "TEXT" else "?"
    run(db, f"UPDATE {cell.table} SET {cell.column} = {cast} WHERE {where}", (value, *keys))
    changed = db.changes()
    db.close()
    assert changed == 1, cell.name


def chosen(all_cells: list[Cell], count: int, dice: random.Random) -> list[tuple[Cell, int]]:
    """So many flips: each column as often as any other, each cell of it as often, and any of its bits."""
    by_column: dict[str, list[Cell]] = {}
    for cell in all_cells:
        by_column.setdefault(cell.name, []).append(cell)
    names = sorted(by_column)
    dice.shuffle(names)
    picked = [dice.choice(by_column[names[n % len(names)]]) for n in range(count)]
    return [(cell, dice.randrange(8 * len(cell.value))) for cell in picked]
