"""Packs: pages in one file, which is written once and never changed.

    magic, version │ frame │ frame │ … │ list of pages (a frame of JSON) │ where it begins, its length, its SHA-256, end

A frame is zstd of pages coded by their symbols (memory.pages.symbol_coding). A warm pack has a frame per page, made in
two milliseconds. A cold one has a frame per 64 pages, compressed further. Packs of version 1 (until 0.3.2) have the
PNGs themselves in their frames, and are still read. The name is random and never reused. A pack is self-contained.
"""

import hashlib
import secrets
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec import Struct

from foundation.program import PROGRAM
from foundation.typed_json import decode_json
from memory.archive.packs.storage import PAGES_A_FRAME, Storage
from memory.archive.packs.unknown_packs import SUFFIX
from memory.errors import Damaged, NewerPack
from memory.zstd import cold_packer, packer, unpack

if TYPE_CHECKING:  # its module loads numpy
    from memory.pages.symbol_coding import DrawnPage

SIGNATURE = b"palimpsest-pack\x00"
MAGIC = SIGNATURE + b"\x02"  # the version is its last byte
END = b"palend\x00\x01"
WARM, COLD = "warm", "symbols"
"""Kinds of packs. "cold" are those of 64 pages a frame that were written until 0.3.2: they are repacked."""

_VERSION = MAGIC[-1]
_FOOTER = struct.Struct("<QI32s8s")
_LONGEST_LIST = 64 * 2**20
_LARGEST_PNG = 2**20  # a stored 1280×1280 page takes 206 kB


class PageImage(Struct, frozen=True):
    """A page to pack. `sha256` is of its text, hex. With `drawn` the PNG is not decoded: read the pack back then."""

    id: str
    number: int
    mode: str
    chars: int
    sha256: str
    png: bytes
    drawn: "DrawnPage | None" = None


class PackedImage(Struct, frozen=True):
    """A page's line in the list. `offset` and `length` are of its frame; its PNG has `size` bytes.

    `at` is its number in the frame, from 0; in packs of version 1 it is the offset of its PNG in the frame.
    """

    id: str
    number: int
    mode: str
    chars: int
    sha256: str  # of the page's text, hex
    offset: int
    length: int
    size: int
    at: int = 0


class PackDirectory(Struct, frozen=True):
    """The list of a pack's pages. Schema 3 has frames of symbols; 1 and 2 of version 1 have frames of PNGs."""

    schema: int
    pages: tuple[PackedImage, ...]


class WrittenPack(Struct, frozen=True):
    """A written and synced pack. `sha256` is that of the whole file."""

    name: str
    size: int
    sha256: bytes


class PackFrame(Struct, frozen=True):
    """One frame of a pack: its location."""

    offset: int
    length: int


class FramePages(Protocol):
    """The unpacked pages of a frame."""

    def __len__(self) -> int: ...

    def png(self, at: int, /) -> bytes:
        """The PNG at that number, `PackedImage.at`. Raises Damaged."""
        ...


def refuse_newer(storage: Storage, name: str) -> None:
    """Raises NewerPack for a pack of a version that this program does not know; Damaged where it cannot be read."""
    _refuse_version(storage.read(name, 0, min(len(MAGIC), storage.size(name))), f"{storage.place}/{name}")


def _refuse_version(head: bytes, place: str) -> None:
    if len(head) == len(MAGIC) and head.startswith(SIGNATURE) and head[-1] > _VERSION:
        raise NewerPack(
            "The pack is newer than this program",
            f"The pack {place} has version {head[-1]}; this program reads versions 1 to {_VERSION}.",
            "Upgrade palimpsest. The pack was not changed.",
        )


def new_pack_name() -> str:
    return f"{secrets.token_hex(10)}{SUFFIX}"


def write_pack(storage: Storage, name: str, pages: Sequence[PageImage]) -> WrittenPack:
    """Writes a warm pack of these pages, complete and synced, or nothing."""
    from memory.pages.symbol_coding import encode_drawn, encode_pages  # loads numpy

    pack = packer()
    coded = (encode_pages([page.png]) if page.drawn is None else encode_drawn(page.drawn) for page in pages)
    return _write(storage, name, [((page,), pack(frame)) for page, frame in zip(pages, coded, strict=True)])


