"""Which changes of this device are in which of its segments.

A segment is always made from what the store holds now. So one that got lost is made again, without a copy of it here,
and one that holds what was deleted since is made without it.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

import apsw
import msgspec
from msgspec import Struct

from foundation.clock import to_ms
from foundation.privacy import TextSource, clear
from memory.cold.deletions import Deletion
from memory.cold.entries import entries_at
from memory.cold.file_places import KIND, spots
from memory.cold.note_lines import pack_lines, stored_heard, stored_lines
from memory.cold.sql import SqlRow, batches, each, fetch, first, marks, run
from memory.cold.sync_values import stored_keys
from memory.records import READ_BY, TRUST, Entry, EntryKind
from memory.sync.limits import fitting_text, note_fits
from memory.sync.note_store import MOST
from memory.sync.operation import (
    ConversationKey,
    DeletionOperation,
    EntryOperation,
    ForgettingOperation,
    ForgottenNamesOperation,
    NoteOperation,
    Operation,
    ValueOperation,
)
from memory.sync.segment import meta_fits
from memory.sync.summary_meta import by_ids, references_of, seqs_in
from memory.zstd import FRAME_HEAD, declared_size, unpack

FULL_BYTES: Final = 2**20
"""Characters of a segment, unpacked: another entry, title or note goes to the next one. A longer one stands alone."""
FULL_COUNT: Final = 2_000
OPEN_BYTES: Final = 2**16
"""A last segment whose file is smaller than this takes what is new; so there are never many small ones."""

_NOTES, _TOMBSTONES = 200, 9_000  # at once; so a segment has at most 18,000 operations (memory.sync.limits)
_FORGOTTEN_NAMES: Final = """SELECT c.source, c.id, c.kind, c.created_ms, s.labels, s.forgetting, s.dropped
    FROM sync_forgotten_names s JOIN conversations c ON c.seq = s.conversation
    WHERE s.own = 1 AND s.segment = ? ORDER BY s.seq"""
_KEYS: Final = (
    ("sync_entries", "entry"),
    ("sync_values", "seq"),
    ("sync_deletions", "token"),
    ("sync_notes", "id"),
    ("sync_forgotten", "token"),
    ("sync_forgotten_names", "seq"),
)
_LENGTHS: Final = """SELECT e.chars + ifnull(octet_length(e.meta), 0)
    FROM sync_entries s JOIN entries e ON e.seq = s.entry WHERE s.segment = ?1
    UNION ALL SELECT ifnull(octet_length(value), 0) FROM sync_values WHERE segment = ?1 AND own = 1"""
_NEW_ENTRIES: Final = f"""SELECT s.entry, e.chars + ifnull(octet_length(e.meta), 0)
    FROM sync_entries s JOIN entries e ON e.seq = s.entry JOIN conversations c ON c.seq = e.conversation
    WHERE s.segment IS NULL AND NOT EXISTS (SELECT 1 FROM answers a WHERE a.entry = s.entry)
    ORDER BY s.entry LIMIT {FULL_COUNT}"""
_NEW_VALUES: Final = f"""SELECT s.seq, ifnull(octet_length(s.value), 0)
    FROM sync_values s JOIN conversations c ON c.seq = s.conversation
    WHERE s.segment IS NULL AND s.own = 1 ORDER BY s.seq LIMIT {FULL_COUNT}"""
_REMAINING: Final = f"""SELECT s.seq FROM sync_values s
    WHERE s.segment IS NULL AND s.own = 1 AND EXISTS (SELECT 1 FROM sync_forgotten_names f
        WHERE f.conversation = s.conversation AND f.labels = (s.field <> '') AND f.own = 1 AND f.segment IS NULL)
    ORDER BY s.seq LIMIT {FULL_COUNT}"""
_VALUES: Final = """SELECT c.source, c.id, c.kind, c.created_ms, s.field, s.value, s.clock, s.device, s.heard
    FROM sync_values s JOIN conversations c ON c.seq = s.conversation
    WHERE s.own = 1 AND s.segment = ? ORDER BY s.seq"""

FORGOTTEN_NOTES: Final = """own = 1 AND (forgotten <> x'' OR renamed <> 0)
    AND device <> (SELECT id FROM sync_device)"""
"""SQL: versions of notes that other devices wrote, and that tell them of lines or names that were forgotten."""
_OWN_NOTES: Final = """SELECT id, path, parents, body, clock, device, forgotten, heard, renamed FROM sync_notes
    WHERE own = 1 AND segment = ? ORDER BY clock, id"""


def assign(db: apsw.Connection) -> int:
    """Puts changes that are in no segment into the last one where that is small, or else a new one; its number.

    0 where nothing is new. Call it again until then.
    """
    number, size = _open_segment(db)
    chosen = _chosen(db, size)
    if size and not any(chosen):  # what is next is too long for it
        number, chosen = number + 1, _chosen(db, 0)
    return _put(db, number, chosen) if any(chosen) else 0


def assign_deletions(db: apsw.Connection) -> int:
    """Puts deletions and forgettings that are in no segment into one, with the titles and labels that remain of those,
    and versions of notes of other devices without their forgotten lines and names, and nothing else; its number, 0
    where none is new.

    That is the last segment only where every location has it: else it would bring something there that was not sent.
    """
    number, size = _open_segment(db)
    having = "SELECT location FROM sync_written WHERE number = ? AND current = 1"
    if first(db, f"SELECT 1 FROM sync_written WHERE location NOT IN ({having})", (number,)) is not None:
        number, size = fetch(db, "SELECT segment FROM sync_device")[0][0] + 1, 0
    chosen = _chosen_deletions(db, size)
    if size and not any(chosen):  # what is next is too long for it
        number, chosen = number + 1, _chosen_deletions(db, 0)
    return _put(db, number, chosen) if any(chosen) else 0


def _chosen_deletions(db: apsw.Connection, size: int) -> tuple[list[Any], ...]:
    """The same as `_chosen`, for deletions and forgettings."""
    remaining = [seq for (seq,) in fetch(db, _REMAINING)]
    notes, _ = _fitting(_note_sizes(db, f"segment IS NULL AND {FORGOTTEN_NOTES} LIMIT {_NOTES}"), size)
    return [], remaining, _new_deletions(db), notes, _new_tombstones(db), _new_forgotten_names(db)


def _put(db: apsw.Connection, number: int, chosen: tuple[list[Any], ...]) -> int:
    """Puts what these keys name into the segment: a list for each table of `_KEYS`."""
    for (table, key), keys in zip(_KEYS, chosen, strict=True):
        for batch in batches(keys):
            run(db, f"UPDATE {table} SET segment = ? WHERE {key} IN ({marks(batch)})", (number, *batch))
    run(db, "UPDATE sync_device SET segment = ?", (number,))
    run(db, "UPDATE sync_written SET stale = 1 WHERE number = ?", (number,))
    return number


def _new_deletions(db: apsw.Connection) -> list[Any]:
    sql = f"SELECT token FROM sync_deletions WHERE segment IS NULL LIMIT {FULL_COUNT}"
    return [token for (token,) in fetch(db, sql)]


def _new_tombstones(db: apsw.Connection) -> list[Any]:
    sql = f"SELECT token FROM sync_forgotten WHERE segment IS NULL AND own = 1 LIMIT {_TOMBSTONES}"
    return [token for (token,) in fetch(db, sql)]


def _new_forgotten_names(db: apsw.Connection) -> list[Any]:
    sql = f"SELECT seq FROM sync_forgotten_names WHERE segment IS NULL AND own = 1 LIMIT {FULL_COUNT}"
    return [seq for (seq,) in fetch(db, sql)]


def _chosen(db: apsw.Connection, size: int) -> tuple[list[Any], ...]:
    """The keys of what goes into a segment that holds this many characters: a list for each table of `_KEYS`."""
    entries, size = _fitting(fetch(db, _NEW_ENTRIES), size)
    values, size = _fitting(fetch(db, _NEW_VALUES), size)
    notes, size = _fitting(_note_sizes(db, f"segment IS NULL AND own = 1 LIMIT {_NOTES}"), size)
    return entries, values, _new_deletions(db), notes, _new_tombstones(db), _new_forgotten_names(db)


def _fitting(rows: Iterable[SqlRow], size: int) -> tuple[list[Any], int]:
    """The keys of the first rows that fit beside what is there, and the size with them. A row is a key and a length."""
    keys: list[Any] = []
    for key, length in rows:
        if size and size + length > FULL_BYTES:
            break
        keys.append(key)
        size += length
    return keys, size


def _open_segment(db: apsw.Connection) -> tuple[int, int]:
    """The number of the last segment where it is small everywhere, else of a new one; the characters that it holds."""
    ((last,),) = fetch(db, "SELECT segment FROM sync_device")
    files = fetch(db, "SELECT size FROM sync_written WHERE number = ? AND current = 1", (last,))
    if not files or max(size for (size,) in files) >= OPEN_BYTES or _count(db, last) >= FULL_COUNT:
        return last + 1, 0
    notes = _note_sizes(db, "own = 1 AND segment = ?", (last,))
    return last, sum(length for (length,) in fetch(db, _LENGTHS, (last,))) + sum(length for _, length in notes)


def _note_sizes(db: apsw.Connection, where: str, bindings: tuple[int, ...] = ()) -> list[SqlRow]:
    rows = fetch(db, f"SELECT id, substr(body, 1, {FRAME_HEAD}) FROM sync_notes WHERE {where}", bindings)
    return [(id_, declared_size(head)) for id_, head in rows]


def _count(db: apsw.Connection, number: int) -> int:
    counts = (fetch(db, f"SELECT count(*) FROM {table} WHERE segment = ?", (number,))[0][0] for table, _ in _KEYS)
    return sum(counts)


class SegmentContent(Struct, frozen=True):
    """What a segment holds, without texts that are on pages alone."""

    entries: tuple[tuple[Entry, ConversationKey, str], ...]
    """Each with its conversation, and the id of the entry above it."""
    others: tuple[Operation, ...]
    ids: dict[int, str]
    """The ids of entries that summaries name, by seq."""
    read_by: dict[int, str]
    """The text recognition that read files of knowledge, by the seqs of their entries."""


def content_of(db: apsw.Connection, number: int) -> SegmentContent:
    """What this device's segment of that number holds now."""
    seqs = [seq for (seq,) in each(db, "SELECT entry FROM sync_entries WHERE segment = ? ORDER BY entry", (number,))]
    found = entries_at(db, seqs)
    entries = [found[seq] for seq in seqs if seq in found]
    keys = _keys(db, entries)
    values = [_value(row) for row in each(db, _VALUES, (number,))]
    names = [_names(row) for row in each(db, _FORGOTTEN_NAMES, (number,))]
    deleted = each(
        db, "SELECT token, deleted_ms FROM sync_deletions JOIN deletions USING (token) WHERE segment = ?", (number,)
    )
    deletions = [DeletionOperation(token=token, deleted_ms=ms) for token, ms in deleted]
    sql = "SELECT token, forgotten_ms FROM sync_forgotten WHERE own = 1 AND segment = ? ORDER BY token"
    forgotten = [ForgettingOperation(token=token, forgotten_ms=ms) for token, ms in each(db, sql, (number,))]
    known = [_note(row) for row in each(db, _OWN_NOTES, (number,))]
    notes = [note for note in known if note_fits(note.text)]  # of an earlier version, which had no limit
    return SegmentContent(
        tuple((entry, keys[entry.conversation_seq], _parent_id(db, entry)) for entry in entries),
        (*deletions, *forgotten, *names, *values, *notes),
        _named(db, entries),
        _read_by(db, entries, keys),
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
        if engine := content.read_by.get(entry.seq):
            meta = {**meta, READ_BY: engine}
        made.append(
            EntryOperation(
                conversation=key,
                id=entry.id,
                parent=parent,
                kind=entry.kind.value,
                role=entry.role.value,
                speaker=entry.speaker,
                time_ms=to_ms(entry.time),
                text=fitting_text(text),
                meta=_fitting_meta({**meta, TRUST: entry.trust.value} if entry.damaged else meta),
                complete=entry.complete,
            )
        )
    return tuple(made)


def _fitting_meta(meta: dict[str, Any]) -> dict[str, Any]:
    """The meta as other devices take it: of one that is too large only its trust, and what names entries."""
    if meta_fits(meta):
        return meta
    kept = {**references_of(meta), **{name: meta[name] for name in (TRUST, READ_BY) if name in meta}}
    return kept if meta_fits(kept) else {}


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
    *key, field, value, clock, device, heard = row
    return ValueOperation(
        conversation=ConversationKey(*key),
        field=field,
        value=value,
        clock=clock,
        device=device,
        heard=stored_heard(heard),
    )


def _names(row: SqlRow) -> ForgottenNamesOperation:
    *key, labels, forgetting, dropped = row
    return ForgottenNamesOperation(
        conversation=ConversationKey(*key),
        labels=bool(labels),
        forgetting=forgetting,
        dropped=stored_keys(dropped),
    )


def _note(row: SqlRow) -> NoteOperation:
    id_, path, parents, body, clock, device, forgotten, heard, renamed = row
    listed = msgspec.json.decode(parents, type=tuple[str, ...])
    text = unpack(body, limit=MOST)
    return NoteOperation(
        id=id_,
        path=path,
        parents=listed,
        text=text,
        clock=clock,
        device=device,
        forgotten=pack_lines(stored_lines(forgotten)),
        heard=stored_heard(heard),
        renamed=renamed,
    )


def _read_by(db: apsw.Connection, entries: list[Entry], keys: dict[int, ConversationKey]) -> dict[int, str]:
    files = [entry for entry in entries if keys[entry.conversation_seq].kind == KIND]
    found = {entry.seq: spots(db, entry.conversation_seq, entry.seq, 0, entry.chars) for entry in files}
    engines = {seq: next((span.read_by for span in spans if span.read_by), "") for seq, spans in found.items()}
    return {seq: engine for seq, engine in engines.items() if engine}


def _named(db: apsw.Connection, entries: list[Entry]) -> dict[int, str]:
    seqs = {seq for entry in entries if entry.kind is EntryKind.SUMMARY for seq in seqs_in(entry.meta)}
    found: dict[int, str] = {}
    for batch in batches(sorted(seqs)):
        found.update(each(db, f"SELECT seq, id FROM entries WHERE seq IN ({marks(batch)})", batch))
    return found
