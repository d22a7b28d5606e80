"""Local cache of remote packs: a pack is fetched once, and verified by its SHA-256.

Packs in the workspace's own folder, from before remote storage was configured, are read there.
"""

import hashlib
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from foundation.files import child, is_file, read_bytes, scan, touch
from foundation.program import PROGRAM
from memory.archive.packs.remote import LONGEST_FILE, too_long
from memory.archive.packs.storage import LocalStorage, Storage
from memory.archive.packs.unknown_packs import SUFFIX
from memory.errors import Damaged


class PackDigest(NamedTuple):
    """Hash and size of a pack by the index."""

    sha256: bytes
    size: int


class CachedStorage:
    """`known` gives hash and size of an indexed pack; `most` is the limit of the cache, in bytes."""

    def __init__(
        self,
        there: Storage,
        home: LocalStorage,
        cache: LocalStorage,
        known: Callable[[str], PackDigest | None],
        most: int,
    ) -> None:
        self._there = there
        self._home = home
        self._cache = cache
        self._known = known
        self._most = most
        self._lock = threading.RLock()
        self._proven: set[str] = set()

    @property
    def place(self) -> str:
        return self._there.place

    def names(self) -> list[str]:
        return sorted({*self._there.names(), *self._home.names()})

    def size(self, name: str) -> int:
        if self._is_home(name):
            return self._home.size(name)
        with self._lock:
            if name.endswith(SUFFIX) and self._is_cached(name):
                return self._cache.size(name)
        return self._there.size(name)

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Reads a part of a pack from the cache, a whole pack from its storage."""
        if self._is_home(name):
            return self._home.read(name, offset, length)
        if offset == 0 and length is None:
            return self._whole(name, self._known(name) if name.endswith(SUFFIX) else None)
        if not name.endswith(SUFFIX):
            return self._there.read(name, offset, length)
        with self._lock:
            if not self._is_cached(name):
                self._fetch(name)
            return self._cache.read(name, offset, length)

    def write(self, name: str, data: bytes) -> None:
        """Writes to the remote storage, and reads back from it to verify."""
        self._there.write(name, data)
        self._forget(name)
        if self._there.size(name) != len(data) or self._there.read(name, 0, len(data)) != data:
            raise Damaged(
                "A file could not be verified",
                f"{name} was written to {self.place} but reads back differently. Nothing was deleted.",
                "Check that location, then try again.",
            )
        if self._is_home(name):
            self._home.delete(name)

    def delete(self, name: str) -> None:
        self._there.delete(name)
        self._home.delete(name)
        self._forget(name)

    def empty_cache(self) -> None:
        """Empties the cache, so that a check reads the remote storage; keeps it where that is unreachable. Raises
        then."""
        self._there.names()
        for path, _ in self._cached_files():
            self._forget(path.name)

    def close(self) -> None:
        """Ends the connection, where there is one."""
        self._there.close()

    def _is_home(self, name: str) -> bool:
        return is_file(child(self._home.folder, name))

    def _is_cached(self, name: str) -> bool:
        """Whether the cache has the pack as the index describes it; else it is fetched again."""
        path = child(self._cache.folder, name)
        if not is_file(path):
            return False
        if name not in self._proven:
            known = self._known(name)
            if known is None or hashlib.sha256(read_bytes(path)).digest() != known.sha256:
                self._forget(name)
                return False
            self._proven.add(name)
        with suppress(OSError):
            touch(path)  # lately used
        return True

    def _fetch(self, name: str) -> None:
        known = self._known(name)
        body = self._whole(name, known)
        if known is not None and hashlib.sha256(body).digest() != known.sha256:
            raise Damaged(
                "Damaged pack",
                f"The pack {self.place}/{name} was changed: its SHA-256 differs.",
                f"`{PROGRAM} check --repair` repairs what can be repaired; otherwise restore the file from a backup.",
            )
        self._make_room(len(body))
        self._cache.write(name, body)
        self._proven.add(name)

    def _whole(self, name: str, known: PackDigest | None) -> bytes:
        """The whole remote file. Raises Damaged, and fetches nothing, where it is longer than when it was written."""
        size, most = self._there.size(name), known.size if known else LONGEST_FILE
        if size > most:
            raise too_long(f"{self.place}/{name}", size, most)
        return self._there.read(name, 0, size)

    def _make_room(self, size: int) -> None:
        """Evicts the least recently read packs."""
        kept = [(found.st_mtime, found.st_size, path.name) for path, found in self._cached_files()]
        total = size + sum(entry[1] for entry in kept)
        for _, length, name in sorted(kept):
            if total <= self._most:
                return
            self._forget(name)
            total -= length

    def _cached_files(self) -> list[tuple[Path, os.stat_result]]:
        return scan(self._cache.folder, f"*{SUFFIX}")

    def _forget(self, name: str) -> None:
        with self._lock:
            self._proven.discard(name)
            with suppress(OSError):  # Windows: it is open just now
                self._cache.delete(name)
