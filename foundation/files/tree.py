"""Reads the status of many files of a tree: its folders are opened one below the other, and no link is followed."""

import os
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from foundation.files.directory import ListedName, entry_kind
from foundation.files.folders import WINDOWS, absolute_path, open_folder, refuse_link, refuse_links
from foundation.files.regular_files import ALWAYS

_FOLDER = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC"))


class OpenFolder:
    """A folder of the tree, open until `close`. On Windows, which has no such descriptors, its path."""

    def __init__(self, handle: int | None, path: str) -> None:
        self._handle = handle
        self._path = path

    def status(self) -> os.stat_result:
        return os.lstat(self._path) if self._handle is None else os.fstat(self._handle)

    def entries(self) -> list[ListedName]:
        """Every name in the folder with its kind, sorted."""
        with os.scandir(self._path if self._handle is None else self._handle) as entries:
            return sorted(ListedName(entry.name, entry_kind(entry)) for entry in entries)

    def statuses(self, names: Iterable[str]) -> list[os.stat_result | None]:
        """The lstat of each name; None where there is nothing."""
        found: list[os.stat_result | None] = []
        for name in names:
            try:
                if self._handle is None:
                    found.append(os.lstat(os.path.join(self._path, name)))  # noqa: PTH118 - called for each file
                else:
                    found.append(os.stat(name, dir_fd=self._handle, follow_symlinks=False))
            except OSError:
                found.append(None)
        return found

    def read(self, name: str, most: int) -> bytes | None:
        """The bytes of the regular file of that name; None for anything else, and for more than `most`. Raises
        OSError."""
        path = Path(self._path, name)
        if self._handle is None:
            refuse_link(path)
        handle = os.open(path if self._handle is None else name, ALWAYS | os.O_RDONLY, dir_fd=self._handle)
        with os.fdopen(handle, "rb", buffering=0) as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode) or found.st_size > most:
                return None
            body = file.readall()
            return body if len(body) <= most else None

    def below(self, name: str) -> "OpenFolder":
        """The folder of that name in this one, to be closed. Raises OSError where there is none, or a link."""
        path = f"{self._path}{os.sep}{name}"
        if self._handle is None:
            refuse_links(Path(path))
            return OpenFolder(None, path)
        return OpenFolder(os.open(name, _FOLDER, dir_fd=self._handle), path)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)


@contextmanager
def open_tree(path: Path) -> Generator[OpenFolder]:
    """The folder at the top of the tree. Raises UnsafePath where a component is a link, OSError."""
    path = absolute_path(path)
    if WINDOWS:
        refuse_links(path)
        yield OpenFolder(None, str(path))
        return
    handle = open_folder(path, listing=True)
    try:
        yield OpenFolder(handle, str(path))
    finally:
        os.close(handle)
