"""The header rows of a page: who it is, and the hash by which its text is proven. Always 128 cells of ASCII.

PALIMPSEST-1 1f2e3d4c pg_abcdefghijkl 0000001 08064 <SHA-256 of the text> <CRC-32 of the rest>
"""

import hashlib
import re
import zlib

from msgspec import Struct

HEADER_CELLS = 128
MAGIC = "PALIMPSEST-1"  # and the version of the format
LAST_NUMBER = 9_999_999

_SHAPE = re.compile(
    rf"{MAGIC} (?P<table>[0-9a-f]{{8}}) (?P<page>pg_[0-9a-z]{{12}}) (?P<number>\d{{7}}) "
    r"(?P<used>\d{5}) (?P<sha>[0-9a-f]{64}) "
)


class Header(Struct, frozen=True):
    """What a page says of itself. `used` is how many cells its text takes, `sha256` hex."""

    table: str
    page: str
    number: int  # from 1 within its archive
    used: int
    sha256: str


def digest(text: str) -> bytes:
    """SHA-256 of a text's UTF-8; lone surrogates are let through (surrogatepass)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def write_header(header: Header) -> str:
    """Its 128 characters."""
    words = f"{MAGIC} {header.table} {header.page} {header.number:07d} {header.used:05d} {header.sha256} "
    return f"{words}{zlib.crc32(words.encode()):08x}".ljust(HEADER_CELLS)


def read_header(cells: str) -> Header | None:
    """The header in these 128 characters; None unless they are one to the last pixel."""
    found = _SHAPE.match(cells)
    if found is None:
        return None
    header = Header(
        table=found["table"],
        page=found["page"],
        number=int(found["number"]),
        used=int(found["used"]),
        sha256=found["sha"],
    )
    return header if write_header(header) == cells else None
