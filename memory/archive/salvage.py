"""Pages out of a pack's bytes, however damaged the pack: every zstd frame that opens, as far as it opens.

Needs neither the pack's list nor an index. What comes out is vouched for by the pages' own hashes alone.
"""

from collections.abc import Iterator
from typing import Any, cast

import zstandard
from msgspec import Struct

from foundation.trust import Trust
from memory.archive.passage import PageText
from memory.archive.reading import read_picture
from memory.errors import NotAPage

_zstd = cast("Any", zstandard)  # its types are not declared
FRAME = b"\x28\xb5\x2f\xfd"
PNG = b"\x89PNG\r\n\x1a\n"
_END = b"IEND\xae\x42\x60\x82"
LARGEST_PNG = 2**20
WIDEST_WINDOW = 2**25  # bytes: what zstd keeps while it unpacks; 64 of our largest pages take half of it
MOST = 2**31  # bytes of pictures out of one pack

_AT_ONCE = 2**16


class Saved(Struct, frozen=True):
    """A page whose pixels match their hash."""

    png: bytes
    page: PageText


def saved_pages(body: bytes) -> Iterator[Saved]:
    """Every sound page in the bytes of a pack, in the order in which they stand there."""
    for png in pictures(body):
        try:
            page = read_picture(png, engine="cells")
        except NotAPage:
            continue
        if page.trust is Trust.EXACT:
            yield Saved(png, page)


def pictures(body: bytes) -> Iterator[bytes]:
    """The PNGs in every frame that can be opened, as far as it can."""
    left = MOST
    at = body.find(FRAME)
    while at >= 0 and left > 0:
        for png in _in_frame(memoryview(body)[at:]):
            left -= len(png)
            yield png
        at = body.find(FRAME, at + len(FRAME))


def _in_frame(body: memoryview) -> Iterator[bytes]:
    reader = _zstd.ZstdDecompressor(max_window_size=WIDEST_WINDOW).stream_reader(body, read_across_frames=False)
    held = b""
    while len(held) < 2 * LARGEST_PNG:
        try:
            more = cast("bytes", reader.read(_AT_ONCE))
        except _zstd.ZstdError:
            return
        held += more
        while held.startswith(PNG) and (end := held.find(_END)) >= 0:
            yield held[: end + len(_END)]
            held = held[end + len(_END) :]
        if not more or not held.startswith(PNG[: len(held)]):
            return
