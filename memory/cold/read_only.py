"""Read-only stores: on a read-only file system, of another person, or untrusted."""

import errno
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, TypeVar

import apsw

from foundation.files import check_store, is_own, status
from memory.cold.connection import BUSY_MS, StoreConnection, harden
from memory.cold.sql import fetch, run
from memory.cold.writer import Writer
from memory.errors import CannotOpen, MemoryFailure, ReadOnly

T = TypeVar("T")

REFUSALS = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
"""What the system says where a folder or file may not be written to."""

FIRST_ENTRY = "SELECT id FROM entries ORDER BY seq LIMIT 1"
"""By which the record of a trusted workspace recognises its store."""

_IMMUTABLE = "immutable=1"
_BESIDE = ("-wal", "-shm")
_WAL_HEADER = 32  # bytes; a journal of this size holds no page


def connect_read_only(path: Path, vfs: str | None = None) -> apsw.Connection:
    """Opens a connection that changes nothing in the store. Raises apsw.Error, CannotOpen.

    SQLite reads a store in WAL mode only with the index of its journal beside it. Where that cannot be created, or the
    store is another user's, whom files of this user would lock out, the store is read as an immutable file. That is
    correct only while the journal is empty.
    """
    if _creates_nothing(path):
        with suppress(apsw.CantOpenError, apsw.ReadOnlyError):
            return _connect(path, "mode=ro", vfs)
    if has_journal(path):
        journal = path.name + "-wal"
        raise CannotOpen(
            "Cannot open the store",
            f"{path} is read-only, and its latest entries are in {journal}, which can only be read with write access.",
            "Copy the whole workspace to a writable location and open it there.",
        )
    return _connect(path, _IMMUTABLE, vfs)


def connect_immutable(path: Path, vfs: str | None = None) -> apsw.Connection:
    """Opens a connection for which SQLite creates no file; it ignores the journal. Raises apsw.Error.

    Opens only a regular file, and follows no link; raises UnsafePath for anything else.
    """
    return _connect(path, _IMMUTABLE, vfs)


def _creates_nothing(path: Path) -> bool:
    """Whether the store is the user's own, or what SQLite would create beside it is there."""
    there = status(path)
    return there is None or is_own(there) or all(status(path.with_name(path.name + each)) for each in _BESIDE)


def has_journal(path: Path) -> bool:
    """Whether the journal has pages that are not in the store's file."""
    found = status(path.with_name(path.name + "-wal"))
    return found is not None and found.st_size > _WAL_HEADER


def _connect(path: Path, option: str, vfs: str | None) -> apsw.Connection:
    check_store(path, owned=False)
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOFOLLOW
    uri = f"{path.absolute().as_uri()}?{option}"
    if option == _IMMUTABLE:  # SQLite takes no lock
        connection = apsw.Connection(uri, flags=flags, vfs=vfs)
    else:
        connection = StoreConnection(path, uri, flags=flags, vfs=vfs)
    try:
        connection.set_busy_timeout(BUSY_MS)
        harden(connection)
        run(connection, "PRAGMA query_only = 1")
        fetch(connection, "SELECT count(*) FROM sqlite_schema")  # fails here if the file cannot be read
    except BaseException:
        connection.close()
        raise
    return connection


class ReadOnlyWriter(Writer):
    """The writer of a store that cannot be written: refuses each attempt with a readable error."""

    def __init__(self, refusal: Callable[[], MemoryFailure]) -> None:  # no thread, no connection
        self.refusal = refusal

    def run(self, transaction: Callable[[apsw.Connection], T]) -> T:
        self._refuse()

    def run_bare(self, work: Callable[[apsw.Connection], T]) -> T:
        self._refuse()

    def later(self, transaction: Callable[[apsw.Connection], T], seconds: float) -> "Future[T]":
        self._refuse()

    def close(self) -> None:
        """Does nothing: no write is pending."""

    def _refuse(self) -> NoReturn:
        raise self.refusal()


def read_only(path: Path) -> ReadOnly:
    """The error for an attempt to write."""
    for beside in (path.with_name(path.name + each) for each in _BESIDE):
        if (there := status(beside)) is not None and not is_own(there):
            return ReadOnly(
                "The workspace is read-only",
                f"{beside} belongs to another user (number {there.st_uid}), so nothing can be added.",
                "Close the workspace everywhere; if the file stays, delete it.",
            )
    return ReadOnly(
        "The workspace is read-only",
        f"{path.parent} is read-only: you can read and search it, but not add anything.",
        "Check the permissions of the folder and how the disk is mounted, or copy the workspace elsewhere.",
    )
