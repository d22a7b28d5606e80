"""Versions of note files that are known here."""

import hashlib
import re
from typing import Final

import apsw
import msgspec
from msgspec import Struct, structs

from foundation.privacy import TextSource, clear
from foundation.terminal_text import visible, visible_line
from memory.cold.encoding import to_bytes, to_text
from memory.cold.note_lines import (
    blanked,
    learn_lines,
    note_row,
    pack_heard,
    set_lines,
    stored_lines,
    take_forgotten,
    unpack_lines,
    without_lines,
)
from memory.cold.note_names import name_now, take_name
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


def version_id(  # noqa: PLR0917 — all that a version says
    path: str, parents: tuple[str, ...], text: bytes, clock: int, device: str, heard: tuple[int, ...] = ()
) -> str:
    """The name of a version: SHA-256 of all that it says."""
    said = (path, parents, text, clock, device)
    return hashlib.sha256(msgspec.msgpack.encode((*said, heard) if heard else said)).hexdigest()


def take_version(db: apsw.Connection, operation: NoteOperation, secret: bytes) -> bool:
    """Keeps another device's version; whether it is new, or lines of it were forgotten since. Raises ValueError for one
    that no device writes. The id of one without its forgotten lines cannot be compared with its text."""
    said = (operation.path, operation.parents, operation.text, operation.clock, operation.device)
    made = version_id(*said, operation.heard)
    if is_hidden_name(operation.path):
        raise ValueError(f"the name of the note {visible_line(operation.path)} holds characters that are not shown")
    is_changed = operation.forgotten or operation.renamed
    if (made != operation.id and not is_changed) or not is_note(operation.path):
        raise ValueError("a version of a note is not what was written")
    if operation.renamed and not operation.path.startswith("memory/"):
        raise ValueError("a note has another name that none gets")
    if first(db, "SELECT 1 FROM sync_notes WHERE id = ?", (operation.id,)) is None:
        _put_other(db, operation, secret)
        new = True
    else:
        new = take_name(db, secret, operation.id, operation.path, operation.renamed)
    return _take_lines(db, operation, secret) or new


def _put_other(db: apsw.Connection, operation: NoteOperation, secret: bytes) -> None:
    """Keeps a version that is new here, under the name that its note has now. Other devices get it under that one from
    this device, too: its writer had not heard of it."""
    path, renamed = name_now(db, secret, operation.path, operation.heard, operation.renamed)
    put_version(db, structs.replace(operation, path=path, renamed=renamed), own=path != operation.path)
    run(db, "UPDATE sync_merged SET stale = 1 WHERE path = ?", (path,))
    take_forgotten(db, secret, operation.id)


def _take_lines(db: apsw.Connection, operation: NoteOperation, secret: bytes) -> bool:
    """Takes lines that were forgotten on any device out of a version that is known here; whether any was new."""
    held = note_row(db, operation.id)
    if held is None or not (operation.forgotten or held.forgotten):
        return False
    lines = dict(held.forgotten)
    for number, forgetting in unpack_lines(operation.forgotten).items():
        lines[number] = min(forgetting, lines.get(number, forgetting))
    if is_new := lines != held.forgotten:
        set_lines(db, held, lines, sends=False)
    for text in (held.text, to_text(operation.text)):  # which has the words, while the other may be without them
        learn_lines(db, secret, held.path, text, lines)
    return is_new


def put_version(db: apsw.Connection, operation: NoteOperation, *, own: bool) -> bool:
    """Keeps the version; whether it is new."""
    if first(db, "SELECT 1 FROM sync_notes WHERE id = ?", (operation.id,)) is not None:
        return False
    lines = unpack_lines(operation.forgotten)
    body = packer()(to_bytes(clear(blanked(to_text(operation.text), lines), TextSource.OTHER)))
    run(
        db,
        """INSERT INTO sync_notes (id, path, parents, body, clock, device, own, forgotten, heard, renamed)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            operation.id,
            operation.path,
            msgspec.json.encode(operation.parents).decode(),
            body,
            operation.clock,
            operation.device,
            int(own),
            msgspec.msgpack.encode(operation.forgotten) if lines else b"",
            pack_heard(operation.heard),
            operation.renamed,
        ),
    )
    return True


def versions_of(db: apsw.Connection, path: str) -> list[NoteVersion]:
    """All versions of the file that are known here."""
    rows = fetch(db, "SELECT id, parents, body, clock, device, forgotten FROM sync_notes WHERE path = ?", (path,))
    return [
        NoteVersion(
            id_,
            msgspec.json.decode(parents, type=tuple[str, ...]),
            without_lines(to_text(unpack(body, limit=MOST)), stored_lines(forgotten)),
            clock,
            device,
        )
        for id_, parents, body, clock, device, forgotten in rows
    ]
