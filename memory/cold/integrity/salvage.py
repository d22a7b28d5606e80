"""Salvages a damaged store: copies every row that SQLite can still read into a new store.

The new store replaces the old one only when it is complete on disk; the old files are copied first.
"""

from contextlib import suppress
from pathlib import Path

import apsw
from msgspec import Struct

from foundation.files import (
    exists,
    make_private_file,
    make_private_folder,
    read_bytes,
    remove,
    replace,
    sync_file,
    sync_folder,
    write_atomically,
)
from memory.cold.connection import connect, harden, open_store
from memory.cold.integrity.cut_off import with_its_own_length
from memory.cold.integrity.readable_rows import ReadableRows
from memory.cold.integrity.row_hashes import seal_rows, seal_unsealed
from memory.cold.integrity.row_seals import fill_seals
from memory.cold.integrity.schema_text import put_schema_right
from memory.cold.schema import migrate
from memory.cold.sql import fetch, run

_BESIDE = ("", "-wal", "-shm")


class SalvageResult(Struct, frozen=True):
    """Number of copied rows, and the tables in which some could not be read."""

    rows: int
    broken: tuple[str, ...]


def salvage_store(database: Path, kept: Path) -> SalvageResult:
    """Replaces `database` by a store of its readable rows; copies its files to the folder `kept` first.

    No other program may have it open.
    """
    copy_store(database, kept)
    new = database.with_name(f"{database.name}.rebuilding")
    for ending in _BESIDE:
        remove(new.with_name(new.name + ending), missing_ok=True)
    make_private_file(new)
    found = _salvaged(database, kept, new)
    sync_file(new)
    _fold_in(database)
    for ending in _BESIDE[1:]:  # SQLite would take the old journal for the new store's
        remove(database.with_name(database.name + ending), missing_ok=True)
    replace(new, database)
    sync_folder(database.parent)
    return found


def copy_store(database: Path, kept: Path) -> None:
    """Copies the database and what SQLite keeps beside it to the folder `kept`. Raises OSError."""
    make_private_folder(kept.parent)
    make_private_folder(kept)
    for ending in _BESIDE:
        if exists(file := database.with_name(database.name + ending)):
            write_atomically(kept / file.name, read_bytes(file, owned=True))


def _salvaged(database: Path, kept: Path, new: Path) -> SalvageResult:
    """Copies the rows from a private copy, whose header and schema are put right. The kept one stays as it was."""
    private = database.with_name(f"{database.name}.salvaging")
    try:
        for ending in _BESIDE[:2]:
            remove(private.with_name(private.name + ending), missing_ok=True)
            if exists(file := kept / (database.name + ending)):
                raw = read_bytes(file, owned=True)
                write_atomically(private.with_name(private.name + ending), with_its_own_length(raw))
        with suppress(apsw.Error):  # not a database, or its schema cannot be read
            put_schema_right(private)
        return _copied(private, new)
    finally:
        for ending in _BESIDE:
            remove(private.with_name(private.name + ending), missing_ok=True)


def _fold_in(database: Path) -> None:
    """Checkpoints the old store's journal into it, where SQLite can, so that the newest rows are never missing."""
    with suppress(apsw.Error):
        old = open_store(database)
        try:
            fetch(old, "PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            old.close()


def _copied(old: Path, new: Path) -> SalvageResult:
    target = connect(new)
    try:
        migrate(target)
        run(target, "PRAGMA foreign_keys = OFF")
        rows, broken = 0, list[str]()
        source = open_store(old)
        try:
            with suppress(apsw.Error):  # not a database: no row is read below either
                harden(source)
            for table in _tables(target):
                count, whole = _table(source, target, table)
                rows += count
                if not whole:
                    broken.append(table)
        finally:
            source.close()
        _drop_orphans(target)
        seal_unsealed(target)
        fill_seals(target)
        fetch(target, "PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        target.close()
    return SalvageResult(rows, tuple(broken))


def _tables(db: apsw.Connection) -> list[str]:
    sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    return [row[0] for row in fetch(db, sql)]


def _table(source: apsw.Connection, target: apsw.Connection, table: str) -> tuple[int, bool]:
    try:
        there = {row[1] for row in fetch(source, f"PRAGMA table_info({table})")}
    except apsw.Error:
        return 0, False
    columns = [row[1] for row in fetch(target, f"PRAGMA table_info({table})") if row[1] in there]
    if not columns:
        return 0, False
    listed, marks = ", ".join(columns), ", ".join("?" * len(columns))
    count, rows = 0, ReadableRows(source, table, columns)
    run(target, "BEGIN IMMEDIATE")
    for row in rows:
        run(target, f"INSERT OR IGNORE INTO {table} ({listed}) VALUES ({marks})", row)
        count += target.changes()
    run(target, "COMMIT")
    return count, rows.is_whole


def _drop_orphans(db: apsw.Connection) -> None:
    """Fixes rows that refer to lost rows: an entry loses its parent, a conversation its leaf, others are deleted."""
    run(db, "UPDATE conversations SET leaf = NULL WHERE leaf NOT IN (SELECT seq FROM entries)")
    orphans = fetch(db, "SELECT seq FROM entries WHERE parent NOT IN (SELECT seq FROM entries)")
    run(db, "UPDATE entries SET parent = NULL WHERE parent NOT IN (SELECT seq FROM entries)")
    seal_rows(db, [seq for (seq,) in orphans])
    run(
        db,
        """INSERT OR IGNORE INTO conversations (seq, id, created_ms, updated_ms)
           SELECT conversation, 'c_lost' || conversation, min(time_ms), max(time_ms) FROM entries
           WHERE conversation NOT IN (SELECT seq FROM conversations) GROUP BY conversation""",
    )
    while broken := fetch(db, "PRAGMA foreign_key_check"):
        for table, rowid, _parent, _ in broken:
            if rowid is None:
                _drop_keyed(db, table)
            else:
                run(db, f"DELETE FROM {table} WHERE rowid = ?", (rowid,))
    run(
        db,
        """UPDATE conversations SET leaf = (SELECT max(seq) FROM entries WHERE conversation = conversations.seq)
           WHERE leaf IS NULL""",
    )


def _drop_keyed(db: apsw.Connection, table: str) -> None:
    """Deletes orphans of a table without row numbers."""
    for row in fetch(db, f"PRAGMA foreign_key_list({table})"):
        parent, column, other = row[2], row[3], row[4]
        run(db, f"DELETE FROM {table} WHERE {column} NOT IN (SELECT {other} FROM {parent})")
