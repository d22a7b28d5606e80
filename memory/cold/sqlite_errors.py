"""SQLite's errors as readable errors."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from foundation.program import PROGRAM
from memory.errors import AlreadyExists, CannotOpen, Damaged, MemoryFailure, StoreBusy, StoreError, StoreFull


@contextmanager
def sentences(path: Path) -> Generator[None]:
    """Converts SQLite's errors about the store at `path` into errors of this package."""
    try:
        yield
    except apsw.Error as error:
        raise explained(error, path) from error
    except UnicodeDecodeError as error:  # after a flipped bit, SQLite returns invalid UTF-8
        raise _damaged(error, path) from error


def explained(error: apsw.Error, path: Path) -> MemoryFailure:
    """The readable error for one of SQLite's."""
    if isinstance(error, apsw.IOError) and _no_space(error):
        return _full(error, path)
    for kinds, sentence in _SENTENCES:
        if isinstance(error, kinds):
            return sentence(error, path)
    return StoreError(
        "The store failed",
        f"SQLite failed on {path}: {error}.",
        f"Try again; if it persists, run `{PROGRAM} check --repair`.",
    )


def _full(_: apsw.Error, path: Path) -> StoreFull:
    return StoreFull(
        "No space is left",
        f"{path} could not grow: the disk is full. Nothing was written; data stored before is safe.",
        "Free some space, then try again.",
    )


def _busy(_: apsw.Error, path: Path) -> StoreBusy:
    return StoreBusy(
        "The store is busy",
        f"Another program kept {path} locked for too long.",
        "Close the other palimpsest, or try again when it has finished.",
    )


def _damaged(error: Exception, path: Path) -> Damaged:
    return Damaged(
        "Damaged store",
        f"{path} is not an intact SQLite database: {error}.",
        f"`{PROGRAM} check --repair` repairs what can be repaired and keeps a copy first.",
    )


def _cannot_open(error: apsw.Error, path: Path) -> CannotOpen:
    return CannotOpen(
        "Cannot open the store",
        f"{path} cannot be opened for writing: {error}.",
        "Check the permissions of the file and its folder, and whether the disk is mounted.",
    )


def _constraint(error: apsw.Error, path: Path) -> StoreError:
    if "UNIQUE" in str(error):
        return AlreadyExists("Already exists", f"The database already contains that: {error}.", "Use another id.")
    return StoreError("The store refused it", f"{path} does not contain what this refers to: {error}.")


_SENTENCES: tuple[tuple[tuple[type[apsw.Error], ...], Callable[[apsw.Error, Path], MemoryFailure]], ...] = (
    ((apsw.FullError,), _full),
    ((apsw.BusyError, apsw.LockedError), _busy),
    ((apsw.CorruptError, apsw.NotADBError), _damaged),
    ((apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError), _cannot_open),
    ((apsw.ConstraintError,), _constraint),
)


def _no_space(error: apsw.Error) -> bool:
    """Whether an I/O error is due to a full disk: on opening, the shared memory file needs space first."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE
