"""What SQLite says, as sentences."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from memory.errors import AlreadyThere, CannotOpen, Damaged, MemoryTrouble, StoreBusy, StoreFull, StoreTrouble


@contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Turns what SQLite raises about the store at `path` into this room's errors."""
    try:
        yield
    except apsw.Error as error:
        raise explained(error, path) from error


def explained(error: apsw.Error, path: Path) -> MemoryTrouble:
    """This room's error for SQLite's."""
    match error:
        case apsw.FullError():
            return _full(path)
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(
                "The store is busy",
                f"Another program kept {path} locked for too long.",
                "Close the other palimpsest, or try again when it has finished.",
            )
        case apsw.CorruptError() | apsw.NotADBError():
            return Damaged(
                "Damaged store",
                f"{path} is not a whole SQLite database: {error}.",
                "Run `palimpsest check`, and restore the workspace from a backup.",
            )
        case apsw.ConstraintError() if "UNIQUE" in str(error):
            return AlreadyThere("Already there", f"The store holds that already: {error}.", "Use another id.")
        case apsw.CantOpenError() | apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.AuthError():
            return CannotOpen(
                "Cannot open the store",
                f"{path} cannot be opened for writing: {error}.",
                "Look at the rights of the file and its folder, and whether the disk is mounted.",
            )
        case apsw.IOError() if _no_space(error):
            return _full(path)
        case _:
            return StoreTrouble("The store failed", f"SQLite could not work on {path}: {error}.", "See the log.")


def _full(path: Path) -> StoreFull:
    return StoreFull(
        "No space is left",
        f"{path} could not grow: the disk is full. Nothing of this was written, and all that came before is safe.",
        "Free some space, then send it again.",
    )


def _no_space(error: BaseException) -> bool:
    """Whether the system's own error, where a file of ours raised it, is about space."""
    cause = error.__cause__ or error.__context__
    return isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT)
