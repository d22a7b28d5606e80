"""Readers of font files, used by `memory.pages.font.build` only.

X11 fonts in the Portable Compiled Format, and GNU Unifont: the basic plane from its hex file, the planes above from its
font.
"""

import gzip
import struct
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from PIL import Image, ImageDraw, ImageFont

from memory.pages.font.unique import Bitmap

_ACCELERATORS, _METRICS, _BITMAPS, _ENCODINGS, _BDF_ACCELERATORS = 1 << 1, 1 << 2, 1 << 3, 1 << 5, 1 << 8
_COMPRESSED_METRICS = 0x100
_NO_GLYPH = 0xFFFF


class PcfGlyph(Struct, frozen=True):
    """`rows` are its bitmap's rows as integers, the leftmost of `width` pixels the highest bit.

    `left` is where the bitmap begins right of the origin, `ascent` how many of its rows stand above the baseline.
    """

    code: int
    advance: int
    left: int
    width: int
    ascent: int
    rows: tuple[int, ...]


def read_pcf(path: Path) -> Iterator[PcfGlyph]:
    """All glyphs of the font, by code point. The file may be gzipped."""
    font = path.read_bytes()
    font = gzip.decompress(font) if font.startswith(b"\x1f\x8b") else font
    (count,) = struct.unpack_from("<I", font, 4)
    tables = {kind: at for kind, _, _, at in struct.iter_unpack("<IIII", font[8 : 8 + 16 * count])}
    metrics = _metrics(font, tables[_METRICS])
    bitmaps = _bitmaps(font, tables[_BITMAPS], metrics)
    for code, glyph in _encodings(font, tables[_ENCODINGS]):
        left, right, advance, ascent, _ = metrics[glyph]
        yield PcfGlyph(code, advance, left, right - left, ascent, bitmaps[glyph])


def _order(format_: int) -> str:
    return ">" if format_ & 4 else "<"


def _metrics(font: bytes, at: int) -> list[tuple[int, int, int, int, int]]:
    """(left bearing, right bearing, advance, ascent, descent) a glyph."""
    (format_,) = struct.unpack_from("<I", font, at)
    order = _order(format_)
    if format_ & _COMPRESSED_METRICS:
        (count,) = struct.unpack_from(f"{order}h", font, at + 4)
        rows = struct.iter_unpack("5B", font[at + 6 : at + 6 + 5 * count])
        return [(a - 128, b - 128, c - 128, d - 128, e - 128) for a, b, c, d, e in rows]
    (count,) = struct.unpack_from(f"{order}I", font, at + 4)
    rows = struct.iter_unpack(f"{order}5hH", font[at + 8 : at + 8 + 12 * count])
    return [(a, b, c, d, e) for a, b, c, d, e, _ in rows]


def _bitmaps(font: bytes, at: int, metrics: list[tuple[int, int, int, int, int]]) -> list[tuple[int, ...]]:
    (format_,) = struct.unpack_from("<I", font, at)
    order, pad, unit = _order(format_), 1 << (format_ & 3), 1 << (format_ >> 4 & 3)
    (count,) = struct.unpack_from(f"{order}I", font, at + 4)
    offsets = struct.unpack_from(f"{order}{count}I", font, at + 8)
    data = at + 8 + 4 * count + 16
    bitmaps: list[tuple[int, ...]] = []
    for offset, (left, right, _, ascent, descent) in zip(offsets, metrics, strict=True):
        width = right - left
        stride = -(-width // (8 * pad)) * pad
        rows: list[int] = []
        for row in range(ascent + descent):
            line = font[data + offset + row * stride : data + offset + (row + 1) * stride]
            rows.append(_row(line, format_, unit) >> (8 * stride - width))
        bitmaps.append(tuple(rows))
    return bitmaps


def _row(line: bytes, format_: int, unit: int) -> int:
    """A row's bytes as one integer, the leftmost pixel the highest bit."""
    if bool(format_ & 4) != bool(format_ & 8) and unit > 1:  # bytes within a unit stand in the other order
        line = b"".join(line[n : n + unit][::-1] for n in range(0, len(line), unit))
    if not format_ & 8:  # bits within a byte stand in the other order
        line = bytes(int(f"{byte:08b}"[::-1], 2) for byte in line)
    return int.from_bytes(line, "big")


def _encodings(font: bytes, at: int) -> Iterator[tuple[int, int]]:
    """(code point, glyph)."""
    (format_,) = struct.unpack_from("<I", font, at)
    order = _order(format_)
    low_first, low_last, high_first, high_last, _ = struct.unpack_from(f"{order}5H", font, at + 4)
    width = low_last - low_first + 1
    for high in range(high_first, high_last + 1):
        row = struct.unpack_from(f"{order}{width}H", font, at + 14 + 2 * width * (high - high_first))
        yield from ((high << 8 | low_first + low, glyph) for low, glyph in enumerate(row) if glyph != _NO_GLYPH)


def read_unifont(hex_file: Path, upper_font: Path) -> dict[int, Bitmap]:
    """Bitmaps of 16 rows by code point: 8 pixels wide, or 16."""
    return dict(_hex_glyphs(hex_file)) | dict(_font_glyphs(upper_font))


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
