"""Contents of files by their SHA-256, each a zstd frame in a file of its own."""

import hashlib
import re
from pathlib import Path
from threading import Lock
from typing import Final

from foundation.files import exists, list_files, list_folders, make_private_folder, read_bytes, remove, write_atomically
from memory.errors import Damaged
from memory.zstd import packer, unpack

MOST_BYTES: Final = 512 * 1024 * 1024  # of one file
_NAME: Final = re.compile(r"[0-9a-f]{64}")


class Blobs:
    """Content-addressed files under `folder`: `3f/3f2a…`. None is ever changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._packing = Lock()

    def put(self, body: bytes) -> str:
        """Stores the bytes, synced, and gives their SHA-256. Raises OSError."""
        name = content_name(body)
        place = self._place(name)
        if not exists(place):
            make_private_folder(self._folder)
            make_private_folder(place.parent)
            with self._packing:
                frame = packer()(body)
            write_atomically(place, frame)
        return name

    def get(self, name: str) -> bytes:
        """The bytes. Raises Damaged where they are missing or not those that were stored."""
        place = self._place(name)
        try:
            body = unpack(read_bytes(place, owned=True), limit=MOST_BYTES)
        except FileNotFoundError as error:
            raise Damaged("A checkpoint is missing", f"There is no file {place}.") from error
        if content_name(body) != name:
            raise Damaged("A checkpoint is damaged", f"{place} does not hold what its name says.")
        return body

    def remove_all_but(self, needed: frozenset[str]) -> int:
        """Deletes what is not needed; gives the number of deleted files."""
        gone = 0
        for folder in list_folders(self._folder):
            for place in list_files(folder):
                if place.name not in needed:
                    remove(place, missing_ok=True)
                    gone += 1
        return gone

    def _place(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise Damaged("A checkpoint is damaged", f"{name!r} is not the name of a stored file.")
        return self._folder / name[:2] / name


def content_name(body: bytes) -> str:
    """The SHA-256 of the bytes, in hexadecimal."""
    return hashlib.sha256(body).hexdigest()
