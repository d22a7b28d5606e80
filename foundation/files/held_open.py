"""Files that this process may not open a second time: databases that SQLite has open here.

POSIX frees every lock that a process has on a file when the process closes any descriptor of that file. SQLite's locks
would be gone: another process would take the database for unused, delete its journal, and write over it
(https://sqlite.org/howtocorrupt.html, section 2.2). Such a file is read through SQLite alone.
"""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from foundation.files.folders import WINDOWS, FileLocation
from foundation.files.refusals import held_open

INDEX = "-shm"
"""The ending of the file beside a database in which SQLite keeps the locks of its journal."""

_held: dict[tuple[int, int], list[Path]] = {}  # by device and inode: one path a connection
_guard = threading.Lock()


def hold(path: Path) -> Callable[[], None]:
    """Registers an open database; the result releases it, and is to be called once. One that is no file needs none."""
    try:
        inode = _inode(path.stat())
    except OSError:
        return lambda: None
    with _guard:
        _held.setdefault(inode, []).append(path)

    def release() -> None:
        with _guard:
            paths = _held[inode]
            paths.remove(path)
            if not paths:
                del _held[inode]

    return release


def is_held(path: Path) -> bool:
    """Whether it is a database that is open in this process, by whatever name."""
    return _held_as(path.name, lambda: os.lstat(path)) == ""


def is_held_index(path: Path) -> bool:
    """Whether it is the index of such a database's journal, which holds numbers of pages alone."""
    return _held_as(path.name, lambda: os.lstat(path)) == INDEX


def refuse_held(path: Path, location: FileLocation) -> None:
    """Raises UnsafePath for a database that is open in this process, and for the index of its journal.

    Windows keeps the locks of each descriptor apart, and nothing is refused there.
    """
    folder, name = location
    if not WINDOWS and _held_as(name, lambda: os.stat(name, dir_fd=folder, follow_symlinks=False)) is not None:
        raise held_open(path)


def _held_as(name: str, stat: Callable[[], os.stat_result]) -> str | None:
    """The ending that it has beside a database that is open here, "" for the database itself; None for other files."""
    if not _held:
        return None
    try:
        found = _inode(stat())
    except OSError:
        return None
    with _guard:
        databases = {path for paths in _held.values() for path in paths}
        if found in _held:
            return ""
    is_index = name.casefold().endswith(INDEX) and any(_is_index(database, found) for database in databases)
    return INDEX if is_index else None


def _is_index(database: Path, inode: tuple[int, int]) -> bool:
    with suppress(OSError):
        return inode == _inode(database.with_name(database.name + INDEX).stat())
    return False


def _inode(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino
