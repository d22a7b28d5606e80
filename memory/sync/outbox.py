"""Which changes of this device are in which of its segments.

A segment is always made from what the store holds now. So one that got lost is made again, without a copy of it here,
and one that holds what was deleted since is made without it.
"""

from collections.abc import Callable
from typing import Final

import apsw
import msgspec
from msgspec import Struct

from foundation.clock import to_ms
from foundation.privacy import TextSource, clear
from memory.cold.deletions import Deletion
from memory.cold.encoding import to_bytes
from memory.cold.entries import entries_at
from memory.cold.sql import SqlRow, batches, each, fetch, first, marks, run
from memory.records import TRUST, Entry, EntryKind
from memory.sync.note_store import MOST
from memory.sync.operation import (
    ConversationKey,
    DeletionOperation,
    EntryOperation,
    ForgettingOperation,
    NoteOperation,
    Operation,
    ValueOperation,
)
from memory.sync.summary_meta import by_ids, seqs_in
from memory.zstd import unpack

FULL_BYTES: Final = 2**20
"""Characters of a segment: another entry goes to the next one."""
FULL_COUNT: Final = 2_000
OPEN_BYTES: Final = 2**16
"""A last segment whose file is smaller than this takes what is new; so there are never many small ones."""

_NEW_ENTRIES: Final = f"""SELECT s.entry, e.chars + ifnull(octet_length(e.meta), 0)
    FROM sync_entries s JOIN entries e ON e.seq = s.entry JOIN conversations c ON c.seq = e.conversation
    WHERE s.segment IS NULL AND NOT EXISTS (SELECT 1 FROM answers a WHERE a.entry = s.entry)
    ORDER BY s.entry LIMIT {FULL_COUNT}"""
_NEW_VALUES: Final = f"""SELECT s.seq FROM sync_values s JOIN conversations c ON c.seq = s.conversation
    WHERE s.segment IS NULL AND s.own = 1 ORDER BY s.seq LIMIT {FULL_COUNT}"""
_VALUES: Final = """SELECT c.source, c.id, c.kind, c.created_ms, s.field, s.value, s.clock, s.device
    FROM sync_values s JOIN conversations c ON c.seq = s.conversation
    WHERE s.own = 1 AND s.segment = ? ORDER BY s.seq"""


def assign(db: apsw.Connection) -> int:
    """Puts changes that are in no segment into the last one where that is small, or else a new one; its number.

    0 where nothing is new. Call it again until then.
    """
    entries, size = list[int](), 0
    for seq, length in fetch(db, _NEW_ENTRIES):
        if entries and size + length > FULL_BYTES:
            break
        entries.append(seq)
        size += length
    values = [seq for (seq,) in fetch(db, _NEW_VALUES)]
    tokens = [token for (token,) in fetch(db, "SELECT token FROM sync_deletions WHERE segment IS NULL LIMIT 2000")]
    notes = [id_ for (id_,) in fetch(db, "SELECT id FROM sync_notes WHERE segment IS NULL AND own = 1 LIMIT 200")]
    forgotten = [
        token for (token,) in fetch(db, "SELECT token FROM sync_forgotten WHERE segment IS NULL AND own = 1 LIMIT 9000")
    ]
    if not (entries or values or tokens or notes or forgotten):
        return 0
    number = _number(db)
    for table, key, keys in (
        ("sync_entries", "entry", entries),
        ("sync_values", "seq", values),
        ("sync_deletions", "token", tokens),
        ("sync_notes", "id", notes),
        ("sync_forgotten", "token", forgotten),
    ):
        for batch in batches(keys):
            run(db, f"UPDATE {table} SET segment = ? WHERE {key} IN ({marks(batch)})", (number, *batch))
    run(db, "UPDATE sync_device SET segment = ?", (number,))
    run(db, "UPDATE sync_written SET stale = 1 WHERE number = ?", (number,))
    return number


def _number(db: apsw.Connection) -> int:
    """The number of the last segment where it is small everywhere, else of a new one."""
    ((last,),) = fetch(db, "SELECT segment FROM sync_device")
    sizes = fetch(db, "SELECT size FROM sync_written WHERE number = ? AND current = 1", (last,))
    is_open = bool(sizes) and max(size for (size,) in sizes) < OPEN_BYTES and _count(db, last) < FULL_COUNT
    return last if is_open else last + 1


def _count(db: apsw.Connection, number: int) -> int:
    counts = (
        fetch(db, f"SELECT count(*) FROM {table} WHERE segment = ?", (number,))[0][0]
        for table in ("sync_entries", "sync_values", "sync_notes")
    )
    return sum(counts)


