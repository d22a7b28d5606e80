"""Builds `data/cells.zst`, the marked glyph table. Run by hand when the source glyphs change, never at install:

    python -m memory.archive.build_glyphs unifont.hex unifont_upper.otf

The sources are GNU Unifont's (Debian's packages `unifont` and `fonts-unifont` carry them). Some of its glyphs look
alike to the pixel; here one unobtrusive pixel is flipped in each lower-priority twin, so that every drawable character
has a bitmap of its own, and no wide glyph begins with the pixels of a narrow one. What is made is a modified version,
and so bears another name; `data/NOTICE` says whose work it rests on.
"""

import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import zstandard
from PIL import Image, ImageDraw, ImageFont

from memory.archive.glyphs import ESCAPE, FILLER, HEAD, MAGIC, NEWLINE, RESERVED, TABLES
from memory.archive.modes import REGULAR

Bitmap = bytes  # 16 rows of one byte (narrow) or two (wide), a set bit is ink

_NEWLINE_BITMAP = bytes.fromhex("0404040404040414247C201000000000")  # U+21B5's
_FILLER_BITMAP = bytes.fromhex("00000000000000000000000000000303")
_HEAD_BITMAP = bytes.fromhex("00000000406070787F78706040000000")  # a triangle that points to a line
_ESCAPE_BITMAP = bytes.fromhex("000078407040780E100C021C00000000")  # a small E over a small S

_PRIORITY = (  # the earlier keeps its pixels; the later is marked
    (0x00, 0x7E),
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x3000, 0x30FF),
    (0xAC00, 0xD7A3),
    (0x2500, 0x259F),
    (0xA1, 0x24F),
    (0x370, 0x3FF),
    (0x400, 0x4FF),
)


def main(hex_file: str, upper_font: str) -> None:
    """Write the table; `hex_file` has the basic plane, `upper_font` the planes above."""
    stock = dict(_hex_glyphs(Path(hex_file))) | dict(_font_glyphs(Path(upper_font)))
    stock = {code: bits for code, bits in stock.items() if code not in RESERVED}
    marked, marks = _mark(stock)
    table = TABLES[REGULAR]
    table.write_bytes(zstandard.ZstdCompressor(level=22).compress(_serialise(marked)))
    sys.stderr.write(f"{len(stock)} glyphs, {marks} marked, {table.stat().st_size} bytes in {table}\n")


def _hex_glyphs(path: Path) -> Iterator[tuple[int, Bitmap]]:
    for line in path.read_text("ascii").splitlines():
        code, bits = line.split(":")
        yield int(code, 16), bytes.fromhex(bits)


def _font_glyphs(path: Path) -> Iterator[tuple[int, Bitmap]]:
    """The font's outlines at 16 px, which are its bitmaps to the pixel; a combining mark is moved into its own cell."""
    font = ImageFont.truetype(path, 16, layout_engine=ImageFont.Layout.BASIC)
    for code in _mapped(path.read_bytes()):
        sheet = Image.new("1", (64, 16), 0)
        pen = ImageDraw.Draw(sheet)
        pen.fontmode = "1"
        pen.text((24, 14), chr(code), fill=1, font=font, anchor="ls")
        advance = round(font.getlength(chr(code)))
        box = sheet.getbbox() or (24, 0, 24, 16)
        left = 24 if advance else box[0]
        wide = advance > 8 or box[2] - left > 8
        yield code, sheet.crop((left, 0, left + (16 if wide else 8), 16)).tobytes()


def _mapped(font: bytes) -> Iterator[int]:
    """The code points above the basic plane in an OpenType font's `cmap` (subtable format 12)."""
    tables = {font[at : at + 4]: struct.unpack(">I", font[at + 8 : at + 12])[0] for at in range(12, 12 + 16 * 32, 16)}
    cmap = tables[b"cmap"]
    (count,) = struct.unpack(">H", font[cmap + 2 : cmap + 4])
    for n in range(count):
        (offset,) = struct.unpack(">I", font[cmap + 8 + 8 * n : cmap + 12 + 8 * n])
        table = cmap + offset
        if struct.unpack(">H", font[table : table + 2]) != (12,):
            continue
        (groups,) = struct.unpack(">I", font[table + 12 : table + 16])
        for group in range(groups):
            first, last, _ = struct.unpack(">III", font[table + 16 + 12 * group : table + 28 + 12 * group])
            yield from range(max(first, 0x10000), last + 1)
        return


def _mark(stock: dict[int, Bitmap]) -> tuple[dict[int, Bitmap], int]:
    """Every code point with a bitmap of its own, and how many had to be marked.

    Narrow ones go first: no narrow shape may appear once a wide glyph was found clear of them all.
    """
    special = {HEAD: _HEAD_BITMAP, ESCAPE: _ESCAPE_BITMAP, NEWLINE: _NEWLINE_BITMAP, FILLER: _FILLER_BITMAP}
    everything = special | stock
    taken = set[Bitmap]()
    narrow_shapes = {bits for bits in everything.values() if len(bits) == 16}
    all_shapes = set(everything.values())
    marked: dict[int, Bitmap] = {}
    marks = 0
    for code in sorted(everything, key=lambda code: (len(everything[code]), _rank(code), code)):
        bits = everything[code]
        if bits in taken or _begins_narrow(bits, narrow_shapes):
            bits = next(
                twin for twin in _twins(bits) if twin not in all_shapes and not _begins_narrow(twin, narrow_shapes)
            )
            marks += 1
        taken.add(bits)
        all_shapes.add(bits)
        if len(bits) == 16:
            narrow_shapes.add(bits)
        marked[code] = bits
    _prove(marked)
    return marked, marks


def _rank(code: int) -> int:
    if code in (ESCAPE, NEWLINE, FILLER, HEAD):
        return -1
    return next((n for n, (first, last) in enumerate(_PRIORITY) if first <= code <= last), len(_PRIORITY))


def _begins_narrow(bits: Bitmap, narrow_shapes: set[Bitmap]) -> bool:
    return len(bits) == 32 and bits[::2] in narrow_shapes


def _twins(bits: Bitmap) -> Iterator[Bitmap]:
    """The bitmap with one pixel flipped, the least obtrusive place first: corners, then edges, then within.

    In a wide glyph the pixel is in the left half, which is what must differ from every narrow glyph.
    """
    step = len(bits) // 16
    places = sorted(
        ((row, column) for row in range(16) for column in range(8)),
        key=lambda place: (min(15 - place[0], place[0]) + min(place[1], 7 - place[1]), -place[0], place[1]),
    )
    for row, column in places:
        twin = bytearray(bits)
        twin[row * step] ^= 0x80 >> column
        yield bytes(twin)


def _prove(marked: dict[int, Bitmap]) -> None:
    narrow = {bits for bits in marked.values() if len(bits) == 16}
    if len(set(marked.values())) != len(marked) or any(_begins_narrow(bits, narrow) for bits in marked.values()):
        raise AssertionError("two characters share a bitmap")


def _serialise(marked: dict[int, Bitmap]) -> bytes:
    """The magic, how many are narrow and wide, then each kind's code points (uint32, little-endian) and bitmaps."""
    kinds = [sorted(code for code, bits in marked.items() if len(bits) == size) for size in (16, 32)]
    body = b"".join(
        struct.pack(f"<{len(codes)}I", *codes) + b"".join(marked[code] for code in codes) for codes in kinds
    )
    return MAGIC + struct.pack("<II", *map(len, kinds)) + body


if __name__ == "__main__":
    main(*sys.argv[1:3])
