"""Builds the glyph tables in memory/pages/data: `python -m memory.pages.font.build`.

For cells of 6×12 pixels: the fonts are taken in order, and the first that has a character gives its glyph.
Symbols that six pixels are too few for, and what stands among ideographs, come from the first that has them wide.
A font of 13 rows gives those of its glyphs that leave the first row or the last blank, and Unifont, of 16, those whose
ink is no larger than the box of a wide glyph, if need be without a row or column that repeats the one before. What no
font gives is not drawn: it stands on a page as an escape.

Builds the marked glyph tables in `data/`. Run by hand when a source changes, never at install:

    python -m memory.pages.font.build 8x16 unifont.hex unifont_upper.otf
    python -m memory.pages.font.build 6x12 6x12.pcf.gz h12.pcf.gz f12.pcf.gz 12x13ja.pcf.gz \
        unifont.hex unifont_upper.otf

The sources are in Debian's packages `unifont`, `fonts-unifont`, `xfonts-base` and `xfonts-efont-unicode`. Some of
their glyphs look alike to the pixel; here one unobtrusive pixel is flipped in each lower-priority twin, so that every
drawable character has a bitmap of its own, and no wide glyph begins with the pixels of a narrow one. What is made is a
modified version, and so bears another name; `data/NOTICE` says whose work it rests on.
"""

import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import zstandard

from memory.pages.font.glyphs import ESCAPE, FILLER, HEAD, MAGIC, NEWLINE, RESERVED, TABLES
from memory.pages.font.sources import PcfGlyph, read_pcf, read_unifont
from memory.pages.font.unique import Bitmap, make_unique
from memory.pages.render.modes import DENSE, REGULAR, Cell

_WIDTH, _HEIGHT, _ASCENT = DENSE.width, DENSE.height, 10
_NARROW_INK = 5  # a column stays blank between two
_UNIFONT_ASCENT = 14
_SPACES = {0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000}  # what may be blank
_NEVER = (range(0x20), range(0x7F, 0xA0), range(0xD800, 0xF900), range(0xF0000, 0x110000))  # controls, private use


_BETTER_WIDE = (  # circled digits, symbols, and what stands among ideographs
    range(0x231A, 0x231C),
    range(0x2460, 0x2500),
    range(0x2600, 0x27C0),
    range(0x2E80, 0xA4D0),
    range(0xF900, 0xFB00),
    range(0xFE10, 0xFE50),
    range(0xFF01, 0xFF61),
    range(0xFFE0, 0xFFE7),
)


def gather(fonts: Iterable[Path], unifont_hex: Path, unifont_upper: Path) -> dict[int, Bitmap]:
    """Bitmaps of 12 rows by code point: 6 pixels wide, or 12 as two halves."""
    bitmaps: dict[int, Bitmap] = {}
    for font in fonts:
        for code, bits in _of_pcf(font):
            if code not in bitmaps or (len(bitmaps[code]) < len(bits) and _is_in(code, _BETTER_WIDE)):
                bitmaps[code] = bits
    for code, bits in read_unifont(unifont_hex, unifont_upper).items():
        if code not in bitmaps and (fitted := fitted_glyph(bits)) is not None:
            bitmaps[code] = fitted
    return {code: bits for code, bits in bitmaps.items() if _is_drawable(code, bits)}


def _is_drawable(code: int, bits: Bitmap) -> bool:
    return not _is_in(code, _NEVER) and (any(bits) or code in _SPACES)


def _is_in(code: int, ranges: Iterable[range]) -> bool:
    return any(code in codes for codes in ranges)


def _of_pcf(font: Path) -> Iterator[tuple[int, Bitmap]]:
    for glyph in read_pcf(font):
        rows = _within_rows(glyph)
        if rows is not None and glyph.advance in (_WIDTH, 2 * _WIDTH):
            yield glyph.code, _bitmap([_shifted(row, glyph) for row in rows], wide=glyph.advance > _WIDTH)


def _within_rows(glyph: PcfGlyph) -> list[int] | None:
    """The glyph's rows in the cell's, without blank ones of its font that are one too many; None where ink is lost."""
    rows = list(glyph.rows)
    if len(rows) == _HEIGHT + 1:
        rows = rows[1:] if not rows[0] else rows[:-1] if not rows[-1] else rows
    return rows if len(rows) == _HEIGHT else None


def _shifted(row: int, glyph: PcfGlyph) -> int:
    shift = glyph.advance - glyph.left - glyph.width
    return row << shift if shift >= 0 else row >> -shift


def fitted_glyph(bits: Bitmap) -> Bitmap | None:
    """A Unifont glyph in the box, on the same baseline where it can be; None where it is too large even squeezed."""
    step = len(bits) // 16
    rows = [f"{int.from_bytes(bits[n * step : n * step + step], 'big'):0{8 * step}b}" for n in range(16)]
    if "1" not in "".join(rows):
        return bytes(_HEIGHT)
    top = next(n for n, row in enumerate(rows) if "1" in row)
    rows = squeezed_lines(_trimmed(rows), _HEIGHT)
    columns = _trimmed(_transpose(rows))
    if step == 1 and len(columns) <= _NARROW_INK + 2:
        slim = squeezed_lines(columns, _NARROW_INK)
        columns = slim if len(slim) == _NARROW_INK else columns
    columns = squeezed_lines(columns, 2 * _WIDTH)
    height, width = len(rows), len(columns)
    if height > _HEIGHT or width > 2 * _WIDTH:
        return None
    box = _WIDTH if width <= _NARROW_INK else 2 * _WIDTH
    indent = (box - width) // 2 if box > _WIDTH else 0
    down = min(max(top - _UNIFONT_ASCENT + _ASCENT, 0), _HEIGHT - height)
    inked = [int("0" * indent + row.ljust(box - indent, "0"), 2) for row in _transpose(columns)]
    return _bitmap([0] * down + inked + [0] * (_HEIGHT - height - down), wide=box > _WIDTH)


def squeezed_lines(lines: list[str], most: int) -> list[str]:
    """The lines without some that are like the one before, from the middle out, until there are no more than that.

    A stroke becomes shorter by it, or a gap; none vanishes.
    """
    lines = list(lines)
    while len(lines) > most:
        same = [n for n in range(1, len(lines)) if lines[n] == lines[n - 1]]
        if not same:
            return lines
        del lines[min(same, key=lambda n: abs(2 * n - len(lines)))]
    return lines


def _trimmed(lines: list[str]) -> list[str]:
    """Without blank lines before and after the ink."""
    inked = [n for n, line in enumerate(lines) if "1" in line]
    return lines[inked[0] : inked[-1] + 1]


def _transpose(lines: list[str]) -> list[str]:
    """Rows as columns, and the other way about."""
    return ["".join(line) for line in zip(*lines, strict=True)]


def _bitmap(rows: list[int], *, wide: bool) -> Bitmap:
    """Rows as bytes, each with six pixels in its highest bits."""
    if not wide:
        return bytes(row << 2 for row in rows)
    return bytes(half for row in rows for half in (row >> _WIDTH << 2, (row & 0x3F) << 2))


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
    return make_unique(_OWN[cell] | stock, cell, _rank)


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
