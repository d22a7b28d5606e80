"""Packs: pages' PNGs as zstd frames in one file, which is written once and never changed.

    magic │ frame │ frame │ … │ list of pages (a frame of JSON) │ where it begins, its length, its SHA-256, end mark

A warm pack has a frame per page, made in milliseconds. A cold one has a frame per 64 pages, compressed further.
The name is random and never reused. A pack is self-contained.
"""

import hashlib
import secrets
import struct
from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec import Struct

from foundation.program import PROGRAM
from memory.archive.packs.storage import PAGES_A_FRAME, Storage
from memory.archive.packs.unknown_packs import SUFFIX
from memory.errors import Damaged
from memory.zstd import cold_packer, packer, unpack

MAGIC = b"palimpsest-pack\x00\x01"
END = b"palend\x00\x01"
WARM, COLD = "warm", "cold"

_FOOTER = struct.Struct("<QI32s8s")
_LONGEST_LIST = 64 * 2**20
_LARGEST_PNG = 2**20  # a stored 1280×1280 page takes 206 kB
_LARGEST_FRAME = PAGES_A_FRAME * 2**18


class PageImage(Struct, frozen=True):
    """A page to pack. `sha256` is of its text, hex."""

    id: str
    number: int
    mode: str
    chars: int
    sha256: str
    png: bytes


class PackedImage(Struct, frozen=True):
    """A page's line in the list. `offset` and `length` are of its frame; its PNG has `size` bytes, from offset `at` in
    the frame."""

    id: str
    number: int
    mode: str
    chars: int
    sha256: str  # of the page's text, hex
    offset: int
    length: int
    size: int
    at: int = 0  # within what the frame holds


class PackDirectory(Struct, frozen=True):
    """The list of a pack's pages. Schema 2 has frames of many pages."""

    schema: int
    pages: tuple[PackedImage, ...]


class WrittenPack(Struct, frozen=True):
    """A written and synced pack. `sha256` is that of the whole file."""

    name: str
    size: int
    sha256: bytes


class PackFrame(Struct, frozen=True):
    """One frame of a pack: its location, and its unpacked size in bytes."""

    offset: int
    length: int
    size: int


def new_pack_name() -> str:
    return f"{secrets.token_hex(10)}{SUFFIX}"


def write_pack(storage: Storage, name: str, pages: Sequence[PageImage]) -> WrittenPack:
    """Writes a warm pack of these pages, complete and synced, or nothing."""
    pack = packer()
    return _write(storage, name, 1, [((page,), pack(page.png)) for page in pages])


def write_cold_pack(
    storage: Storage, name: str, pages: Sequence[PageImage], on_page: Callable[[int], None] | None = None
) -> WrittenPack:
    """Writes a cold pack. `on_page` receives the number of packed pages; an exception from it ends the run, and nothing
    is written."""
    frames: list[tuple[tuple[PageImage, ...], bytes]] = []
    for start in range(0, len(pages), PAGES_A_FRAME):
        batch = tuple(pages[start : start + PAGES_A_FRAME])
        pack = cold_packer(sum(len(page.png) for page in batch))
        parts: list[bytes] = []
        for number, page in enumerate(batch, start + 1):
            parts.append(pack.compress(page.png))
            if on_page is not None:
                on_page(number)
        frames.append((batch, b"".join([*parts, pack.flush()])))
    return _write(storage, name, 2, frames)


def _write(
    storage: Storage, name: str, schema: int, frames: Sequence[tuple[Sequence[PageImage], bytes]]
) -> WrittenPack:
    parts, leaves, offset = [MAGIC], list[PackedImage](), len(MAGIC)
    for pages, frame in frames:
        leaves += _leaves(pages, offset, len(frame))
        parts.append(frame)
        offset += len(frame)
    listed = packer()(msgspec.json.encode(PackDirectory(schema=schema, pages=tuple(leaves))))
    footer = _FOOTER.pack(offset, len(listed), hashlib.sha256(listed).digest(), END)
    body = b"".join([*parts, listed, footer])
    storage.write(name, body)
    return WrittenPack(name=name, size=len(body), sha256=hashlib.sha256(body).digest())


