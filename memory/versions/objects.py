"""Contents of files by their SHA-256, each in a file of its own: whole, or as what differs from another content."""

import hashlib
import re
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from foundation.files import (
    exists,
    list_files,
    list_folders,
    make_private_folder,
    read_bytes,
    remove,
    status,
    sync_file,
    sync_folder,
    write_atomically,
)
from memory.errors import Damaged
from memory.zstd import pack_against, packer, unpack

MOST_BYTES: Final = 512 * 1024 * 1024  # of one file
MOST_DELTAS: Final = 9  # one after another; every tenth content is whole
_NAME: Final = re.compile(r"[0-9a-f]{64}")
_WHOLE: Final = b"PVW1"  # then a check of the rest, then a zstd frame
_DELTA: Final = b"PVD1"  # then a check of the rest, the 32 bytes of the other's SHA-256, and a zstd frame
_ZSTD: Final = b"\x28\xb5\x2f\xfd"  # a bare frame, as checkpoints were stored up to 0.3
_CHECK: Final = 16  # bytes of the SHA-256 of what follows them: zstd does not miss every bit of a frame
_BASE: Final = 32


class Objects:
    """Content-addressed files under `folder`: `3f/3f2a…`. None is ever changed. `what` names one in errors."""

    def __init__(self, folder: Path, what: str) -> None:
        self._folder = folder
        self._what = what
        self._packing = Lock()

    def put(self, body: bytes, base: str = "", *, sync: bool = True) -> str:
        """Stores the bytes and gives their SHA-256. Without `sync` they are durable after `sync`. Raises OSError.

        With the name of a `base` they are stored as what differs from it, unless ten contents or half the bytes of the
        last whole one have gone by: then whole.
        """
        name = content_name(body)
        if self.has(name):
            return name
        place = self._place(name)
        with self._packing:
            stored = (base and self._difference(body, base)) or checked(_WHOLE, packer()(body))
        make_private_folder(self._folder)
        make_private_folder(place.parent)
        write_atomically(place, stored, sync=sync)
        return name

    def has(self, name: str) -> bool:
        """Whether the content is stored and sound."""
        return exists(self._place(name)) and self.is_sound(name)

    def sync(self, names: Iterable[str]) -> None:
        """Makes these contents durable. Raises OSError."""
        places = {self._place(name) for name in names}
        for place in places:
            sync_file(place)
        for folder in {place.parent for place in places}:
            sync_folder(folder)

    def get(self, name: str) -> bytes:
        """The bytes. Raises Damaged where they are missing or not those that were stored."""
        body = b""
        for each in reversed([self._read(each) for each in self._chain(name)]):
            body = unpack(each.frame, limit=MOST_BYTES, base=body if each.base else b"")
        if content_name(body) != name:
            raise Damaged(f"A {self._what} is damaged", f"{self._place(name)} does not match its name.")
        return body

    def make_whole(self, name: str) -> None:
        """Stores a content anew, without another one that it was told by. Raises Damaged, OSError."""
        if self._read(name).base:
            body = self.get(name)
            with self._packing:
                write_atomically(self._place(name), checked(_WHOLE, packer()(body)))

    def put_again(self, body: bytes, keep: Callable[[Path], None]) -> None:
        """Stores the bytes whole in place of a damaged file, which `keep` copies first. Raises OSError."""
        place = self._place(content_name(body))
        if exists(place):
            keep(place)
        self.put(body)

    def names(self) -> list[str]:
        """The names of all contents."""
        return [place.name for folder in list_folders(self._folder) for place in list_files(folder)]

    def base_of(self, name: str) -> str:
        """The content that it is stored as a difference from; "" for a whole one. Raises Damaged, OSError."""
        return self._read(name).base

    def stored_ns(self, name: str) -> int:
        """When its file was written, in nanoseconds since 1970."""
        found = status(self._place(name))
        return found.st_mtime_ns if found else 0

    def stored_digest(self, name: str) -> str:
        """The SHA-256 of the file that holds the content, sound or not; "" where there is none."""
        try:
            return content_name(read_bytes(self._place(name), owned=True))
        except (OSError, Damaged):
            return ""

    def is_sound(self, name: str) -> bool:
        """Whether the content can be read and is what was stored."""
        try:
            self.get(name)
        except Damaged:
            return False
        return True

    def remove_all_but(self, needed: Iterable[str]) -> int:
        """Deletes what is not needed, nor for reading what is; gives the number of deleted files."""
        kept: set[str] = set()
        for name in needed:
            try:
                kept.update(self._chain(name))
            except Damaged:  # the rest of its chain cannot be known
                kept.add(name)
        gone = 0
        for folder in list_folders(self._folder):
            for place in list_files(folder):
                if place.name not in kept:
                    remove(place, missing_ok=True)
                    gone += 1
        return gone

    def _difference(self, body: bytes, base: str) -> bytes | None:
        """What is stored of the body beside the base; None where it is to be stored whole."""
        try:
            *deltas, whole = [self._read(name).size for name in self._chain(base)]
            known = self.get(base) if len(deltas) < MOST_DELTAS else b""
        except Damaged:
            return None
        if not known:
            return None
        stored = checked(_DELTA, bytes.fromhex(base) + pack_against(known, body))
        return stored if sum(deltas) + len(stored) <= whole / 2 else None

    def _chain(self, name: str) -> Generator[str]:
        """The names that are read for this one, itself first, a whole one last. Raises Damaged."""
        for _ in range(MOST_DELTAS + 1):
            yield name
            name = self._read(name).base
            if not name:
                return
        raise Damaged(f"A {self._what} is damaged", f"{self._place(name)} starts a chain without an end.")

    def _read(self, name: str) -> "_Stored":
        place = self._place(name)
        try:
            stored = read_bytes(place, owned=True)
        except FileNotFoundError as error:
            raise Damaged(f"A {self._what} is missing", f"There is no file {place}.") from error
        magic, rest = stored[: len(_WHOLE)], stored[len(_WHOLE) + _CHECK :]
        if magic == _ZSTD:
            return _Stored(stored, "", len(stored))
        if magic not in {_WHOLE, _DELTA} or stored != checked(magic, rest):
            raise Damaged(f"A {self._what} is damaged", f"{place} was changed or damaged.")
        base = rest[:_BASE].hex() if magic == _DELTA else ""
        return _Stored(rest[_BASE:] if base else rest, base, len(stored))

    def _place(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise Damaged(f"A {self._what} is damaged", f"{name!r} is not the name of a stored file.")
        return self._folder / name[:2] / name


class _Stored(NamedTuple):
    """What a file holds: a frame, the name of the content that it was packed against, and the bytes that it takes."""

    frame: bytes
    base: str
    size: int


def checked(magic: bytes, rest: bytes) -> bytes:
    """What is stored: the magic, the first 16 bytes of the SHA-256 of the rest, the rest."""
    return magic + hashlib.sha256(rest).digest()[:_CHECK] + rest


def unchecked(magic: bytes, stored: bytes) -> bytes | None:
    """The rest of what `checked` gave; None where it is anything else."""
    rest = stored[len(magic) + _CHECK :]
    return rest if stored == checked(magic, rest) else None


def content_name(body: bytes) -> str:
    """The SHA-256 of the bytes, in hexadecimal."""
    return hashlib.sha256(body).hexdigest()
