"""Listing, naming, labelling and deleting conversations."""

import apsw

from foundation.privacy import Cleared
from memory.cold.encoding import plain, to_bytes
from memory.cold.insert import note_change
from memory.cold.lookup import conversation_at
from memory.cold.recalled_copies import blank_recalled
from memory.cold.rows import CONVERSATIONS, conversation_of
from memory.cold.sql import each, fetch, run
from memory.errors import NotFound, StoreBusy
from memory.records import Conversation


def conversations(
    connection: apsw.Connection, *, limit: int, offset: int, kind: str | None, label: str | None
) -> list[Conversation]:
    """Newest first. `kind` None is all kinds."""
    wheres: list[str] = []
    values: list[object] = []
    if kind is not None:
        wheres.append("c.kind = ?")
        values.append(kind)
    if label is not None:
        wheres.append("c.seq IN (SELECT conversation FROM labels WHERE label = ?)")
        values.append(plain(label))
    where = f"WHERE {' AND '.join(wheres)}" if wheres else ""
    rows = each(
        connection,
        f"{CONVERSATIONS} {where} ORDER BY c.updated_ms DESC, c.seq DESC LIMIT ? OFFSET ?",
        (*values, limit, offset),
    )
    return [conversation_of(row) for row in rows]


def rename(connection: apsw.Connection, seq: int, title: Cleared) -> Conversation:
    """Raises NotFound."""
    run(connection, "UPDATE conversations SET title = ? WHERE seq = ?", (to_bytes(title), seq))
    return conversation_at(connection, seq)


def set_leaf(connection: apsw.Connection, seq: int, entry: int | None) -> Conversation:
    """The branch that the conversation goes on from. Raises NotFound for an entry of another conversation."""
    conversation_at(connection, seq)
    sql = "SELECT 1 FROM entries WHERE seq = ? AND conversation = ?"
    if entry is not None and not fetch(connection, sql, (entry, seq)):
        raise NotFound("No such entry", f"Entry {entry} is not of this conversation.")
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
    """Raises NotFound; StoreBusy while an answer is being written in it."""
    conversation_at(connection, seq)
    sql = "SELECT 1 FROM answers JOIN entries e ON e.seq = entry WHERE e.conversation = ?"
    if fetch(connection, sql, (seq,)):
        raise StoreBusy(
            "The conversation is in use",
            "An answer is being written in it.",
            "Stop the answer, or wait for it, and delete again.",
        )


def delete(connection: apsw.Connection, seq: int) -> tuple[str, ...]:
    """Deletes the conversation with its entries, terms, chunks and all else that hangs on them, and what of it other
    conversations have recalled.

    Gives the ids of the pages that carried nothing but its text. They and their packs are left as they are, for the
    vault to let go. Raises NotFound; StoreBusy while an answer is being written in it.
    """
    refuse_in_use(connection, seq)
    blank_recalled(connection, seq)
    mine = "SELECT seq FROM entries WHERE conversation = ?"
    pages = {row[0] for row in each(connection, f"SELECT DISTINCT page FROM spans WHERE entry IN ({mine})", (seq,))}
    note_change(connection, "remove", [row[0] for row in fetch(connection, mine, (seq,))])
    run(connection, "UPDATE conversations SET leaf = NULL WHERE seq = ?", (seq,))
    run(connection, "DELETE FROM entries WHERE conversation = ?", (seq,))
    run(connection, "DELETE FROM conversations WHERE seq = ?", (seq,))
    still = "SELECT 1 FROM spans WHERE page = ?"
    return tuple(sorted(page for page in pages if not fetch(connection, still, (page,))))
