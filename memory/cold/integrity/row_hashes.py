"""Seals of entries: a hash of each row's speaker, time, parent and other columns; the body has a hash of its own.

A seal is written in the transaction that writes the row, into a table of its own, so that no row is written twice.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import apsw
from msgspec import msgpack

from memory.cold.sql import SqlRow, each, fetch, run_many

COLUMNS = (
    "conversation",
    "id",
    "parent",
    "kind",
    "role",
    "speaker",
    "time_ms",
    "chars",
    "sha256",
    "sent",
    "meta",
    "complete",
)
"""What is sealed of an entry, in this order."""

NAMES = frozenset({"id", "kind", "role", "speaker"})  # TEXT, read as bytes: a flipped bit may leave invalid UTF-8
SIZE = 8  # bytes

LISTED = ", ".join(f"CAST(e.{column} AS BLOB)" if column in NAMES else f"e.{column}" for column in COLUMNS)
"""The sealed columns of an entry `e`, as `seal_of` takes them."""

LAST_SEQ = 2**63 - 1

_AT_ONCE = 500


def seal_of(values: Sequence[Any]) -> bytes:
    """The seal of an entry's columns; names are bytes."""
    return blake2b(msgpack.encode(values), digest_size=SIZE).digest()


def seal_rows(connection: apsw.Connection, seqs: Iterable[int]) -> None:
    """Seals these entries with their current values, within the transaction that changed them."""
    wanted = sorted(set(seqs))
    for start in range(0, len(wanted), _AT_ONCE):
        batch = wanted[start : start + _AT_ONCE]
        marks = ",".join("?" * len(batch))
        _put(connection, fetch(connection, f"SELECT e.seq, {LISTED} FROM entries e WHERE e.seq IN ({marks})", batch))


def seal_unsealed(connection: apsw.Connection) -> int:
    """Seals rows of versions without seals with their current values; gives their number."""
    sql = f"""SELECT e.seq, {LISTED} FROM entries e
              WHERE e.seq NOT IN (SELECT entry FROM seals) ORDER BY e.seq LIMIT {_AT_ONCE}"""
    count = 0
    while rows := fetch(connection, sql):
        _put(connection, rows)
        count += len(rows)
    return count


def broken_seals(
    connection: apsw.Connection, first: int = 0, last: int = LAST_SEQ
) -> Iterator[tuple[int, SqlRow, bytes]]:
    """Seq, sealed columns and seal of each entry from `first` to `last` whose row does not match its seal."""
    sql = f"""SELECT e.seq, s.seal, {LISTED} FROM entries e JOIN seals s ON s.entry = e.seq
              WHERE e.seq BETWEEN ? AND ? ORDER BY e.seq"""
    for seq, seal, *values in each(connection, sql, (first, last)):
        if seal_of(values) != seal:
            yield seq, tuple(values), seal


def _put(connection: apsw.Connection, rows: Sequence[SqlRow]) -> None:
    sql = "INSERT OR REPLACE INTO seals (entry, seal) VALUES (?, ?)"
    run_many(connection, sql, [(seq, seal_of(values)) for seq, *values in rows])
