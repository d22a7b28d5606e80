"""Untrusted stores: read in place, or from a copy where reading would change files."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import apsw

from foundation.files import UnsafePath, open_for_reading, open_new, status
from memory.cold.connection import connect, make_place
from memory.cold.read_only import connect_immutable, connect_read_only, has_journal
from memory.cold.schema import is_older, migrate, refuse_foreign_parts
from memory.errors import CannotOpen


def untouched(path: Path, scratch: Path) -> Callable[[], apsw.Connection]:
    """Opens the store at `path` for reading, with the newest schema. Writes only below `scratch`.

    Where its journal has pages or a migration is due, it reads a copy; where there is no store, an empty one. Raises
    apsw.Error, UnsafePath, CannotOpen, Damaged.
    """
    there = os.path.lexists(path)
    if there and not has_journal(path) and not _is_older(path):
        return lambda: connect_immutable(path)
    copy = Path(tempfile.mkdtemp(prefix="store-", dir=scratch)) / path.name
    if there:
        _copy(path, copy)
    _bring_forward(copy)
    return lambda: connect_read_only(copy)


def _is_older(path: Path) -> bool:
    db = connect_immutable(path)
    try:
        refuse_foreign_parts(db)
        return is_older(db)
    finally:
        db.close()


def _copy(path: Path, copy: Path) -> None:
    """Copies the store and its journal. Raises CannotOpen where there is no space for it."""
    names = [path.name, path.name + "-wal"] if has_journal(path) else [path.name]
    found = [status(path.with_name(name)) for name in names]
    needed = 2 * sum(file.st_size for file in found if file is not None)  # a migration may rewrite every page
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


def _no_copy(path: Path, copy: Path, why: str) -> CannotOpen:
    return CannotOpen(
        "Cannot open the store",
        f"{path} is read from a copy, which cannot be made in {copy.parent.parent.parent}: {why}.",
        "Free some space there, or name another folder in TMPDIR.",
    )


def _bring_forward(copy: Path) -> None:
    make_place(copy)
    db = connect(copy, synchronous="off")
    try:
        refuse_foreign_parts(db)
        migrate(db)
    finally:
        db.close()
