"""The header rows of a page: who it is, and the hash by which its text is proven. Always 128 cells of ASCII.

PALIMPSEST-2 1f2e3d4c pg_abcdefghijkl 0000001 08064 01a <SHA-256 of the text><CRC-32 of the rest>

The first version had no count of head lines, and a space before the CRC; it is still read.
"""

import hashlib
import re
import zlib

from msgspec import Struct

HEADER_CELLS = 128
VERSION = 2
LAST_NUMBER = 9_999_999

_NAMES = r"(?P<table>[0-9a-f]{8}) (?P<page>pg_[0-9a-z]{12}) (?P<number>\d{7}) (?P<used>\d{5})"
_SHAPES = {
    1: re.compile(rf"PALIMPSEST-1 {_NAMES} (?P<sha>[0-9a-f]{{64}}) "),
    2: re.compile(rf"PALIMPSEST-2 {_NAMES} (?P<heads>[0-9a-f]{{3}}) (?P<sha>[0-9a-f]{{64}})"),
}


class PageHeader(Struct, frozen=True):
    """The header of a page. `used` is the count of cells of its text, `heads` that of its head lines."""

    table: str
    page: str
    number: int  # from 1 within its archive
    used: int
    sha256: str  # of the text, hex
    heads: int = 0
    version: int = VERSION


def text_digest(text: str) -> bytes:
    """SHA-256 of a text's UTF-8; lone surrogates are let through (surrogatepass)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def write_header(header: PageHeader) -> str:
    """Its 128 characters."""
    names = f"PALIMPSEST-{header.version} {header.table} {header.page} {header.number:07d} {header.used:05d}"
    words = f"{names} {header.sha256} " if header.version == 1 else f"{names} {header.heads:03x} {header.sha256}"
    return f"{words}{zlib.crc32(words.encode()):08x}".ljust(HEADER_CELLS)


def read_header(cells: str) -> PageHeader | None:
    """The header in these 128 characters; None unless they are one to the last pixel."""
    for version, shape in _SHAPES.items():
        if (match := shape.match(cells)) is None:
            continue
        header = PageHeader(
            table=match["table"],
            page=match["page"],
            number=int(match["number"]),
            used=int(match["used"]),
            sha256=match["sha"],
            heads=int(match["heads"], 16) if version > 1 else 0,
            version=version,
        )
        return header if write_header(header) == cells else None
    return None
