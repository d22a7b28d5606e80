"""The bytes of a database that is open in this process, read by SQLite's own layer of files.

That one puts off the closing of a file while a connection has locks on it; any other way of opening it would free them
(foundation.files.held_open). What stands in the journal alone is not read here.
"""

import io
import os
from pathlib import Path

import apsw


class StoreFile(io.RawIOBase):
    """The database at `path`, open for reading. Raises apsw.Error where SQLite cannot read it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        flags = [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0]
        self._file = apsw.VFSFile("", str(path), flags)
        self._at = 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """The new position, in bytes from the start."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._file.xFileSize()}[whence]
        self._at = max(0, start + offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes from the position on, fewer at the end; all that follow where it is negative."""
        left = max(0, self._file.xFileSize() - self._at)
        wanted = left if size < 0 else min(size, left)
        data = self._file.xRead(wanted, self._at) if wanted else b""
        self._at += len(data)
        return data

    def close(self) -> None:
        """Closes it, once."""
        if not self.closed:
            self._file.xClose()
        super().close()