class SegmentContent(Struct, frozen=True):
    """What a segment holds, without texts that are on pages alone."""

    entries: tuple[tuple[Entry, ConversationKey, str], ...]
    """Each with its conversation, and the id of the entry above it."""
    others: tuple[Operation, ...]
    ids: dict[int, str]
    """The ids of entries that summaries name, by seq."""


def content_of(db: apsw.Connection, number: int) -> SegmentContent:
    """What this device's segment of that number holds now."""
    seqs = [seq for (seq,) in each(db, "SELECT entry FROM sync_entries WHERE segment = ? ORDER BY entry", (number,))]
    found = entries_at(db, seqs)
    entries = [found[seq] for seq in seqs if seq in found]
    keys = _keys(db, entries)
    values = [_value(row) for row in each(db, _VALUES, (number,))]
    deleted = each(
        db, "SELECT token, deleted_ms FROM sync_deletions JOIN deletions USING (token) WHERE segment = ?", (number,)
    )
    deletions = [DeletionOperation(token=token, deleted_ms=ms) for token, ms in deleted]
    sql = "SELECT token, forgotten_ms FROM sync_forgotten WHERE own = 1 AND segment = ? ORDER BY token"
    forgotten = [ForgettingOperation(token=token, forgotten_ms=ms) for token, ms in each(db, sql, (number,))]
    columns = "SELECT id, path, parents, body, clock, device FROM sync_notes WHERE own = 1 AND segment = ?"
    notes = [_note(row) for row in each(db, f"{columns} ORDER BY clock, id", (number,))]
    return SegmentContent(
        tuple((entry, keys[entry.conversation_seq], _parent_id(db, entry)) for entry in entries),
        (*deletions, *forgotten, *values, *notes),
        _named(db, entries),
    )


def operations_of(content: SegmentContent, text_of: Callable[[Entry], str | None]) -> tuple[Operation, ...]:
    """The operations of a segment. `text_of` reads a text back from its pages; None where it cannot be read."""
    made: list[Operation] = [*content.others]
    for entry, key, parent in content.entries:
        text = text_of(entry) if entry.text is None else entry.text
        if text is None:
            continue
        if entry.kind is EntryKind.PAGE:  # a file is kept here to the byte; its secrets go nowhere
            text = clear(text, TextSource.OTHER)
        meta = by_ids(entry.meta, content.ids) if entry.kind is EntryKind.SUMMARY else entry.meta
        made.append(
            EntryOperation(
                conversation=key,
                id=entry.id,
                parent=parent,
                kind=entry.kind.value,
                role=entry.role.value,
                speaker=entry.speaker,
                time_ms=to_ms(entry.time),
                text=to_bytes(text),
                meta={**meta, TRUST: entry.trust.value} if entry.damaged else meta,
                complete=entry.complete,
            )
        )
    return tuple(made)


def known_deletion(operation: DeletionOperation) -> Deletion:
    """The row of the journal for a deletion of a conversation that is not here."""
    return Deletion(token=operation.token, conversation=0, deleted_ms=operation.deleted_ms, finished=True)


def _keys(db: apsw.Connection, entries: list[Entry]) -> dict[int, ConversationKey]:
    sql = "SELECT source, id, kind, created_ms FROM conversations WHERE seq = ?"
    seqs = {entry.conversation_seq for entry in entries}
    return {seq: ConversationKey(*row) for seq in seqs if (row := first(db, sql, (seq,))) is not None}


def _parent_id(db: apsw.Connection, entry: Entry) -> str:
    """The id of the nearest entry above that is no observation: those stay on their device."""
    above = entry.parent
    while above is not None:
        row = first(db, "SELECT id, kind, parent FROM entries WHERE seq = ?", (above,))
        if row is None:
            return ""
        if row[1] != EntryKind.OBSERVATION.value:
            return str(row[0])
        above = row[2]
    return ""


def _value(row: SqlRow) -> ValueOperation:
    *key, field, value, clock, device = row
    return ValueOperation(conversation=ConversationKey(*key), field=field, value=value, clock=clock, device=device)


def _note(row: SqlRow) -> NoteOperation:
    id_, path, parents, body, clock, device = row
    listed = msgspec.json.decode(parents, type=tuple[str, ...])
    text = unpack(body, limit=MOST)
    return NoteOperation(id=id_, path=path, parents=listed, text=text, clock=clock, device=device)


def _named(db: apsw.Connection, entries: list[Entry]) -> dict[int, str]:
    seqs = {seq for entry in entries if entry.kind is EntryKind.SUMMARY for seq in seqs_in(entry.meta)}
    found: dict[int, str] = {}
    for batch in batches(sorted(seqs)):
        found.update(each(db, f"SELECT seq, id FROM entries WHERE seq IN ({marks(batch)})", batch))
    return found
