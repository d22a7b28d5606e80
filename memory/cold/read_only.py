"""A store that may be read and not written: on a read-only file system, or another person's."""

import errno
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import NoReturn, TypeVar

import apsw

from foundation.files import check_store, status
from memory.cold.connection import BUSY_MS
from memory.cold.sql import fetch, run
from memory.cold.writer import Writer
from memory.errors import CannotOpen, ReadOnly

T = TypeVar("T")

REFUSALS = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
"""What the system says where a folder or file may not be written to."""


def connect_read_only(path: Path, vfs: str | None = None) -> apsw.Connection:
    """A connection that writes nothing, not even beside the store. Raises apsw.Error, CannotOpen.

    SQLite reads a store in WAL mode only with the index of its journal beside it. Where that cannot be made, the
    store is read as a file that does not change, which is right only where the journal holds nothing.
    """
    try:
        return _opened(path, "mode=ro", vfs)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        journal = path.with_name(path.name + "-wal")
        if (found := status(journal)) is not None and found.st_size:
            raise CannotOpen(
                "Cannot open the store",
                f"{path} cannot be written to, and its newest words stand in {journal.name}, which is read only there.",
                "Copy the whole workspace to a place that can be written to, and open it there.",
            ) from None
    return _opened(path, "immutable=1", vfs)


def _opened(path: Path, how: str, vfs: str | None) -> apsw.Connection:
    check_store(path, owned=False)
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOFOLLOW
    connection = apsw.Connection(f"{path.absolute().as_uri()}?{how}", flags=flags, vfs=vfs)
    try:
        connection.set_busy_timeout(BUSY_MS)
        for pragma in ("query_only = 1", "trusted_schema = 0"):
            run(connection, f"PRAGMA {pragma}")
        fetch(connection, "SELECT count(*) FROM sqlite_schema")  # only reading tells whether it can be read
    except BaseException:
        connection.close()
        raise
    return connection


class NoWriter(Writer):
    """In a writer's place where nothing can be written: each attempt is refused in a sentence."""

    def __init__(self, path: Path) -> None:  # no thread, no connection
        self._path = path

    def run(self, transaction: Callable[[apsw.Connection], T]) -> T:
        self._refuse()

    def run_bare(self, work: Callable[[apsw.Connection], T]) -> T:
        self._refuse()

    def later(self, transaction: Callable[[apsw.Connection], T], seconds: float) -> "Future[T]":
        self._refuse()

    def close(self) -> None:
        """Nothing is due."""

    def _refuse(self) -> NoReturn:
        raise read_only(self._path)


def read_only(path: Path) -> ReadOnly:
    """The sentence for whoever wants to write."""
    return ReadOnly(
        "The workspace is read-only",
        f"{path.parent} cannot be written to: what it holds can be read and searched, and nothing can be added.",
        "Look at the rights of the folder and how the disk is mounted, or copy the workspace to a place of yours.",
    )