def write_cold_pack(
    storage: Storage, name: str, pages: Sequence[PageImage], on_page: Callable[[int], None] | None = None
) -> WrittenPack:
    """Writes a cold pack. `on_page` receives the number of packed pages; an exception from it ends the run, and nothing
    is written."""
    frames: list[tuple[Sequence[PageImage], bytes]] = []
    packed = 0
    for batch, coded in _coded_frames(pages):
        pack = cold_packer(len(coded))
        parts: list[bytes] = []
        for number in range(len(batch)):
            begin, end = (len(coded) * count // len(batch) for count in (number, number + 1))
            parts.append(pack.compress(coded[begin:end]))
            packed += 1
            if on_page is not None:
                on_page(packed)
        frames.append((batch, b"".join([*parts, pack.flush()])))
    return _write(storage, name, frames)


def _coded_frames(pages: Sequence[PageImage], most: int = PAGES_A_FRAME) -> Iterator[tuple[Sequence[PageImage], bytes]]:
    """The pages of each frame, coded. Frames of pictures that are no pages have fewer, so that each can be read."""
    from memory.pages.symbol_coding import LARGEST, encode_pages

    for start in range(0, len(pages), most):
        batch = pages[start : start + most]
        coded = encode_pages([page.png for page in batch])
        if len(coded) > LARGEST and len(batch) > 1:
            yield from _coded_frames(batch, -(-len(batch) // 2))
        else:
            yield batch, coded


def _write(storage: Storage, name: str, frames: Sequence[tuple[Sequence[PageImage], bytes]]) -> WrittenPack:
    parts, leaves, offset = [MAGIC], list[PackedImage](), len(MAGIC)
    for pages, frame in frames:
        leaves += (_leaf(page, offset, len(frame), at) for at, page in enumerate(pages))
        parts.append(frame)
        offset += len(frame)
    listed = packer()(msgspec.json.encode(PackDirectory(schema=3, pages=tuple(leaves))))
    footer = _FOOTER.pack(offset, len(listed), hashlib.sha256(listed).digest(), END)
    body = b"".join([*parts, listed, footer])
    storage.write(name, body)
    return WrittenPack(name=name, size=len(body), sha256=hashlib.sha256(body).digest())


def _leaf(page: PageImage, offset: int, length: int, at: int) -> PackedImage:
    return PackedImage(
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


class _StoredPngs:
    """A frame of version 1: PNGs one after another. `sizes` by offset."""

    def __init__(self, unpacked: bytes, sizes: Mapping[int, int]) -> None:
        self._unpacked = unpacked
        self._sizes = sizes

    def __len__(self) -> int:
        return len(self._sizes)

    def png(self, at: int) -> bytes:
        return self._unpacked[at : at + self._sizes[at]]


class Pack:
    """A pack, open for reading. Raises Damaged where the file is damaged."""

    def __init__(self, storage: Storage, name: str) -> None:
        self.name = name
        self._storage = storage
        self._version, self.pages = self._opened()

    @property
    def place(self) -> str:
        return f"{self._storage.place}/{self.name}"

    def png(self, position: int) -> bytes:
        """The PNG at that position, from 0."""
        return self.page_of_frame(position, self.open_frame(self.frame_of(position)))

    def expect(self, position: int, page: str) -> None:
        """Raises Damaged where another page is at that position: then it is another pack under this one's name."""
        if (found := self._leaf(position).id) != page:
            raise self._damaged(f"it contains page {found} where page {page} should be")

    def frame_of(self, position: int) -> PackFrame:
        """The frame of that page: neighbours share it in a cold pack."""
        leaf = self._leaf(position)
        if leaf.size > _LARGEST_PNG or min(leaf.at, leaf.size) < 0:
            raise self._damaged(f"page {leaf.id} claims {leaf.size} bytes at {leaf.at}")
        return PackFrame(leaf.offset, leaf.length)

    def open_frame(self, frame: PackFrame) -> FramePages:
        """The frame's pages, unpacked."""
        from memory.pages.symbol_coding import LARGEST, PageSymbols

        try:
            packed = self._read(frame.offset, frame.length)
            if self._version == _VERSION:
                return PageSymbols(unpack(packed, limit=LARGEST))
            sizes = {leaf.at: leaf.size for leaf in self.pages if leaf.offset == frame.offset}
            return _StoredPngs(unpack(packed, limit=min(LARGEST, max(at + size for at, size in sizes.items()))), sizes)
        except Damaged as error:
            first = next(leaf.id for leaf in self.pages if leaf.offset == frame.offset)
            raise self._damaged(f"page {first} in it cannot be unpacked ({error.message})") from error

    def page_of_frame(self, position: int, pages: FramePages) -> bytes:
        """That page's PNG, from its unpacked frame."""
        leaf = self._leaf(position)
        try:
            png = pages.png(leaf.at)
        except Damaged as error:
            raise self._damaged(f"page {leaf.id} cannot be rebuilt ({error.message})") from error
        if len(png) != leaf.size:
            raise self._damaged(f"page {leaf.id} has {len(png):,} bytes instead of {leaf.size:,}")
        return png

    def _leaf(self, position: int) -> PackedImage:
        if not 0 <= position < len(self.pages):
            raise self._damaged(f"it has no page at position {position}")
        return self.pages[position]

    def _opened(self) -> tuple[int, tuple[PackedImage, ...]]:
        """The pack's version, and its list of pages."""
        size = self._storage.size(self.name)
        head = self._read(0, len(MAGIC)) if size >= len(MAGIC) + _FOOTER.size else b""
        if not head.startswith(SIGNATURE) or head[-1] < 1:
            raise self._damaged("it is not a pack")
        _refuse_version(head, self.place)
        offset, length, sha256, end = _FOOTER.unpack(self._read(size - _FOOTER.size, _FOOTER.size))
        if end != END or offset + length + _FOOTER.size != size:
            raise self._damaged("its end is missing")
        frame = self._read(offset, length)
        if hashlib.sha256(frame).digest() != sha256:
            raise self._damaged("its list of pages was altered")
        try:
            return head[-1], decode_json(unpack(frame, limit=_LONGEST_LIST), PackDirectory).pages
        except msgspec.DecodeError as error:
            raise self._damaged(f"its list of pages cannot be read ({error})") from error

    def _read(self, offset: int, length: int) -> bytes:
        return self._storage.read(self.name, offset, length)

    def _damaged(self, why: str) -> Damaged:
        return Damaged(
            "Damaged pack",
            f"The pack {self.place}: {why}.",
            f"`{PROGRAM} check --repair` repairs what can be repaired; otherwise restore the file from a backup.",
        )
