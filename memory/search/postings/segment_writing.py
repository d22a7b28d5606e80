"""Writing a segment's file, a section after another: whole under its name, or not at all."""

import os
import secrets
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np

from foundation.files import make_private_folder, open_new, remove, replace, sync_file, sync_folder
from memory.search.postings.growing import Column
from memory.search.postings.segment import END, MAGIC, Footer, Section, dtype_of


class SegmentWriting:
    """A context: what is not finished in it is deleted. All methods raise OSError."""

    def __init__(self, path: Path) -> None:
        make_private_folder(path.parent)
        self._path = path
        self._beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
        self._file = open_new(self._beside)
        self._file.write(MAGIC)
        self._sections: list[Section] = []

    def __enter__(self) -> "SegmentWriting":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        with suppress(OSError):
            remove(self._beside, missing_ok=True)

    def section(self, name: str, pieces: Iterable[Column], more: int = 0) -> None:
        """The values of a section as they come, and a hole with room for so many more."""
        dtype = np.dtype(dtype_of(name))
        offset, count, crc = self._aligned(), 0, 0
        for piece in pieces:
            body = np.ascontiguousarray(piece, dtype).data.cast("B") if len(piece) else b""
            self._file.write(body)
            crc = zlib.crc32(body, crc)
            count += len(piece)
        self._file.seek(more * dtype.itemsize, os.SEEK_CUR)
        self._sections.append(Section(name, offset, count, count + more, crc))

    def finish(self, since: int, change: int, mark: tuple[str, int], names: Sequence[str]) -> None:
        """Brings it to the disk, under its name."""
        self._aligned()
        body = msgspec.json.encode(Footer(since, change, mark, list(names), self._sections))
        self._file.write(body + END.pack(len(body), zlib.crc32(body), MAGIC))
        self._file.close()
        sync_file(self._beside)
        replace(self._beside, self._path)
        sync_folder(self._path.parent)

    def _aligned(self) -> int:
        at = self._file.tell()
        self._file.write(bytes(-at % 8))
        return at + -at % 8
