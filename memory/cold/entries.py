"""The table `entries`. Writes run in a transaction of the caller (`ColdStore.write` opens one)."""

from collections.abc import Iterable
from datetime import datetime

import apsw
from msgspec import Struct

from foundation.clock import Clock, to_ms
from foundation.privacy import Cleared
from foundation.program import PROGRAM
from memory.cold.changes import note_change, put_terms
from memory.cold.conversations import SHORTEST_PREFIX, gone_conversation
from memory.cold.encoding import digest, from_meta, from_parts, pack, plain, to_bytes
from memory.cold.integrity.row_hashes import seal_of, seal_rows
from memory.cold.rows import ENTRIES, entries_of, entry_of
from memory.cold.sql import batches, each, fetch, marks, run, run_many
from memory.errors import AlreadyExists, AmbiguousReference, NotFound
from memory.records import Entry, EntryAnalyser, EntryDraft, new_id
from models.messages import Role


def entry_at(connection: apsw.Connection, seq: int) -> Entry:
    """The entry with this seq. Raises NotFound."""
    rows = fetch(connection, f"{ENTRIES} WHERE e.seq = ?", (seq,))
    if not rows:
        raise NotFound("No such entry", f"There is no entry {seq} here.", "It may have been deleted.")
    return entry_of(connection, rows[0])


def entries_at(connection: apsw.Connection, seqs: Iterable[int]) -> dict[int, Entry]:
    """The existing entries among these, by seq."""
    found: dict[int, Entry] = {}
    for batch in batches(sorted(set(seqs))):
        rows = each(connection, f"{ENTRIES} WHERE e.seq IN ({marks(batch)})", batch)
        found.update((entry.seq, entry) for entry in entries_of(connection, rows))
    return found


def find_entry(connection: apsw.Connection, id_: str, conversation: int | None = None) -> Entry:
    """Finds an entry by its id, or by an unambiguous prefix of at least four characters. Raises NotFound."""
    id_ = plain(id_)
    within = "" if conversation is None else f" AND e.conversation = {int(conversation)}"
    rows = fetch(connection, f"{ENTRIES} WHERE e.id = ?{within} LIMIT 9", (id_,))
    if not rows and len(id_) >= SHORTEST_PREFIX:
        rows = fetch(connection, f"{ENTRIES} WHERE e.id > ? AND e.id < ?{within} LIMIT 9", (id_, id_ + "\U0010ffff"))
    if not rows:
        raise NotFound(
            "No such entry", f"There is no entry {id_}.", f"`{PROGRAM} search` shows the ids of what it finds."
        )
    if len(rows) > 1:
        raise ambiguous_id(id_, entries_of(connection, rows))
    return entry_of(connection, rows[0])


def ambiguous_id(id_: str, matches: Iterable[Entry]) -> AmbiguousReference:
    """The error for an id, or the beginning of one, that several entries have."""
    names = ", ".join(f"{entry.id} in {entry.conversation}" for entry in matches)
    return AmbiguousReference(
        "Which entry?", f"{id_} matches more than one entry: {names}.", "Give the conversation, too."
    )


def entries_with_id(connection: apsw.Connection, id_: str, conversation: int | None = None) -> list[Entry]:
    """Entries with exactly this id, at most 50. Imports can bring one id into several conversations."""
    within = "" if conversation is None else f" AND e.conversation = {int(conversation)}"
    rows = fetch(connection, f"{ENTRIES} WHERE e.id = ?{within} ORDER BY e.seq LIMIT 50", (plain(id_),))
    return entries_of(connection, rows)


def entry_seqs(connection: apsw.Connection, conversation: int, after: int = 0, limit: int = -1) -> list[int]:
    """Seqs of the conversation's entries above `after`, oldest first; a negative limit gives all."""
    sql = "SELECT seq FROM entries WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT ?"
    return [seq for (seq,) in each(connection, sql, (conversation, after, limit))]


def ids_stored(connection: apsw.Connection, conversation: int, ids: Iterable[str]) -> set[str]:
    """The ids among these that the conversation's entries have."""
    found = set[str]()
    for batch in batches(sorted(set(map(plain, ids)))):
        sql = f"SELECT id FROM entries WHERE conversation = ? AND id IN ({marks(batch)})"
        found.update(id_ for (id_,) in each(connection, sql, (conversation, *batch)))
    return found


class HeldEntry(Struct, frozen=True):
    """What tells whether an entry with the same id is the same entry, without its text."""

    sha256: bytes
    role: str
    time_ms: int

    def is_of(self, role: Role, time: datetime | None) -> bool:
        """Whether the entry has this role and time; None for a time that is not known."""
        return role.value == self.role and (time is None or to_ms(time) == self.time_ms)

    def has_text(self, text: Cleared) -> bool:
        """Whether the entry has this text."""
        return digest(to_bytes(text)) == self.sha256


def held_entries(connection: apsw.Connection, conversation: int, ids: Iterable[str]) -> dict[str, HeldEntry]:
    """The conversation's entries with these ids, by id."""
    found: dict[str, HeldEntry] = {}
    for batch in batches(sorted({plain(id_) for id_ in ids})):
        sql = f"SELECT id, sha256, role, time_ms FROM entries WHERE conversation = ? AND id IN ({marks(batch)})"
        rows = each(connection, sql, (conversation, *batch))
        found.update((id_, HeldEntry(sha256, role, time_ms)) for id_, sha256, role, time_ms in rows)
    return found


