"""SQL with typed results: the one module that casts apsw's own types, which pyright cannot follow."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar, cast

import apsw

from foundation.clock import EARLIEST_MS, LATEST_MS

SqlRow = tuple[Any, ...]
T = TypeVar("T")

BATCH = 500  # bound values in one statement; SQLite takes 32,766


def fetch(db: apsw.Connection, sql: str, values: Sequence[object] = ()) -> list[SqlRow]:
    """All rows of one statement."""
    return cast("list[SqlRow]", cast(Any, db).execute(sql, values).fetchall())


def each(db: apsw.Connection, sql: str, values: Sequence[object] = ()) -> Iterator[SqlRow]:
    """Yields the rows one by one, for large results."""
    return cast("Iterator[SqlRow]", cast(Any, db).execute(sql, values))


def first(db: apsw.Connection, sql: str, values: Sequence[object] = ()) -> SqlRow | None:
    """The first row; None where there is none."""
    found = fetch(db, sql, values)
    return found[0] if found else None


def run(db: apsw.Connection, sql: str, values: Sequence[object] = ()) -> int:
    """Runs the statement; gives the number of changed rows."""
    cast(Any, db).execute(sql, values).fetchall()
    return db.changes()


def run_many(db: apsw.Connection, sql: str, many: Iterable[Sequence[object]]) -> None:
    """Runs the statement once for each parameter set."""
    cast(Any, db).executemany(sql, many)


def pragma(db: apsw.Connection, name: str) -> int:
    """The value of a numeric pragma."""
    return int(cast(Any, db).pragma(name))


def batches(values: Sequence[T]) -> Iterable[Sequence[T]]:
    """Splits the values into batches of at most one statement's parameters."""
    for start in range(0, len(values), BATCH):
        yield values[start : start + BATCH]


def day_of(column: str, *, local: bool = False) -> str:
    """SQL: the day, as `2026-03-14`, of a column of milliseconds; as `foundation.clock.from_ms`, it always has one."""
    zone = ", 'localtime'" if local else ""
    return f"date(min(max({column}, {EARLIEST_MS}), {LATEST_MS}) / 1000, 'unixepoch'{zone})"


def marks(values: Sequence[object]) -> str:
    """One parameter mark per value."""
    return ",".join("?" * len(values))
