"""Untrusted stores: read in place, or from a copy where reading would change files."""

import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import apsw

from foundation.files import UnsafePath, open_for_reading, open_new, remove_tree, resolve_path, status
from memory.cold.connection import connect, make_place
from memory.cold.read_only import connect_immutable, connect_read_only, has_journal
from memory.cold.schema import is_older, migrate, refuse_foreign_parts
from memory.errors import CannotOpen

T = TypeVar("T")
MOST_COPIED = 2**28
"""Bytes of a store with its journal that are copied for one question: below a second's work."""
LONGEST = 5.0
"""Seconds that one question may take: pages that refer to each other in circles or over and over take for ever."""


def untouched(path: Path, scratch: Path) -> Callable[[], apsw.Connection]:
    """Opens the store at `path` for reading, with the newest schema. Writes only below `scratch`.

    Where its journal has pages or a migration is due, it reads a copy; where there is no store, an empty one. Raises
    apsw.Error, UnsafePath, CannotOpen, Damaged.
    """
    there = os.path.lexists(path)
    if there and not has_journal(path) and not _is_older(path):
        return lambda: connect_immutable(path)
    copy = _place(path, scratch)
    if there:
        _copy(path, copy)
    _bring_forward(copy)
    return lambda: connect_read_only(copy)


def ask(path: Path, question: Callable[[apsw.Connection], T]) -> T:
    """The answer of the store at `path` as it stands, with what is in its journal alone. Writes nothing beside it.

    Where the journal has pages, a copy is asked. Raises apsw.Error, UnsafePath, OSError; CannotOpen where there is too
    much to copy, no space, or another process is writing; apsw.InterruptError where the answer takes too long.
    """
    if not has_journal(path):
        return _ask(connect_immutable(path), question)
    scratch = resolve_path(Path(tempfile.mkdtemp(prefix="palimpsest-")))
    try:
        copy = _place(path, scratch)
        before = status(path)
        size = _size(path)
        if size > MOST_COPIED:
            raise _no_copy(path, copy, f"{size:,} bytes are too many for one question")
        _copy(path, copy)
        if (after := status(path)) is None or before is None or after.st_mtime_ns != before.st_mtime_ns:
            raise _no_copy(path, copy, "its journal was moved into it meanwhile")
        return _ask(connect_read_only(copy), question)
    finally:
        remove_tree(scratch)


def _ask(connection: apsw.Connection, question: Callable[[apsw.Connection], T]) -> T:
    with closing(connection):
        timer = threading.Timer(LONGEST, connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            return question(connection)
        finally:
            timer.cancel()
            timer.join()


def _is_older(path: Path) -> bool:
    db = connect_immutable(path)
    try:
        refuse_foreign_parts(db)
        return is_older(db)
    finally:
        db.close()


def _copy(path: Path, copy: Path) -> None:
    """Copies the store and its journal. Raises CannotOpen where there is no space for it."""
    names = _names(path)
    needed = 2 * _size(path)  # a migration may rewrite every page
    if shutil.disk_usage(copy.parent).free < needed:
        raise _no_copy(path, copy, f"{needed:,} bytes are needed there")
    try:
        for name in names:
            with open_for_reading(path.with_name(name)) as source, open_new(copy.with_name(name)) as target:
                shutil.copyfileobj(source, target)
    except UnsafePath:
        raise
    except OSError as error:
        raise _no_copy(path, copy, error.strerror or str(error)) from error


def _place(path: Path, scratch: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix="store-", dir=scratch)) / path.name


def _names(path: Path) -> list[str]:
    return [path.name, path.name + "-wal"] if has_journal(path) else [path.name]


def _size(path: Path) -> int:
    """Bytes of the store and its journal."""
    found = [status(path.with_name(name)) for name in _names(path)]
    return sum(file.st_size for file in found if file is not None)


def _no_copy(path: Path, copy: Path, why: str) -> CannotOpen:
    return CannotOpen(
        "Cannot open the store",
        f"{path} is read from a copy, which cannot be made in {copy.parent.parent.parent}: {why}.",
        "Free some space there, or set TMPDIR to another folder.",
    )


def _bring_forward(copy: Path) -> None:
    make_place(copy)
    db = connect(copy, synchronous="off")
    try:
        refuse_foreign_parts(db)
        migrate(db)
    finally:
        db.close()
