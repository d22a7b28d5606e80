"""Contents in pieces of fixed size, each stored under the SHA-256 of its bytes.

Fixed sizes suit what is saved: a database changes pages in place, packs never change, notes are smaller than a piece.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

from memory.backup.errors import BackupDamaged
from memory.backup.place import BackupPlace
from memory.errors import Damaged
from memory.versions.objects import checked, content_name, unchecked
from memory.zstd import packer, unpack

FILE_PIECE: Final = 2**20
DATABASE_PIECE: Final = 2**16
"""Bytes of a piece of the database: a few changed pages cost little, and a remote place takes not too many files."""

MOST: Final = 2**20
SUFFIX: Final = ".piece"
_MAGIC: Final = b"PBP1"


def cut(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The file's bytes in pieces of `size`; the last one is shorter."""
    while body := file.read(size):
        yield body


def encode_piece(body: bytes) -> bytes:
    """What is stored of a piece."""
    return checked(_MAGIC, packer()(body))


def read_piece(place: BackupPlace, name: str) -> bytes:
    """The bytes of the piece. Raises BackupDamaged where it is missing or differs in a single bit."""
    stored = place.read(name + SUFFIX)
    frame = unchecked(_MAGIC, stored)
    try:
        body = unpack(frame, limit=MOST) if frame is not None else None
    except Damaged:
        body = None
    if body is None or content_name(body) != name:
        raise BackupDamaged(
            "A piece of the backup is damaged", f"{name}{SUFFIX} at {place.name} was changed or damaged."
        )
    return body
