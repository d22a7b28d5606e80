"""A copy of the database as of one moment, made while other processes write to it."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from foundation.files import make_private_file, status
from foundation.paths import Workspace
from foundation.sizes import format_size
from memory.backup.errors import BackupDiskFull
from memory.cold.connection import connect, open_store
from memory.cold.read_only import connect_read_only
from memory.cold.sql import fetch, run
from memory.cold.sqlite_errors import sentences
from memory.cold.untrusted_store import untouched
from memory.errors import StoreFull

_STEP = 100  # pages, between which others write


def copy_database(
    workspace: Workspace,
    target: Path,
    while_locked: Callable[[], None] = lambda: None,
    on_step: Callable[[], None] = lambda: None,
) -> None:
    """Copies the database to `target` by SQLite's own backup. Raises StoreError, Damaged, BackupDiskFull.

    `while_locked` runs when the moment of the copy is chosen, while no process writes: what it reads belongs to it. A
    read transaction is held for the whole copy: otherwise each write of another process would begin it anew.
    """
    make_private_file(target)
    try:
        with sentences(workspace.database):
            source = _connected(workspace)
            try:
                with _no_writes(workspace):
                    run(source, "BEGIN")
                    fetch(source, "SELECT count(*) FROM sqlite_schema")  # the transaction begins with its first read
                    while_locked()
                _copy(source, target, on_step)
            finally:
                source.close()
    except StoreFull as error:
        raise workspace_full(workspace) from error


def workspace_full(workspace: Workspace) -> BackupDiskFull:
    """The error where the copy of the database finds no space."""
    size = found.st_size if (found := status(workspace.database)) is not None else 0
    return BackupDiskFull(
        "The disk of the workspace is full",
        f"No space is left in {workspace.own} for the temporary copy of the database ({format_size(size)}). "
        "No snapshot was made; earlier ones are intact.",
        "Free some space on the disk of the workspace, then run it again.",
    )


def _copy(source: apsw.Connection, target: Path, on_step: Callable[[], None]) -> None:
    copy = open_store(target)
    try:
        run(copy, "PRAGMA synchronous = OFF")  # a copy that a power cut damages is made again
        with copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(_STEP)
                on_step()
    finally:
        copy.close()


@contextmanager
def _no_writes(workspace: Workspace) -> Generator[None]:
    """Holds the lock of writers, where the database can be written to at all. Nothing is written."""
    if workspace.scratch is not None:
        yield
        return
    try:
        writer = connect(workspace.database)
    except (apsw.CantOpenError, apsw.ReadOnlyError, PermissionError):  # a read-only disk, or another's
        yield
        return
    try:
        run(writer, "BEGIN IMMEDIATE")
        yield
        run(writer, "ROLLBACK")
    finally:
        writer.close()


def _connected(workspace: Workspace) -> apsw.Connection:
    if workspace.scratch is not None:  # nothing may be written beside it
        return untouched(workspace.database, workspace.scratch)()
    try:
        return connect(workspace.database, writes=False)
    except (apsw.CantOpenError, apsw.ReadOnlyError, PermissionError):
        return connect_read_only(workspace.database)
