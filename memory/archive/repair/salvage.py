"""Salvages pages from the bytes of a damaged pack: every zstd frame that opens, as far as it opens.

It needs neither the pack's list nor an index. The pages are verified by their own hashes alone.
"""

from collections.abc import Iterator
from typing import Any, cast

import zstandard
from msgspec import Struct

from foundation.trust import Trust
from memory.errors import Damaged, NotAPage
from memory.pages.read.reader import read_picture
from memory.pages.symbol_coding import LARGEST, MAGIC, PageSymbols
from memory.pages.types import PageText

_zstd = cast("Any", zstandard)  # its types are not declared
FRAME = b"\x28\xb5\x2f\xfd"
PNG = b"\x89PNG\r\n\x1a\n"
_END = b"IEND\xae\x42\x60\x82"
LARGEST_PNG = 2**20
WIDEST_WINDOW = 2**25  # bytes: what zstd keeps while it unpacks; 64 of our largest pages take half of it
MOST = 2**31  # bytes of pictures out of one pack

_AT_ONCE = 512  # compressed bytes: a bomb expands them to 16 MB at most before it is dropped


class SalvagedPage(Struct, frozen=True):
    """A page whose pixels match their hash."""

    png: bytes
    page: PageText


def salvaged_pages(body: bytes) -> Iterator[SalvagedPage]:
    """Every sound page in the bytes of a pack, in their order there."""
    for png in pictures(body):
        try:
            page = read_picture(png, engine="cells")
        except NotAPage:
            continue
        if page.trust is Trust.EXACT:
            yield SalvagedPage(png, page)


def pictures(body: bytes) -> Iterator[bytes]:
    """The PNGs in every frame that can be opened, as far as it can: PNGs themselves, or pages coded by symbols."""
    left, at = MOST, body.find(FRAME)
    while at >= 0 and left > 0:
        frame = _Frame(body, at)
        for png in frame.pictures():
            left -= len(png)
            yield png
        at = body.find(FRAME, frame.end)


class _Frame:
    """A frame that begins at `at`; `end` is its end, known once its pictures were read."""

    def __init__(self, body: bytes, at: int) -> None:
        self._body, self._at = body, at
        self.end = at + len(FRAME)

    def pictures(self) -> Iterator[bytes]:
        held = bytearray()
        for piece in self._pieces():
            held += piece
            while held.startswith(PNG) and (end := held.find(_END)) >= 0:
                yield bytes(held[: end + len(_END)])
                del held[: end + len(_END)]
            is_coded = held.startswith(MAGIC[: len(held)])
            longest = LARGEST if is_coded else LARGEST_PNG
            if not (is_coded or held.startswith(PNG[: len(held)])) or len(held) > longest:
                return
        if held.startswith(MAGIC):
            yield from _coded_pictures(bytes(held))

    def _pieces(self) -> Iterator[bytes]:
        """What the frame holds, until it ends or cannot be unpacked further."""
        unpacker = _zstd.ZstdDecompressor(max_window_size=WIDEST_WINDOW).decompressobj()
        for at in range(self._at, len(self._body), _AT_ONCE):
            piece = self._body[at : at + _AT_ONCE]
            try:
                yield cast("bytes", unpacker.decompress(piece))
            except _zstd.ZstdError:
                return
            if unpacker.eof:
                self.end = at + len(piece) - len(cast("bytes", unpacker.unused_data))
                return


def _coded_pictures(coded: bytes) -> Iterator[bytes]:
    """The pages that can be rebuilt: of a frame that was cut off, those before its end."""
    try:
        pages = PageSymbols(coded, whole=False)
    except Damaged:
        return
    for number in range(len(pages)):
        try:
            yield pages.png(number)
        except Damaged:
            continue
