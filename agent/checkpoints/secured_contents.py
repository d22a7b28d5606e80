"""Contents of secured files, one after another in one file: each a zstd frame, found by its offset and length.

A cache of the project: it is deleted as a whole where anything is wrong with it, and made again. The file only grows
while a snapshot may refer to it; `SecuredProject` writes what is still needed to another one.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from foundation.files import open_for_appending, open_for_reading, status
from foundation.files.atomic import sync_handle
from memory.errors import Damaged
from memory.versions.objects import MOST_BYTES, content_name
from memory.zstd import packer, unpack


class SecuredContents:
    """The contents in the file at `path`. Writers hold the lock of the secured project."""

    def __init__(self, path: Path) -> None:
        self.links = path.with_name("links")
        """The folder of hard links to files that are too large to be read."""
        self._path = path
        self._file: BinaryIO | None = None
        self._pack = packer()

    @property
    def size(self) -> int:
        found = status(self._path)
        return found.st_size if found else 0

    @contextmanager
    def writing(self) -> Generator[None]:
        """Within it, contents can be added; they are durable at its end. Raises OSError."""
        try:
            yield
            if self._file is not None:
                self._file.flush()
                sync_handle(self._file.fileno())
        finally:
            if self._file is not None:
                self._file.close()
                self._file = None

    def add(self, body: bytes) -> tuple[int, int]:
        """Adds the bytes; gives their offset and length here."""
        return self.add_frame(self._pack(body))

    def add_frame(self, frame: bytes) -> tuple[int, int]:
        if self._file is None:
            self._file = open_for_appending(self._path)
        offset = self._file.tell()
        self._file.write(frame)
        return offset, len(frame)

    def frame(self, offset: int, length: int) -> bytes:
        """What was stored there. Raises OSError."""
        with open_for_reading(self._path, owned=True) as file:
            file.seek(offset)
            return file.read(length)

    def get(self, version: str, offset: int, length: int) -> bytes:
        """The bytes whose SHA-256 is `version`. Raises Damaged, OSError."""
        body = unpack(self.frame(offset, length), limit=MOST_BYTES)
        if content_name(body) != version:
            raise Damaged("A secured file is damaged", f"{self._path} does not hold {version}.")
        return body
