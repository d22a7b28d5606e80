"""Pictures in and out: our own PNG written and read by hand, anyone else's through Pillow, within a bound.

Ink is a (height, width/8) uint8 array, most significant bit first, a set bit is ink.
"""

import io
import struct
import warnings
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from foundation.image_errors import why_unreadable
from memory.errors import NotAPage

MOST_BLOCKS = 64  # stored blocks of a PNG of ours: the largest page has four
MOST_PIXELS = 40_000_000
FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF", "PPM")

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_DATA_AT = 41  # where the pixel data of our PNGs begins
_LONGEST_BLOCK = 65_535  # bytes of a stored block
_GREY_1_BIT = (1, 0, 0, 0, 0)  # depth, colour type, compression, filter, interlace


def encode_png(ink: NDArray[np.uint8], blocks: Sequence[int] = ()) -> bytes:
    """A 1-bit grey PNG, stored (not compressed), black on white, no metadata: the same bytes with every zlib.

    `blocks` are the lengths of the zlib stream's stored blocks, where they are to be those of another encoder.
    """
    height, stride = ink.shape
    raw = np.zeros((height, stride + 1), np.uint8)  # a filter byte before each row: none
    np.invert(ink, out=raw[:, 1:])
    head = struct.pack(">IIBBBBB", stride * 8, height, *_GREY_1_BIT)
    data = _stored(raw.tobytes(), blocks)
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def stored_blocks(png: bytes) -> tuple[int, ...]:
    """Lengths of the stored blocks of a PNG as `encode_png` writes them; none where it has others, or is another."""
    (length,) = struct.unpack_from(">I", png, _DATA_AT - 8) if len(png) > _DATA_AT else (0,)
    at, end, blocks = _DATA_AT + 2, min(_DATA_AT + length - 4, len(png)), list[int]()
    while at + 5 <= end and len(blocks) < MOST_BLOCKS:
        is_last, size, inverse = struct.unpack_from("<BHH", png, at)
        if is_last > 1 or size ^ inverse != 0xFFFF:
            return ()
        blocks.append(size)
        at += 5 + size
        if is_last:
            return tuple(blocks) if at == end else ()
    return ()


def _stored(raw: bytes, blocks: Sequence[int]) -> bytes:
    """A zlib stream of stored blocks (RFC 1950, 1951), as long as possible unless `blocks` has their lengths."""
    parts, at = [b"\x78\x01"], 0
    whole, rest = divmod(len(raw), _LONGEST_BLOCK)
    for size in blocks or [_LONGEST_BLOCK] * whole + [rest] * bool(rest):
        parts += [struct.pack("<BHH", at + size == len(raw), size, size ^ 0xFFFF), raw[at : at + size]]
        at += size
    return b"".join([*parts, struct.pack(">I", zlib.adler32(raw))])


def decode(picture: bytes) -> NDArray[np.uint8]:
    """The picture's ink, dark on light. Raises NotAPage for what is no picture, or more than 40 million pixels."""
    ink = decode_own(picture)
    return np.packbits(decode_grey(picture) < 128, axis=1) if ink is None else ink


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))


def decode_own(picture: bytes) -> NDArray[np.uint8] | None:
    """The ink of a 1-bit grey PNG without row filters, whole and sound; None for any other."""
    if not picture.startswith(_SIGNATURE + b"\x00\x00\x00\rIHDR") or len(picture) < 33:
        return None
    width, height, *kind = struct.unpack_from(">IIBBBBB", picture, 16)
    if tuple(kind) != _GREY_1_BIT or width % 8 or not 0 < width * height <= MOST_PIXELS:
        return None
    size = height * (width // 8 + 1)
    packed = _pixel_data(picture)
    if packed is None:
        return None
    inflate = zlib.decompressobj()
    try:
        raw = inflate.decompress(packed, size + 1)
    except zlib.error:
        return None
    if len(raw) != size or not inflate.eof:
        return None
    rows = np.frombuffer(raw, np.uint8).reshape(height, width // 8 + 1)
    return None if rows[:, 0].any() else ~rows[:, 1:]


def _pixel_data(picture: bytes) -> bytes | None:
    """All IDAT chunks, joined; None where a chunk is cut off, its CRC is off, or it changes what pixels mean."""
    view, at = memoryview(picture), len(_SIGNATURE)
    chunks: list[memoryview] = []
    while at + 12 <= len(view):
        (length,) = struct.unpack_from(">I", view, at)
        kind, data = bytes(view[at + 4 : at + 8]), view[at + 8 : at + 8 + length]
        end = at + 12 + length
        if end > len(view) or struct.unpack_from(">I", view, end - 4)[0] != zlib.crc32(data, zlib.crc32(kind)):
            return None
        match kind:
            case b"IDAT":
                chunks.append(data)
            case b"tRNS":
                return None
            case b"IEND":
                return bytes(chunks[0]) if len(chunks) == 1 else b"".join(chunks)
            case _:
                pass
        at = end
    return None


def decode_grey(picture: bytes) -> NDArray[np.uint8]:
    """The picture (height, width), 0 black to 255 white. Raises NotAPage as `decode` does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(picture), formats=FORMATS) as image:
                grey = _grey(image) if image.width * image.height <= MOST_PIXELS else None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        grey = None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise NotAPage("Not a picture", why_unreadable(picture, error)) from error
    if grey is None:
        raise NotAPage(
            "Picture too large",
            f"The picture has more than {MOST_PIXELS:,} pixels; it was not opened.",
            "Pages have at most 1280×1280 pixels: scale it down to that.",
        )
    return np.asarray(grey)


def _grey(image: Image.Image) -> Image.Image:
    """Eight bits a pixel, transparency laid on white."""
    if image.mode in ("LA", "RGBA", "PA") or "transparency" in image.info:
        ground = Image.new("RGBA", image.size, "white")
        ground.alpha_composite(image.convert("RGBA"))
        return ground.convert("L")
    if image.mode.startswith(("I", "F")):  # 16 bits and more: scaled by hand, `convert` would cut off
        return image.convert("F").point(lambda value: value / 257).convert("L")
    return image.convert("L")
