"""Gives the room of deleted rows back to the disk: SQLite keeps it in the file, as free pages.

The database is written anew by VACUUM, which SQLite does whole or not at all, whatever kills it. While it runs other
processes cannot write: they wait five seconds (memory.cold.connection), and copying is some third of its time. So it
is given up where copying takes longer than 1.5 seconds: that store keeps its free pages, which new rows fill.
"""

import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import apsw
from msgspec import Struct

from foundation.files import status
from foundation.sizes import MEGABYTE, format_size, free_bytes
from memory.cold.sql import fetch, pragma
from memory.cold.store import ColdStore
from memory.errors import StoreError

LEAST_BYTES: Final = 16 * MEGABYTE
LEAST_SHARE: Final = 0.2
"""Less room than this, of the file, is left to new rows."""
COPYING_S: Final = 1.5
_STEPS: Final = 10_000  # of SQLite's machine between two looks at the clock: a millisecond


class FreeRoom(Struct, frozen=True):
    """What the database takes, and what of it is free pages, in bytes."""

    size: int
    free: int

    @property
    def is_worth_it(self) -> bool:
        return self.free >= LEAST_BYTES and self.free >= LEAST_SHARE * self.size


def free_room(cold: ColdStore) -> FreeRoom:
    """Quick: three numbers of the file's head. Raises StoreError."""

    def read(db: apsw.Connection) -> FreeRoom:
        page = pragma(db, "page_size")
        return FreeRoom(page * pragma(db, "page_count"), page * pragma(db, "freelist_count"))

    return cold.read(read)


def shrink(
    cold: ColdStore,
    should_stop: Callable[[], bool] = lambda: False,
    free_of: Callable[[Path], int | None] = free_bytes,
    copying_s: float | None = None,
) -> int:
    """Gives free pages back where that is much and there is room for a copy; how many bytes smaller the file is.

    0 where it is not worth it, was stopped, took too long, or another process was in the way: a later call tries again.
    Blocks. Raises StoreError for a store that cannot be read.
    """
    room = free_room(cold)
    if should_stop() or not room.is_worth_it or not _has_space(cold.database, room, free_of):
        return 0
    before = size_on_disk(cold.database)
    with suppress(StoreError, apsw.InterruptError):
        cold.empty_journal(vacuum=lambda db: vacuum(db, should_stop, COPYING_S if copying_s is None else copying_s))
    return max(0, before - size_on_disk(cold.database))


def vacuum(db: apsw.Connection, should_stop: Callable[[], bool], seconds: float) -> None:
    """Writes the database anew. Raises apsw.InterruptError where it is stopped, or where copying takes longer."""
    until = time.monotonic() + seconds
    handled = cast("Any", db)
    handled.set_progress_handler(lambda: should_stop() or time.monotonic() > until, _STEPS)
    try:
        fetch(db, "VACUUM")
    finally:
        handled.set_progress_handler(None)


def size_on_disk(database: Path) -> int:
    """Bytes of the database's file and of its log."""
    files = (database, database.with_name(f"{database.name}-wal"))
    return sum(found.st_size for path in files if (found := status(path)) is not None)


def freed_sentence(freed: int) -> str:
    """A sentence for a person; "" for less than a megabyte."""
    return f"The database is {format_size(freed)} smaller on disk." if freed >= MEGABYTE else ""


def _has_space(database: Path, room: FreeRoom, free_of: Callable[[Path], int | None]) -> bool:
    """Whether the copy, which SQLite makes among the temporary files, and its way through the log fit."""
    used = room.size - room.free
    places = ((database.parent, 2 * used), (Path(tempfile.gettempdir()), used))
    return all((free := free_of(folder)) is not None and free >= needed + LEAST_BYTES for folder, needed in places)
