"""Schema migrations: the numbered SQL files of migrations/, forward only, all due ones in one transaction."""

import functools
from collections.abc import Generator, Sequence
from importlib.resources import files

import apsw
from msgspec import Struct

from foundation.program import PROGRAM
from memory.cold.integrity.foreign_objects import foreign_parts
from memory.cold.integrity.row_hashes import seal_unsealed
from memory.cold.integrity.row_seals import fill_seals
from memory.cold.sql import SqlRow, fetch, pragma, run
from memory.errors import CannotOpen, Damaged
from memory.names import shown

APPLICATION_ID = 0x50414C49  # "PALI"
SEALED = 4  # the first schema in which every entry has a seal


class Migration(Struct, frozen=True):
    number: int
    sql: str


def released() -> tuple[Migration, ...]:
    """The migrations of this program, in order."""
    names = sorted(f.name for f in files("memory.cold").joinpath("migrations").iterdir() if f.name.endswith(".sql"))
    return tuple(
        Migration(int(name[:4]), files("memory.cold").joinpath("migrations", name).read_text("utf-8")) for name in names
    )


def migrate(connection: apsw.Connection, migrations: Sequence[Migration] | None = None) -> int:
    """Migrates the store to the newest schema; gives its number.

    Raises CannotOpen where the store is of a newer program, or of another one; Damaged where the number in its header
    is not that of its tables.
    """
    ours = migrations is None
    migrations = released() if migrations is None else migrations
    newest = migrations[-1].number
    if _version(connection) == newest and _application(connection) == APPLICATION_ID:
        return newest
    run(connection, "BEGIN IMMEDIATE")  # so that two processes do not both begin
    try:
        run(connection, "PRAGMA defer_foreign_keys = ON")
        found = _version(connection)
        if ours:
            _refuse_damaged(connection, found)
        _refuse_foreign(connection, found, newest)
        _run_due(connection, migrations, found, ours=ours)
        if ours and found < SEALED:
            seal_unsealed(connection)
        if ours:
            fill_seals(connection)
        run(connection, f"PRAGMA user_version = {newest}")
        run(connection, f"PRAGMA application_id = {APPLICATION_ID}")
        run(connection, "COMMIT")
    finally:
        if connection.in_transaction:
            run(connection, "ROLLBACK")
    return newest


def schema_of(connection: apsw.Connection) -> int | None:
    """The released schema whose tables, columns, indexes and triggers the store has; None where it is none of them."""
    parts = _parts(connection)
    return next((number for number, known in _released_parts().items() if known == parts), None)


@functools.cache
def _released_parts() -> dict[int, frozenset[SqlRow]]:
    """The parts of each released schema, the newest first."""
    parts = {number: _parts(empty) for number, empty in empty_stores()}
    return dict(reversed(parts.items()))


def empty_stores() -> Generator[tuple[int, apsw.Connection]]:
    """The tables of each released schema with its number, the oldest first: one database in memory that grows."""
    empty = apsw.Connection(":memory:")
    try:
        for migration in released():
            run(empty, migration.sql)
            yield migration.number, empty
    finally:
        empty.close()


def _parts(connection: apsw.Connection) -> frozenset[SqlRow]:
    ours = "name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    parts = fetch(connection, f"SELECT type, name, tbl_name FROM sqlite_schema WHERE {ours}")
    tables = [name for kind, name, _ in parts if kind == "table"]
    columns = [("column", table, row[0]) for table in tables for row in fetch(connection, _COLUMNS, (table,))]
    return frozenset((*parts, *columns))


_COLUMNS = "SELECT name FROM pragma_table_info(?)"


def _run_due(connection: apsw.Connection, migrations: Sequence[Migration], found: int, *, ours: bool) -> None:
    try:
        for migration in migrations:
            if migration.number > found:
                run(connection, migration.sql)
    except apsw.SQLError as error:
        if not ours:
            raise
        raise Damaged(
            "Damaged store",
            f"The database cannot be migrated from schema {found} to {migrations[-1].number}: {error}.",
            f"`{PROGRAM} check --repair` copies its rows to a new database and keeps a copy of this one.",
        ) from error


def _refuse_damaged(connection: apsw.Connection, found: int) -> None:
    """Raises Damaged where a number in the header is not that of the tables: no migration may run over these."""
    actual, is_marked = schema_of(connection), _application(connection) == APPLICATION_ID
    if actual is None or (actual == found and is_marked):
        return
    says = f"says that it has schema {found}" if is_marked else "is not marked as a store of this program"
    raise Damaged(
        "Damaged store",
        f"The header of the database is damaged: it {says}, and its tables are those of schema {actual}.",
        f"`{PROGRAM} check --repair` corrects it and keeps a copy first.",
    )


def is_older(connection: apsw.Connection) -> bool:
    """Whether a migration is due. Raises CannotOpen for the store of a newer program or of another one, and Damaged."""
    newest, found = released()[-1].number, _version(connection)
    if found != newest or _application(connection) != APPLICATION_ID:
        _refuse_damaged(connection, found)
        _refuse_foreign(connection, found, newest)
    return found < newest


def require_newest(connection: apsw.Connection) -> None:
    """Raises CannotOpen unless a read-only store has this program's schema."""
    if is_older(connection):
        newest, found = released()[-1].number, _version(connection)
        raise CannotOpen(
            "The store is older than this program",
            f"It must be migrated from schema {found} to {newest}, but it is read-only.",
            "Copy the whole workspace to a writable location and open it there.",
        )


def refuse_foreign_parts(connection: apsw.Connection) -> None:
    """Raises Damaged where the store has a trigger, a view or a virtual table that is not of our schema."""
    if found := foreign_parts(connection):
        kind, name = found[0]
        raise Damaged(
            "Foreign parts in the store",
            f"The database contains the {kind} {shown(name)}, which Palimpsest did not create. It was not run.",
            f"`{PROGRAM} check --repair` copies the rows to a new database without it and keeps a copy of this one.",
        )


def _refuse_foreign(connection: apsw.Connection, found: int, newest: int) -> None:
    if found > newest:
        raise CannotOpen(
            "The store is newer than this program",
            f"It has schema {found}; this version supports schemas up to {newest}.",
            "Upgrade palimpsest; the database was not changed.",
        )
    ours = _application(connection) == APPLICATION_ID
    empty = not fetch(connection, "SELECT 1 FROM sqlite_schema LIMIT 1")
    if not ours and not empty:
        raise CannotOpen(
            "Not a Palimpsest database",
            "The file is an SQLite database of another program.",
            "Move it away, or choose another workspace.",
        )


def _version(connection: apsw.Connection) -> int:
    return pragma(connection, "user_version")


def _application(connection: apsw.Connection) -> int:
    return pragma(connection, "application_id")
