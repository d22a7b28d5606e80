"""Packs: pages' PNGs as zstd frames in one file, which is written once and never changed.

    magic │ frame │ frame │ … │ manifest (a frame of JSON) │ where it begins, its length, its SHA-256, end mark

The name is random and never reused. A pack can be read with nothing but itself.
"""

import hashlib
import secrets
import struct
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from foundation.files import make_private_folder, write_atomically
from memory.archive.frames import packer, unpack
from memory.archive.page import Drawn
from memory.archive.strangers import SUFFIX
from memory.errors import Damaged

MAGIC = b"palimpsest-pack\x00\x01"
END = b"palend\x00\x01"

_FOOTER = struct.Struct("<QI32s8s")
_LONGEST_MANIFEST = 64 * 2**20
_LARGEST_PNG = 2**20  # a stored 1280×1280 page takes 206 kB


class Leaf(Struct, frozen=True):
    """A page's line in the manifest. `offset` and `length` are of its frame, `size` of its PNG, in bytes."""

    id: str
    number: int
    mode: str
    chars: int
    sha256: str  # of the page's text, hex
    offset: int
    length: int
    size: int


class Manifest(Struct, frozen=True):
    """What a pack holds."""

    schema: int
    pages: tuple[Leaf, ...]


class Written(Struct, frozen=True):
    """A pack on disk, synced. `sha256` is that of the whole file."""

    path: Path
    size: int
    sha256: bytes


def write_pack(folder: Path, pages: Sequence[Drawn]) -> Written:
    """A new pack of these pages in `folder`, whole and synced to disk, or none."""
    make_private_folder(folder)
    pack, parts, leaves, offset = packer(), [MAGIC], list[Leaf](), len(MAGIC)
    for page in pages:
        frame = pack(page.png)
        leaves.append(
            Leaf(
                id=page.id,
                number=page.number,
                mode=page.mode.name,
                chars=len(page.text),
                sha256=page.sha256.hex(),
                offset=offset,
                length=len(frame),
                size=len(page.png),
            )
        )
        parts.append(frame)
        offset += len(frame)
    manifest = pack(msgspec.json.encode(Manifest(schema=1, pages=tuple(leaves))))
    footer = _FOOTER.pack(offset, len(manifest), hashlib.sha256(manifest).digest(), END)
    body = b"".join([*parts, manifest, footer])
    path = folder / f"{secrets.token_hex(10)}{SUFFIX}"
    write_atomically(path, body)
    return Written(path=path, size=len(body), sha256=hashlib.sha256(body).digest())


class Pack:
    """A pack, open for reading. Raises Damaged where the file is not what was written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.pages = self._manifest().pages

    def png(self, position: int) -> bytes:
        """The PNG at that position, from 0."""
        if not 0 <= position < len(self.pages):
            raise self._damaged(f"it has no page at position {position}")
        leaf = self.pages[position]
        if leaf.size > _LARGEST_PNG:
            raise self._damaged(f"page {leaf.id} claims {leaf.size} bytes")
        try:
            return unpack(self._read(leaf.offset, leaf.length), limit=leaf.size)
        except Damaged as error:
            raise self._damaged(f"page {leaf.id} in it cannot be unpacked ({error.message})") from error

    def _manifest(self) -> Manifest:
        try:
            size = self.path.stat().st_size
        except OSError as error:
            raise self._damaged(f"it cannot be opened ({error.strerror})") from error
        if size < len(MAGIC) + _FOOTER.size or self._read(0, len(MAGIC)) != MAGIC:
            raise self._damaged("it is no pack")
        offset, length, sha256, end = _FOOTER.unpack(self._read(size - _FOOTER.size, _FOOTER.size))
        if end != END or offset + length + _FOOTER.size != size:
            raise self._damaged("its end is missing")
        frame = self._read(offset, length)
        if hashlib.sha256(frame).digest() != sha256:
            raise self._damaged("its list of pages was altered")
        try:
            return msgspec.json.decode(unpack(frame, limit=_LONGEST_MANIFEST), type=Manifest)
        except msgspec.MsgspecError as error:
            raise self._damaged(f"its list of pages cannot be read ({error})") from error

    def _read(self, offset: int, length: int) -> bytes:
        """Opened each time: a pack is never held, so Windows lets it be moved."""
        try:
            with self.path.open("rb") as file:
                file.seek(offset)
                found = file.read(length)
        except OSError as error:
            raise self._damaged(f"it cannot be read ({error.strerror})") from error
        if len(found) != length:
            raise self._damaged("it is cut off")
        return found

    def _damaged(self, why: str) -> Damaged:
        return Damaged(
            "Damaged pack",
            f"The pack {self.path}: {why}.",
            "Bring the file back from a backup; `palimpsest check` says which pages are damaged.",
        )
