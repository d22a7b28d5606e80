"""Rows to structs."""

from collections.abc import Iterable
from typing import Any

import apsw

from foundation.clock import from_ms
from memory.cold.bodies import to_text, unpack
from memory.cold.chunks import said
from memory.cold.columns import to_meta, to_parts
from memory.cold.entries import Conversation, Entry, EntryKind
from models.messages import Role

ENTRY = """e.seq, e.id, c.id, e.conversation, e.parent, e.kind, e.role, e.speaker, e.time_ms,
    e.body, e.packed, e.chars, e.sent, e.meta, e.complete"""
"""Columns of an entry `e` joined with its conversation `c`, as `entry_of` takes them."""

ENTRIES = f"SELECT {ENTRY} FROM entries e JOIN conversations c ON c.seq = e.conversation"

CONVERSATIONS = """SELECT c.seq, c.id, c.source, c.title, c.created_ms, c.updated_ms, c.leaf, c.kind,
    (SELECT group_concat(label, char(0)) FROM labels WHERE conversation = c.seq) FROM conversations c"""


def entry_of(connection: apsw.Connection, row: tuple[Any, ...]) -> Entry:
    """The entry; one whose writer was cut off, or is at it still, has the text that came so far.

    Raises Damaged where the text cannot be unpacked.
    """
    (
        seq,
        id_,
        conversation,
        conversation_seq,
        parent,
        kind,
        role,
        speaker,
        ms,
        body,
        packed,
        chars,
        sent,
        meta,
        whole,
    ) = row
    text = None if body is None else unpack(body, packed, chars)
    if not whole and text == "":
        text = said(connection, seq)
        chars = len(text)
    return Entry(
        seq=seq,
        id=id_,
        conversation=conversation,
        conversation_seq=conversation_seq,
        parent=parent,
        kind=EntryKind(kind),
        role=Role(role),
        speaker=speaker,
        time=from_ms(ms),
        text=text,
        chars=chars,
        sent=to_parts(sent),
        meta=to_meta(meta),
        complete=bool(whole),
    )


def entries_of(connection: apsw.Connection, rows: Iterable[tuple[Any, ...]]) -> list[Entry]:
    return [entry_of(connection, row) for row in rows]


def conversation_of(row: tuple[Any, ...]) -> Conversation:
    seq, id_, source, title, created, updated, leaf, kind, labels = row
    return Conversation(
        id=id_,
        seq=seq,
        source=source,
        title=to_text(title),
        created=from_ms(created),
        updated=from_ms(updated),
        leaf=leaf,
        kind=kind,
        labels=tuple(sorted(labels.split("\0"))) if labels else (),
    )
