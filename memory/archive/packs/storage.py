"""Storage of packs: the port, and a local folder. S3 and SSH implement the same port.

A name is a file name, never a path. A write is complete and durable, or did not happen.
"""

from datetime import timedelta
from pathlib import Path
from typing import Protocol

from foundation.files import (
    list_files,
    make_private_folder,
    open_for_reading,
    remove,
    status,
    sync_folder,
    write_atomically,
)
from foundation.names import ARCHIVE_FILE
from foundation.program import PROGRAM
from memory.errors import Damaged
from memory.names import vetted

MIN_REPACK_AGE = timedelta(days=1)
"""Minimum age of pages to repack: recent pages are the likeliest to be recalled, deleted or archived again."""

PAGES_A_FRAME = 64
"""Pages in a frame of a cold pack: a page of 64 is decompressed in milliseconds, one of 10,000 would take 1.5 s."""


class Storage(Protocol):
    """A flat folder of packs and the files beside them. Methods may be called from any thread."""

    @property
    def place(self) -> str:
        """The location, for a person: a folder, `s3://bucket/prefix`, `ssh://host/folder`."""
        ...

    def names(self) -> list[str]:
        """Every file's name, sorted."""
        ...

    def size(self, name: str) -> int:
        """Size in bytes. Raises Damaged where file not found, or it cannot be reached."""
        ...

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """`length` bytes from `offset`, or all that follow. Raises Damaged where they are not there."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Writes and syncs the file; replaces one of that name atomically."""
        ...

    def delete(self, name: str) -> None:
        """Deletes the file, so that no power cut brings it back; quiet where there is none."""
        ...

    def close(self) -> None:
        """Closes the connection, where there is one. The next call opens another."""
        ...


class LocalStorage:
    """A folder on this machine. Files are opened for each read and not kept open: Windows can move them then."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def place(self) -> str:
        return str(self.folder)

    def names(self) -> list[str]:
        return [path.name for path in list_files(self.folder) if ARCHIVE_FILE.fits(path.name)]

    def size(self, name: str) -> int:
        if (found := status(self._file(name))) is None:
            raise self._unreadable(name, "file not found")
        return found.st_size

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        try:
            with open_for_reading(self._file(name)) as file:
                file.seek(offset)
                found = file.read() if length is None else file.read(length)
        except OSError as error:
            raise self._unreadable(name, error.strerror or str(error)) from error
        if length is not None and len(found) != length:
            raise Damaged("Cut off", f"{self.folder / name} ends before it should.", "Restore it from a backup.")
        return found

    def write(self, name: str, data: bytes) -> None:
        make_private_folder(self.folder)
        write_atomically(self._file(name), data)

    def delete(self, name: str) -> None:
        path = self._file(name)
        if status(path) is not None:
            remove(path, missing_ok=True)
            sync_folder(self.folder)  # else a power cut brings it back, and what was deleted with it

    def close(self) -> None:
        """Does nothing: no file is kept open."""

    def _file(self, name: str) -> Path:
        return self.folder / vetted(ARCHIVE_FILE, name, "The index")

    def _unreadable(self, name: str, why: str) -> Damaged:
        return Damaged(
            "A file of the archive is missing",
            f"{self.folder / name} cannot be read ({why}).",
            f"`{PROGRAM} check --repair` searches for it and repairs what can be repaired; otherwise "
            "restore it from a backup.",
        )
