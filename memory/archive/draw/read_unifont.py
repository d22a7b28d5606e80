"""Reads GNU Unifont's glyphs: the basic plane from its hex file, the planes above from its font. For `build_glyphs`."""

import struct
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from memory.archive.draw.marking import Bitmap


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
