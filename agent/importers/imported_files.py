"""Files that were imported whole, so that a later import of many files reads only what is new."""

import os
from pathlib import Path
from typing import Final

from foundation.files import append, exists, open_for_reading, read_text, remove, resolve_path
from memory.conversations import Conversations

LAST_BYTES: Final = 65_536
"""The end of a file that is compared: it holds the last line, or the end of it."""


class ImportedFiles:
    """The marks of one workspace, a line each in `path`: keyed hashes, so that no name of a file is stored.

    A database without conversations voids them: what they mark was lost.
    """

    def __init__(self, path: Path, conversations: Conversations) -> None:
        self._path, self._keyed_hash = path, conversations.keyed_hash
        if conversations.first_made() is None:
            remove(path, missing_ok=True)
        self._marks = set(read_text(path).split()) if exists(path) else set[str]()

    def mark(self, file: Path, *how: str) -> str:
        """The mark of a file in its state now: path, size, inode and last line, and `how` it is imported."""
        with open_for_reading(resolve_path(file)) as stream:
            status = os.fstat(stream.fileno())
            stream.seek(max(0, status.st_size - LAST_BYTES))
            last = stream.read(LAST_BYTES).rstrip(b"\n").rpartition(b"\n")[2]
        state = (str(resolve_path(file)), str(status.st_size), str(status.st_ino), repr(last))
        return self._keyed_hash("\0".join((*how, *state)))

    def holds(self, mark: str) -> bool:
        return mark in self._marks

    def add(self, mark: str) -> None:
        """Adds the mark of a file, once all of it is stored."""
        self._marks.add(mark)
        append(self._path, f"{mark}\n".encode())
