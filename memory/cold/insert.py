"""Adding rows, within a transaction that the caller holds (`ColdStore.write` gives one)."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import apsw

from foundation.clock import Clock, to_ms
from foundation.privacy import EMPTY, Cleared, edited
from memory.cold.encoding import digest, from_meta, from_parts, pack, plain, to_bytes
from memory.cold.integrity.row_hashes import seal_of, seal_rows
from memory.cold.lookup import conversation_at, entry_at
from memory.cold.sql import fetch, run, run_many
from memory.errors import AlreadyExists, NotFound
from memory.records import Conversation, Entry, EntryAnalyser, EntryDraft, new_id


def insert_conversation(
    connection: apsw.Connection,
    clock: Clock,
    title: Cleared,
    *,
    source: Cleared = EMPTY,
    id: Cleared = EMPTY,  # noqa: A002 — the word the whole program uses
    kind: str = "chat",
    created: datetime | None = None,
) -> Conversation:
    """A new conversation; or, where `source` has one with that `id` already, that one."""
    id = edited(id, plain) or new_id("c")  # noqa: A001
    found = fetch(connection, "SELECT seq FROM conversations WHERE source = ? AND id = ?", (plain(source), id))
    if found:
        return conversation_at(connection, found[0][0])
    ms = to_ms(created or clock.now())
    run(
        connection,
        "INSERT INTO conversations (source, id, title, created_ms, updated_ms, kind) VALUES (?, ?, ?, ?, ?, ?)",
        (plain(source), id, to_bytes(title), ms, ms, kind),
    )
    return conversation_at(connection, connection.last_insert_rowid())


def insert_entry(
    connection: apsw.Connection,
    draft: EntryDraft,
    *,
    clock: Clock,
    analyse: EntryAnalyser,
    keep_text: bool = True,
    complete: bool = True,
) -> Entry:
    """The entry, its terms and its change; it becomes its conversation's leaf.

    With `keep_text` False the body is NULL from the start: its home is the archive. Raises NotFound for a conversation
    that is not there or a parent that is not of it, AlreadyExists for an id that is taken.
    """
    if not fetch(connection, "SELECT 1 FROM conversations WHERE seq = ?", (draft.conversation,)):
        raise NotFound(
            "No such conversation", f"There is no conversation {draft.conversation} here.", "It was deleted."
        )
    parent = _parent(connection, draft)
    id_, ms = plain(draft.id) or new_id("e"), to_ms(draft.time or clock.now())
    if has(connection, draft.conversation, id_):
        raise AlreadyExists("Already there", f"The conversation has an entry {id_} already.", "Use another id.")
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
    name, *spoken = (one.encode() for one in who)
    seal = seal_of((draft.conversation, name, parent, *spoken, ms, *what))
    run(connection, "INSERT INTO seals (entry, seal) VALUES (?, ?)", (seq, seal))
    if complete:
        put_terms(connection, seq, draft.text, draft.speaker, analyse, draft.meta)
    note_change(connection, "add", [seq])
    run(
        connection,
        "UPDATE conversations SET leaf = ?, updated_ms = max(updated_ms, ?) WHERE seq = ?",
        (seq, ms, draft.conversation),
    )
    return entry_at(connection, seq)


def put_terms(  # noqa: PLR0917 — the entry's own, and what finds its words
    connection: apsw.Connection, seq: int, text: str, speaker: str, analyse: EntryAnalyser, meta: Mapping[str, Any]
) -> None:
    """The entry's row of terms, new or anew."""
    terms = analyse(text, speaker, meta)
    run(
        connection,
        "INSERT OR REPLACE INTO terms (entry, terms, length, analyser) VALUES (?, ?, ?, ?)",
        (seq, terms.packed, terms.length, terms.analyser),
    )


def put_text(connection: apsw.Connection, seq: int, text: Cleared) -> None:
    """Another text in an entry's place; what was counted of the old one is forgotten."""
    raw = to_bytes(text)
    body, packed = pack(raw)
    run(connection, "DELETE FROM token_counts WHERE entry = ?", (seq,))
    run(
        connection,
        "UPDATE entries SET body = ?, packed = ?, chars = ?, sha256 = ? WHERE seq = ?",
        (body, packed, len(text), digest(raw), seq),
    )
    seal_rows(connection, [seq])


def let_go(connection: apsw.Connection, seqs: Iterable[int]) -> None:
    """Lets the entries' text go: its home is the archive from this commit on. Terms stay."""
    seqs = list(seqs)
    run_many(connection, "UPDATE entries SET body = NULL, packed = 0 WHERE seq = ?", [(seq,) for seq in seqs])
    note_change(connection, "archive", seqs)


def put_back(connection: apsw.Connection, seq: int, text: Cleared) -> None:
    """The entry's own text stands in the store again, as before it was let go. Terms and hash are as they were."""
    body, packed = pack(to_bytes(text))
    run(connection, "UPDATE entries SET body = ?, packed = ? WHERE seq = ?", (body, packed, seq))
    note_change(connection, "change", [seq])


def note_change(connection: apsw.Connection, op: str, seqs: Iterable[int]) -> None:
    """Rows of `changes`, for whoever keeps up with the store: op is add, change, archive or remove."""
    run_many(connection, "INSERT INTO changes (op, entry) VALUES (?, ?)", [(op, seq) for seq in seqs])


def has(connection: apsw.Connection, conversation: int, id_: str) -> bool:
    """Whether the conversation has an entry of that id."""
    return _seq_of(connection, conversation, id_) is not None


def _parent(connection: apsw.Connection, draft: EntryDraft) -> int | None:
    if draft.parent_id:
        seq = _seq_of(connection, draft.conversation, plain(draft.parent_id))
        if seq is None:
            raise NotFound("No such entry", f"The conversation has no entry {draft.parent_id} to answer.")
        return seq
    if draft.parent is None:
        return None
    sql = "SELECT 1 FROM entries WHERE seq = ? AND conversation = ?"
    if not fetch(connection, sql, (draft.parent, draft.conversation)):
        raise NotFound("No such entry", f"Entry {draft.parent} is not of the conversation that it should stand in.")
    return draft.parent


def _seq_of(connection: apsw.Connection, conversation: int, id_: str) -> int | None:
    sql = "SELECT seq FROM entries WHERE conversation = ? AND id = ?"
    rows = fetch(connection, sql, (conversation, id_))
    return rows[0][0] if rows else None