def seqs_of_ids(connection: apsw.Connection, conversation: int, ids: Iterable[str]) -> dict[str, int]:
    """The seqs of the conversation's entries with these ids, by id."""
    found: dict[str, int] = {}
    for batch in batches(sorted(set(ids))):
        sql = f"SELECT id, seq FROM entries WHERE conversation = ? AND id IN ({marks(batch)})"
        found.update(each(connection, sql, (conversation, *batch)))
    return found


def is_id_taken(connection: apsw.Connection, id_: str) -> bool:
    """Whether an entry, a conversation or a conversation's source has the id."""
    sql = """SELECT 1 FROM conversations WHERE id = ?1 OR source = ?1
             UNION ALL SELECT 1 FROM entries WHERE id = ?1 LIMIT 1"""
    return bool(fetch(connection, sql, (plain(id_),)))


def has_entry(connection: apsw.Connection, conversation: int, id_: str) -> bool:
    """Whether the conversation has an entry with this id."""
    return _seq_of(connection, conversation, id_) is not None


def insert_entry(
    connection: apsw.Connection,
    draft: EntryDraft,
    *,
    clock: Clock,
    analyse: EntryAnalyser,
    keep_text: bool = True,
    complete: bool = True,
) -> Entry:
    """Inserts an entry with its terms and its change, and makes it its conversation's leaf unless it is `beside`.

    With `keep_text` False the body is NULL: the archive stores the text. Raises NotFound for a missing conversation or
    a parent of another one, AlreadyExists for an id in use.
    """
    if not fetch(connection, "SELECT 1 FROM conversations WHERE seq = ?", (draft.conversation,)):
        raise gone_conversation()
    parent = _parent(connection, draft)
    id_, ms = plain(draft.id) or new_id("e"), to_ms(draft.time or clock.now())
    if has_entry(connection, draft.conversation, id_):
        raise AlreadyExists("Already exists", f"The conversation already has an entry {id_}.", "Use another id.")
    raw = to_bytes(draft.text)
    body, packed = pack(raw) if keep_text else (None, 0)
    who = (id_, draft.kind.value, draft.role.value, plain(draft.speaker))
    what = (len(draft.text), digest(raw), from_parts(draft.sent), from_meta(draft.meta), int(complete))
    run(
        connection,
        """INSERT INTO entries (conversation, parent, id, kind, role, speaker, time_ms, body, packed, chars, sha256,
           sent, meta, complete) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (draft.conversation, parent, *who, ms, body, packed, *what),
    )
    seq = connection.last_insert_rowid()
    name, *spoken = (value.encode() for value in who)
    seal = seal_of((draft.conversation, name, parent, *spoken, ms, *what))
    run(connection, "INSERT INTO seals (entry, seal) VALUES (?, ?)", (seq, seal))
    if complete:
        put_terms(connection, seq, draft.text, draft.speaker, analyse, draft.meta)
    note_change(connection, "add", [seq])
    if not draft.beside:
        run(
            connection,
            "UPDATE conversations SET leaf = ?, updated_ms = max(updated_ms, ?) WHERE seq = ?",
            (seq, ms, draft.conversation),
        )
    return entry_at(connection, seq)


def replace_text(connection: apsw.Connection, seq: int, text: Cleared) -> None:
    """Replaces an entry's text, and drops the token counts of the old one."""
    raw = to_bytes(text)
    body, packed = pack(raw)
    run(connection, "DELETE FROM token_counts WHERE entry = ?", (seq,))
    run(
        connection,
        "UPDATE entries SET body = ?, packed = ?, chars = ?, sha256 = ? WHERE seq = ?",
        (body, packed, len(text), digest(raw), seq),
    )
    seal_rows(connection, [seq])


def release_text(connection: apsw.Connection, seqs: Iterable[int]) -> None:
    """Removes the text of entries that the archive stores from this commit on. Their terms stay."""
    seqs = list(seqs)
    run_many(connection, "UPDATE entries SET body = NULL, packed = 0 WHERE seq = ?", [(seq,) for seq in seqs])
    note_change(connection, "archive", seqs)


def restore_text(connection: apsw.Connection, seq: int, text: Cleared) -> None:
    """Puts an archived text back into its row, undoing `release_text`. Terms and hash stay."""
    body, packed = pack(to_bytes(text))
    run(connection, "UPDATE entries SET body = ?, packed = ? WHERE seq = ?", (body, packed, seq))
    note_change(connection, "change", [seq])


def _parent(connection: apsw.Connection, draft: EntryDraft) -> int | None:
    if draft.parent_id:
        seq = _seq_of(connection, draft.conversation, plain(draft.parent_id))
        if seq is None:
            raise NotFound("No such entry", f"The conversation has no entry {draft.parent_id} to reply to.")
        return seq
    if draft.parent is None:
        return None
    sql = "SELECT 1 FROM entries WHERE seq = ? AND conversation = ?"
    if not fetch(connection, sql, (draft.parent, draft.conversation)):
        raise NotFound("No such entry", f"Entry {draft.parent} is not in the expected conversation.")
    return draft.parent


def _seq_of(connection: apsw.Connection, conversation: int, id_: str) -> int | None:
    sql = "SELECT seq FROM entries WHERE conversation = ? AND id = ?"
    rows = fetch(connection, sql, (conversation, id_))
    return rows[0][0] if rows else None
