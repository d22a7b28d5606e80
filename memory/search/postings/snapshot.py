"""Postings as a file, mapped into memory when opened.

    PALPOST1 · CRC-32 of the rest · length of the header · header (JSON) · sections, each at a multiple of 8

It is a cache: all that it holds comes from the cold store's rows, and a file that is damaged, or was made by another
analyser, or does not belong to this store, is deleted and made anew.
"""

import mmap
import re
import struct
import zlib
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from foundation.files import make_private_folder, write_atomically
from memory.search.postings.documents import COLUMNS, Documents
from memory.search.postings.growing import Column
from memory.search.postings.postings import Standing
from memory.search.words.analyse import ANALYSER

_MAGIC = b"PALPOST1"
_START = struct.Struct("<8sII")
_ABANDONED = 600  # seconds: nobody writes one for so long
_NAME = re.compile(r"postings-(\d{12})\.bin")
_POSTINGS = {"text": "u1", "edges": "i8", "starts": "i8", "documents": "i4", "counts": "u1"}


class Section(Struct, frozen=True):
    name: str
    dtype: str
    offset: int  # from the end of the header's padding
    count: int


class Header(Struct, frozen=True):
    """`change` is the store's change that the snapshot has taken in, `mark` what that change was."""

    analyser: int
    change: int
    mark: tuple[str, int]
    names: list[str]
    sections: list[Section]


class Snapshot(Struct, frozen=True):
    change: int
    mark: tuple[str, int]
    documents: Documents
    standing: Standing


def name_of(change: int) -> str:
    return f"postings-{change:012d}.bin"


def newest(folder: Path) -> list[Path]:
    """The snapshots of a folder, newest first."""
    return sorted((path for path in folder.glob("postings-*.bin") if _NAME.fullmatch(path.name)), reverse=True)


def save(folder: Path, snapshot: Snapshot) -> Path:
    """Writes it whole or not at all, then deletes the older ones. Raises OSError."""
    make_private_folder(folder)
    path = folder / name_of(snapshot.change)
    if not path.exists():
        write_atomically(path, encode(snapshot))
    discard_before(path)
    return path


def discard_before(path: Path) -> None:
    """Deletes the snapshots older than this one, and what a crash left of one half written."""
    for other in newest(path.parent):
        if other.name < path.name:
            discard(other)
    for left in path.parent.glob(".postings-*.tmp"):
        with suppress(FileNotFoundError):
            if left.stat().st_mtime < path.stat().st_mtime - _ABANDONED:
                discard(left)


def discard(path: Path) -> None:
    """Deletes it. Windows keeps a file that somebody has mapped: a later save deletes it then."""
    with suppress(FileNotFoundError, PermissionError):
        path.unlink()


def encode(snapshot: Snapshot) -> bytes:
    documents, standing = snapshot.documents, snapshot.standing
    arrays: dict[str, Column] = {f"document.{name}": documents[name] for name in COLUMNS}
    arrays |= {name: getattr(standing, name) for name in _POSTINGS if name != "text"}
    arrays["text"] = np.frombuffer(standing.text, "u1")
    sections, bodies, at = list[Section](), list[bytes](), 0
    for name, array in arrays.items():
        body = array.astype(array.dtype.newbyteorder("<")).tobytes()
        sections.append(Section(name, array.dtype.str[1:], at, len(array)))
        bodies.append(body + bytes(-len(body) % 8))
        at += len(bodies[-1])
    header = msgspec.json.encode(Header(ANALYSER, snapshot.change, snapshot.mark, documents.names, sections))
    header += b" " * (-(_START.size + len(header)) % 8)
    rest = b"".join((struct.pack("<I", len(header)), header, *bodies))
    return _MAGIC + struct.pack("<I", zlib.crc32(rest)) + rest


def load(path: Path) -> Snapshot | None:
    """None where it is not whole, or was made by another analyser."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return _decode(mapped)
    except (OSError, ValueError, KeyError, struct.error, msgspec.MsgspecError):
        return None


def _decode(mapped: mmap.mmap) -> Snapshot | None:
    magic, crc, length = _START.unpack_from(mapped, 0)
    with memoryview(mapped)[12:] as rest:
        if magic != _MAGIC or zlib.crc32(rest) != crc:
            return None
    start = _START.size + length
    header = msgspec.json.decode(mapped[_START.size : start], type=Header)
    if header.analyser != ANALYSER:
        return None
    arrays = {
        section.name: np.frombuffer(mapped, f"<{section.dtype}", section.count, start + section.offset)
        for section in header.sections
    }
    documents = Documents({name: arrays[f"document.{name}"] for name in COLUMNS}, header.names)
    standing = Standing(
        arrays["text"].tobytes(), *(arrays[name] for name in ("edges", "starts", "documents", "counts"))
    )
    return Snapshot(header.change, header.mark, documents, standing)
