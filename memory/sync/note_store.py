"""Versions of note files that are known here."""

import hashlib
import re
from typing import Final

import apsw
import msgspec
from msgspec import Struct

from foundation.privacy import TextSource, clear
from foundation.terminal_text import visible, visible_line
from memory.cold.encoding import to_bytes, to_text
from memory.cold.sql import fetch, first, run
from memory.sync.operation import NoteOperation
from memory.zstd import packer, unpack

MOST: Final = 2**26  # bytes of a note file
_BREAKS: Final = frozenset("\t\n\r\v\f\x85\u2028\u2029")
_PATH: Final = re.compile(r"MEMORY\.md|memory/(?!\.)[^/\0\\:]{1,200}\.md")


class NoteVersion(Struct, frozen=True):
    """A version of a note file. A deleted file is an empty one."""

    id: str
    parents: tuple[str, ...]
    text: str
    clock: int
    device: str


def is_note(path: str) -> bool:
    """Whether a file of that relative name is a note: nothing else of a workspace goes to another device."""
    return bool(_PATH.fullmatch(path)) and visible(path) == path and not _BREAKS & set(path)


def is_hidden_name(path: str) -> bool:
    """Whether the file would be a note if its name held no control or bidi characters: nobody sees what it is."""
    return bool(_PATH.fullmatch(path)) and not is_note(path)


def version_id(path: str, parents: tuple[str, ...], text: bytes, clock: int, device: str) -> str:
    """The name of a version: SHA-256 of all that it says."""
    return hashlib.sha256(msgspec.msgpack.encode((path, parents, text, clock, device))).hexdigest()


def take_version(db: apsw.Connection, operation: NoteOperation) -> bool:
    """Keeps another device's version; whether it is new. Raises ValueError for one that no device writes."""
    made = version_id(operation.path, operation.parents, operation.text, operation.clock, operation.device)
    if is_hidden_name(operation.path):
        raise ValueError(f"the name of the note {visible_line(operation.path)} holds characters that are not shown")
    if made != operation.id or not is_note(operation.path):
        raise ValueError("a version of a note is not what was written")
    return put_version(db, operation, own=False)


def put_version(db: apsw.Connection, operation: NoteOperation, *, own: bool) -> bool:
    """Keeps the version; whether it is new."""
    if first(db, "SELECT 1 FROM sync_notes WHERE id = ?", (operation.id,)) is not None:
        return False
    body = packer()(to_bytes(clear(to_text(operation.text), TextSource.OTHER)))
    run(
        db,
        "INSERT INTO sync_notes (id, path, parents, body, clock, device, own) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            operation.id,
            operation.path,
            msgspec.json.encode(operation.parents).decode(),
            body,
            operation.clock,
            operation.device,
            int(own),
        ),
    )
    return True


def versions_of(db: apsw.Connection, path: str) -> list[NoteVersion]:
    """All versions of the file that are known here."""
    rows = fetch(db, "SELECT id, parents, body, clock, device FROM sync_notes WHERE path = ?", (path,))
    return [
        NoteVersion(
            id_,
            msgspec.json.decode(parents, type=tuple[str, ...]),
            to_text(unpack(body, limit=MOST)),
            clock,
            device,
        )
        for id_, parents, body, clock, device in rows
    ]
