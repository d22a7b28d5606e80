"""Gives the room of deleted rows back to the disk: SQLite keeps it in the file, as free pages.

The database is written anew by VACUUM, which SQLite does whole or not at all, whatever kills it. While it runs other
processes cannot write: they wait five seconds (memory.cold.connection), and copying is some third of its time. So it
is given up where copying takes longer than 1.5 seconds: that store keeps its free pages, which new rows fill, until a
person has it shrunk without a limit, while no other process has it open.
"""

import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from math import inf
from pathlib import Path
from typing import Any, Final, cast

import apsw
from msgspec import Struct

from foundation.files import status
from foundation.program import PROGRAM
from foundation.sizes import MEGABYTE, format_size, free_bytes
from memory.cold.connection import BUSY_MS, harden, open_store
from memory.cold.sql import fetch, pragma
from memory.cold.sqlite_errors import sentences
from memory.cold.store import ColdStore
from memory.errors import StoreBusy, StoreError, StoreFull

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
    return cold.read(_room)


def _room(db: apsw.Connection) -> FreeRoom:
    page = pragma(db, "page_size")
    return FreeRoom(page * pragma(db, "page_count"), page * pragma(db, "freelist_count"))


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


def shrink_alone(database: Path, free_of: Callable[[Path], int | None] = free_bytes) -> tuple[int, int]:
    """Gives all free pages back, however long it takes; the bytes on disk before and after.

    No other connection may have the store open, in this process or another, and none opens it meanwhile. Blocks; an
    exception, as by Ctrl+C, leaves the store as it was, or smaller where SQLite was about to end. Raises StoreBusy if
    it is open, StoreFull where there is no room for the copy, StoreError.
    """
    with sentences(database), closing(open_store(database)) as db:
        db.set_busy_timeout(BUSY_MS)
        fetch(db, "PRAGMA locking_mode = EXCLUSIVE")
        try:
            room = _room(db)
            harden(db)
        except apsw.BusyError as error:
            raise StoreBusy(
                "Another process has the workspace open",
                f"{database} cannot be shrunk while it is open elsewhere. Nothing was changed.",
                "Close other windows and commands of Palimpsest, then run it again.",
            ) from error
        before = size_on_disk(database)
        if not room.free:
            return before, before
        for folder, needed in _space_needed(database, room):
            if (free := free_of(folder)) is not None and free < needed:
                raise StoreFull(
                    "Not enough room",
                    f"The copy of the database needs {format_size(needed)} in {folder}, but only "
                    f"{format_size(free)} are free. Nothing was changed.",
                    "Free some space there, then run it again.",
                )
        vacuum(db, lambda: False, inf)
        fetch(db, "PRAGMA wal_checkpoint (TRUNCATE)")
    return before, size_on_disk(database)


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


def left_sentence(room: FreeRoom) -> str:
    """What of deleted rows is left in the file, and the command that gives it back; "" where that is not much."""
    return (
        f"{format_size(room.free)} of the database's {format_size(room.size)} are free for new rows; "
        f"`{PROGRAM} retention --shrink` returns them to the disk."
        if room.is_worth_it
        else ""
    )


def _has_space(database: Path, room: FreeRoom, free_of: Callable[[Path], int | None]) -> bool:
    """Whether the copy fits. Unknown room is none."""
    return all((free := free_of(folder)) is not None and free >= size for folder, size in _space_needed(database, room))


def _space_needed(database: Path, room: FreeRoom) -> tuple[tuple[Path, int], ...]:
    """Bytes for the copy, which SQLite makes among the temporary files, and for its way through the log, by folder."""
    used = room.size - room.free
    return (database.parent, 2 * used + LEAST_BYTES), (Path(tempfile.gettempdir()), used + LEAST_BYTES)