def _leaves(pages: Sequence[PageImage], offset: int, length: int) -> Iterator[PackedImage]:
    at = 0
    for page in pages:
        yield PackedImage(
            id=page.id,
            number=page.number,
            mode=page.mode,
            chars=page.chars,
            sha256=page.sha256,
            offset=offset,
            length=length,
            size=len(page.png),
            at=at,
        )
        at += len(page.png)


class Pack:
    """A pack, open for reading. Raises Damaged where the file is damaged."""

    def __init__(self, storage: Storage, name: str) -> None:
        self.name = name
        self._storage = storage
        self.pages = self._list().pages
        self._sizes: dict[int, int] = {}
        for leaf in self.pages:
            self._sizes[leaf.offset] = max(self._sizes.get(leaf.offset, 0), leaf.at + leaf.size)

    @property
    def place(self) -> str:
        return f"{self._storage.place}/{self.name}"

    def png(self, position: int) -> bytes:
        """The PNG at that position, from 0."""
        return self.cut(position, self.unpacked(self.frame_of(position)))

    def expect(self, position: int, page: str) -> None:
        """Raises Damaged where another page is at that position: then it is another pack under this one's name."""
        if (found := self._leaf(position).id) != page:
            raise self._damaged(f"page {found} stands in it where page {page} should")

    def frame_of(self, position: int) -> PackFrame:
        """The frame of that page: neighbours share it in a cold pack."""
        leaf = self._leaf(position)
        size = self._sizes[leaf.offset]
        if leaf.size > _LARGEST_PNG or size > _LARGEST_FRAME or min(leaf.at, leaf.size) < 0:
            raise self._damaged(f"page {leaf.id} claims {leaf.size} bytes in a frame of {size}")
        return PackFrame(leaf.offset, leaf.length, size)

    def unpacked(self, frame: PackFrame) -> bytes:
        """The frame's unpacked content."""
        try:
            return unpack(self._read(frame.offset, frame.length), limit=frame.size)
        except Damaged as error:
            first = next(leaf.id for leaf in self.pages if leaf.offset == frame.offset)
            raise self._damaged(f"page {first} in it cannot be unpacked ({error.message})") from error

    def cut(self, position: int, unpacked: bytes) -> bytes:
        """That page's PNG, cut from its unpacked frame."""
        leaf = self._leaf(position)
        if leaf.at + leaf.size > len(unpacked):
            raise self._damaged(f"page {leaf.id} lies beyond its frame")
        return unpacked[leaf.at : leaf.at + leaf.size]

    def _leaf(self, position: int) -> PackedImage:
        if not 0 <= position < len(self.pages):
            raise self._damaged(f"it has no page at position {position}")
        return self.pages[position]

    def _list(self) -> PackDirectory:
        size = self._storage.size(self.name)
        if size < len(MAGIC) + _FOOTER.size or self._read(0, len(MAGIC)) != MAGIC:
            raise self._damaged("it is no pack")
        offset, length, sha256, end = _FOOTER.unpack(self._read(size - _FOOTER.size, _FOOTER.size))
        if end != END or offset + length + _FOOTER.size != size:
            raise self._damaged("its end is missing")
        frame = self._read(offset, length)
        if hashlib.sha256(frame).digest() != sha256:
            raise self._damaged("its list of pages was altered")
        try:
            return msgspec.json.decode(unpack(frame, limit=_LONGEST_LIST), type=PackDirectory)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise self._damaged(f"its list of pages cannot be read ({error})") from error

    def _read(self, offset: int, length: int) -> bytes:
        return self._storage.read(self.name, offset, length)

    def _damaged(self, why: str) -> Damaged:
        return Damaged(
            "Damaged pack",
            f"The pack {self.place}: {why}.",
            f"`{PROGRAM} check --repair` mends what can be mended; else a backup has the file.",
        )
