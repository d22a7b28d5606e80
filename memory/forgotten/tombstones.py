"""Tombstones of forgotten entries: an import or another device does not bring one back.

A line of the file holds a hash of an entry's name, and one of its text under the workspace's secret: no word, and
nothing that can be guessed without that secret. The file only grows, and a line that a crash cut off is passed over.
"""

import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path
from threading import Lock
from typing import Final

import msgspec
from msgspec import Struct

from foundation.files import FileLock, append, make_private_folder, read_bytes, status
from foundation.names import TOKEN
from foundation.typed_json import decode_json
from memory.cold.encoding import plain
from memory.cold.secret import keyed

SHORTEST_TEXT: Final = 16
"""Characters of a text that is known again by itself: a shorter one, as "yes", is said by many."""
_LOCK_SECONDS: Final = 10


class EntryTombstone(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A forgotten entry. `token` is the same on every device; `text` is a keyed hash, of this workspace alone."""

    token: str
    forgotten_ms: int
    text: str = ""


class ForgottenName(Struct, frozen=True):
    """What names an entry on every device: its conversation's source ("" for ours) and id, and its own id."""

    source: str
    conversation: str
    entry: str

    @property
    def token(self) -> str:
        """A hash in place of the name: 64 hexadecimal digits."""
        parts = (plain(self.source), plain(self.conversation), plain(self.entry))
        return hashlib.sha256("\0".join(("entry", *parts)).encode()).hexdigest()


class Tombstones:
    """The tombstones of a workspace, in the file at `path`. Safe to use from several threads and processes."""

    def __init__(self, path: Path, secret: bytes) -> None:
        self._path = path
        self._secret = secret
        self._lock = Lock()
        self._read: tuple[tuple[int, int, int], tuple[EntryTombstone, ...]] | None = None
        self._tokens: frozenset[str] = frozenset()
        self._texts: frozenset[str] = frozenset()

    def all(self) -> tuple[EntryTombstone, ...]:
        """Every tombstone, oldest first; quick where the file did not change. Raises OSError."""
        found = status(self._path)
        if found is None:
            return ()
        signature = (found.st_size, found.st_mtime_ns, found.st_ino)
        with self._lock:
            if self._read is None or self._read[0] != signature:
                stones = tuple(filter(None, map(_decoded, read_bytes(self._path, owned=True).split(b"\n"))))
                self._read = (signature, stones)
                self._tokens = frozenset(stone.token for stone in stones)
                self._texts = frozenset(stone.text for stone in stones if stone.text)
            return self._read[1]

    def tokens(self) -> frozenset[str]:
        """The tokens of all forgotten entries: what is told to other devices."""
        return self._tokens if self.all() else frozenset()

    def has(self, name: ForgottenName) -> bool:
        """Whether the entry of that name was forgotten."""
        return name.token in self.tokens()

    def has_text(self, text: str) -> bool:
        """Whether an entry of exactly this text was forgotten, whatever its name."""
        return bool(self.all() and self._texts) and self.hash_of(text) in self._texts

    def hash_of(self, text: str) -> str:
        """The hash by which a text is known again; "" for one that is too short for that."""
        said = text.strip()
        return keyed(self._secret, said) if len(said) >= SHORTEST_TEXT and self._secret else ""

    def add(self, stones: Iterable[EntryTombstone]) -> int:
        """Adds those that are not there yet, synced; gives their number. Raises OSError, LockTimeout."""
        stones = list(stones)
        if not stones:
            return 0
        make_private_folder(self._path.parent)
        with FileLock(self._path.with_suffix(".lock"), timeout=_LOCK_SECONDS):
            known = {(stone.token, stone.text) for stone in self.all()}
            new = [stone for stone in stones if (stone.token, stone.text) not in known]
            if new:
                lines = b"".join(msgspec.json.encode(stone) + b"\n" for stone in new)
                append(self._path, b"\n" + lines, sync=True)  # its own line, whatever a crash left before it
            return len(new)

    def missing(self, tokens: Collection[str]) -> list[str]:
        """Those of the tokens that are not known here yet."""
        return sorted(set(tokens) - self.tokens())


def _decoded(line: bytes) -> EntryTombstone | None:
    try:
        stone = decode_json(line, EntryTombstone)
    except msgspec.DecodeError:
        return None
    return stone if TOKEN.fits(stone.token) else None
