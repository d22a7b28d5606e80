"""The table `conversations`, and the labels of its rows. Writes run in a transaction of the caller."""

from datetime import datetime

import apsw

from foundation.clock import Clock, to_ms
from foundation.privacy import EMPTY, Cleared, edited
from foundation.program import PROGRAM
from memory.cold.changes import note_change
from memory.cold.encoding import plain, to_bytes
from memory.cold.epoch_copies import end_epochs_showing
from memory.cold.recalled_copies import blank_recalled
from memory.cold.rows import CONVERSATIONS, conversation_of
from memory.cold.sql import each, fetch, run
from memory.errors import AmbiguousReference, NotFound, StoreBusy
from memory.records import Conversation, new_id

SHORTEST_PREFIX = 4  # characters of an id that name it


def conversations(
    connection: apsw.Connection,
    *,
    limit: int,
    offset: int,
    kind: str | None,
    label: str | None,
    without: str | None = None,
) -> list[Conversation]:
    """Lists conversations, newest first; `kind` None lists all kinds. They have `label`, and not `without`."""
    wheres: list[str] = []
    values: list[object] = []
    if kind is not None:
        wheres.append("c.kind = ?")
        values.append(kind)
    if label is not None:
        wheres.append("c.seq IN (SELECT conversation FROM labels WHERE label = ?)")
        values.append(plain(label))
    if without is not None:
        wheres.append("NOT EXISTS (SELECT 1 FROM labels WHERE conversation = c.seq AND label = ?)")
        values.append(plain(without))
    where = f"WHERE {' AND '.join(wheres)}" if wheres else ""
    rows = each(
        connection,
        f"{CONVERSATIONS} {where} ORDER BY c.updated_ms DESC, c.seq DESC LIMIT ? OFFSET ?",
        (*values, limit, offset),
    )
    return [conversation_of(row) for row in rows]


def gone_conversation() -> NotFound:
    """The error for a conversation that was open, or known, and is in the store no more."""
    return NotFound(
        "The conversation was deleted", "It was deleted, in another window or by a command.", "/new starts a new one."
    )


def conversation_at(connection: apsw.Connection, seq: int) -> Conversation:
    """The conversation with this seq. Raises NotFound."""
    rows = fetch(connection, f"{CONVERSATIONS} WHERE c.seq = ?", (seq,))
    if not rows:
        raise gone_conversation()
    return conversation_of(rows[0])


def find_conversation(connection: apsw.Connection, ref: str, source: str | None = None) -> Conversation:
    """Finds a conversation by its id, its exact title, or an unambiguous prefix of its id. Raises NotFound."""
    within, values = ("", ()) if source is None else (" AND c.source = ?", (plain(source),))
    id_ = plain(ref)
    conditions: list[tuple[str, tuple[str | bytes, ...]]] = [("c.id = ?", (id_,)), ("c.title = ?", (to_bytes(ref),))]
    if len(id_) >= SHORTEST_PREFIX:
        conditions.append(("c.id > ? AND c.id < ?", (id_, id_ + "\U0010ffff")))
    for where, bound in conditions:
        rows = fetch(
            connection, f"{CONVERSATIONS} WHERE {where}{within} ORDER BY c.updated_ms DESC LIMIT 9", (*bound, *values)
        )
        if len(rows) == 1:
            return conversation_of(rows[0])
        if rows:
            names = ", ".join(conversation_of(row).id for row in rows)
            raise AmbiguousReference(
                "Which conversation?", f"{ref} matches more than one conversation: {names}.", "Use its id."
            )
    raise NotFound(
        "No such conversation", f"There is no conversation {ref}.", f"`{PROGRAM} conversations list` shows them."
    )


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
    """Inserts a conversation, or returns the one that `source` already has under that `id`."""
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


def own_conversation(connection: apsw.Connection, id_: str) -> int | None:
    """The seq of the conversation with exactly this id that was held here; None for an imported one."""
    rows = fetch(connection, "SELECT seq FROM conversations WHERE source = '' AND id = ?", (plain(id_),))
    return int(rows[0][0]) if rows else None


def rename(connection: apsw.Connection, seq: int, title: Cleared) -> Conversation:
    """Sets the title. Raises NotFound."""
    run(connection, "UPDATE conversations SET title = ? WHERE seq = ?", (to_bytes(title), seq))
    return conversation_at(connection, seq)


def set_leaf(connection: apsw.Connection, seq: int, entry: int | None) -> Conversation:
    """Sets the entry at which the conversation continues. Raises NotFound for an entry of another conversation."""
    conversation_at(connection, seq)
    sql = "SELECT 1 FROM entries WHERE seq = ? AND conversation = ?"
    if entry is not None and not fetch(connection, sql, (entry, seq)):
        raise NotFound("No such entry", f"Entry {entry} is not in this conversation.")
    run(connection, "UPDATE conversations SET leaf = ? WHERE seq = ?", (entry, seq))
    return conversation_at(connection, seq)


def label(connection: apsw.Connection, seq: int, name: Cleared) -> Conversation:
    conversation_at(connection, seq)
    run(connection, "INSERT OR IGNORE INTO labels (conversation, label) VALUES (?, ?)", (seq, plain(name)))
    return conversation_at(connection, seq)


def unlabel(connection: apsw.Connection, seq: int, name: str) -> Conversation:
    run(connection, "DELETE FROM labels WHERE conversation = ? AND label = ?", (seq, plain(name)))
    return conversation_at(connection, seq)


def refuse_in_use(connection: apsw.Connection, seq: int) -> None:
    """Raises StoreBusy while an answer is being written in the conversation, NotFound for a missing one."""
    conversation_at(connection, seq)
    sql = "SELECT 1 FROM answers JOIN entries e ON e.seq = entry WHERE e.conversation = ?"
    if fetch(connection, sql, (seq,)):
        raise StoreBusy(
            "The conversation is in use",
            "An answer is being written in it.",
            "Stop the answer, or wait for it, and delete again.",
        )


def delete(connection: apsw.Connection, seq: int) -> tuple[str, ...]:
    """Deletes the conversation with its entries, their dependent rows, and copies recalled into other conversations.

    Returns the ids of pages that held only its text; the vault deletes those pages and their packs. Raises NotFound;
    StoreBusy while an answer is being written in it.
    """
    refuse_in_use(connection, seq)
    blank_recalled(connection, seq)
    end_epochs_showing(connection, seq)
    own_entries = "SELECT seq FROM entries WHERE conversation = ?"
    pages = {
        row[0] for row in each(connection, f"SELECT DISTINCT page FROM spans WHERE entry IN ({own_entries})", (seq,))
    }
    note_change(connection, "remove", [row[0] for row in fetch(connection, own_entries, (seq,))])
    run(connection, "UPDATE conversations SET leaf = NULL WHERE seq = ?", (seq,))
    run(connection, "DELETE FROM entries WHERE conversation = ?", (seq,))
    run(connection, "DELETE FROM conversations WHERE seq = ?", (seq,))
    other_spans = "SELECT 1 FROM spans WHERE page = ?"
    return tuple(sorted(page for page in pages if not fetch(connection, other_spans, (page,))))
