"""Builds the marked glyph tables in `data/`. Run by hand when a source changes, never at install:

    python -m memory.archive.draw.build_glyphs 8x16 unifont.hex unifont_upper.otf
    python -m memory.archive.draw.build_glyphs 6x12 6x12.pcf.gz h12.pcf.gz f12.pcf.gz 12x13ja.pcf.gz \\
        unifont.hex unifont_upper.otf

The sources are in Debian's packages `unifont`, `fonts-unifont`, `xfonts-base` and `xfonts-efont-unicode`. Some of
their glyphs look alike to the pixel; here one unobtrusive pixel is flipped in each lower-priority twin, so that every
drawable character has a bitmap of its own, and no wide glyph begins with the pixels of a narrow one. What is made is a
modified version, and so bears another name; `data/NOTICE` says whose work it rests on.
"""

import struct
import sys
from collections.abc import Sequence
from pathlib import Path

import zstandard

from memory.archive.draw.dense_glyphs import gather
from memory.archive.draw.glyphs import ESCAPE, FILLER, HEAD, MAGIC, NEWLINE, RESERVED, TABLES
from memory.archive.draw.marking import Bitmap, mark
from memory.archive.draw.modes import DENSE, REGULAR, Cell
from memory.archive.draw.read_unifont import read_unifont

_TAB, _RETURN = 0x09, 0x0D
_OWN = {
    REGULAR: {
        NEWLINE: bytes.fromhex("0404040404040414247C201000000000"),  # U+21B5's
        FILLER: bytes.fromhex("00000000000000000000000000000303"),
        ESCAPE: bytes.fromhex("000078407040780E100C021C00000000"),  # a small E over a small S
        HEAD: bytes.fromhex("00000000406070787F78706040000000"),  # a triangle that points to its line
    },
    DENSE: {
        NEWLINE: bytes.fromhex("000008080848F84000000000"),
        FILLER: bytes.fromhex("00000000000000000000000C"),
        ESCAPE: bytes.fromhex("00E080C080F0388030083800"),
        HEAD: bytes.fromhex("00004060707C786040000000"),
        _TAB: bytes.fromhex("000000904824489000000000"),  # two points to the right
        _RETURN: bytes.fromhex("000000001020FC2010000000"),  # an arrow to the left
    },
}

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


def main(cell_name: str, *files: str) -> None:
    """Write the table for cells of that size from those files, in that order."""
    cell = next(cell for cell in TABLES if cell.name == cell_name)
    marked, marks = build(cell, list(map(Path, files)))
    table = TABLES[cell]
    table.write_bytes(zstandard.ZstdCompressor(level=22).compress(serialise(marked, cell)))
    sys.stderr.write(f"{len(marked)} glyphs, {marks} marked, {table.stat().st_size} bytes in {table}\n")


def build(cell: Cell, files: Sequence[Path]) -> tuple[dict[int, Bitmap], int]:
    """Every code point's own bitmap, and how many had to be marked. The last two files are Unifont's."""
    *fonts, hex_file, upper_font = files
    stock = gather(fonts, hex_file, upper_font) if cell == DENSE else read_unifont(hex_file, upper_font)
    stock = {code: bits for code, bits in stock.items() if code not in RESERVED}
    return mark(_OWN[cell] | stock, cell, _rank)


def serialise(marked: dict[int, Bitmap], cell: Cell) -> bytes:
    """The magic, how many are narrow and wide, then each kind's code points (uint32, little-endian) and bitmaps."""
    kinds = [sorted(code for code, bits in marked.items() if len(bits) == cell.height * n) for n in (1, 2)]
    body = b"".join(
        struct.pack(f"<{len(codes)}I", *codes) + b"".join(marked[code] for code in codes) for codes in kinds
    )
    return MAGIC + struct.pack("<II", *map(len, kinds)) + body


def _rank(code: int) -> int:
    if code in (ESCAPE, NEWLINE, FILLER, HEAD):
        return -1
    return next((n for n, (first, last) in enumerate(_PRIORITY) if first <= code <= last), len(_PRIORITY))


if __name__ == "__main__":
    main(*sys.argv[1:])
