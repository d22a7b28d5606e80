"""The rows of a damaged table that SQLite can still read: from both ends, and between damaged places.

A page that cannot be read ends a scan, and hides what is behind it. Seeks to other numbers go past it.
"""

from collections import deque
from collections.abc import Generator, Iterator, Sequence

import apsw
from msgspec import Struct

from memory.cold.sql import SqlRow, each, fetch

_UNREADABLE = (apsw.Error, UnicodeDecodeError)
_MOST_SEEKS = 10_000  # in one table: a second or two
_DOUBLINGS = 32  # beyond the last number that was read, where the table's last page cannot be


class _Key(Struct, frozen=True):
    """The columns that order a table; the first is a whole number, or it has no seeks."""

    columns: tuple[str, ...]
    is_number: bool

    def by(self, order: str) -> str:
        return ", ".join(f"{column} {order}" for column in self.columns)


class _Reach(Struct, frozen=True):
    """How far a scan came: the number of the last row that was read, if any, and whether that was the last."""

    number: int | None
    ended: bool


class ReadableRows(Struct):
    """The rows of one table, read once, some given twice; `is_whole` tells afterwards whether none is missing."""

    db: apsw.Connection
    table: str
    columns: Sequence[str]
    is_whole: bool = False

    def __iter__(self) -> Iterator[SqlRow]:
        try:
            key = _key(self.db, self.table)
        except _UNREADABLE:
            return
        up = yield from self._scan(key, "ASC")
        self.is_whole = up.ended
        if not up.ended:
            down = yield from self._scan(key, "DESC")
            if key.is_number:
                yield from self._between(key, up.number or 0, down.number)

    def _between(self, key: _Key, low: int, high: int | None) -> Iterator[SqlRow]:
        """Rows between two numbers; with high None, where the table's end cannot be read, from `low` on."""
        ends = [low + (1 << power) for power in range(_DOUBLINGS)] if high is None else [high]
        gaps = deque(zip([low, *ends], ends, strict=False))
        for _ in range(_MOST_SEEKS):
            if not gaps:
                break
            low, high = gaps.popleft()
            middle = (low + high) // 2
            if low < middle:
                down = yield from self._scan(key, "DESC", f"BETWEEN {low} AND {middle}")
                up = yield from self._scan(key, "ASC", f"BETWEEN {middle} AND {high}")
                gaps += [(low, down.number or middle)] * (not down.ended)
                gaps += [(up.number or middle, high)] * (not up.ended)

    def _scan(self, key: _Key, order: str, where: str = "") -> Generator[SqlRow, None, _Reach]:
        """Gives rows in this order until one cannot be read."""
        number = key.columns[0] if key.is_number else "NULL"
        condition = f"WHERE {number} {where}" if where else ""
        sql = f"SELECT {number}, {', '.join(self.columns)} FROM {self.table} {condition} ORDER BY {key.by(order)}"
        reached: int | None = None
        try:
            for row in each(self.db, sql):
                reached = row[0]
                yield row[1:]
        except _UNREADABLE:
            return _Reach(reached, ended=False)
        return _Reach(reached, ended=True)


def _key(db: apsw.Connection, table: str) -> _Key:
    """Raises apsw.Error where the schema cannot be read."""
    if not any(has_no_rowid for *_, has_no_rowid, _ in fetch(db, f"PRAGMA main.table_list({table})")):
        return _Key(("rowid",), is_number=True)
    columns = sorted((place, name, type_) for _, name, type_, _, _, place in fetch(db, f"PRAGMA table_info({table})"))
    parts = [(name, type_) for place, name, type_ in columns if place]
    return _Key(tuple(name for name, _ in parts), is_number=parts[0][1] == "INTEGER")
