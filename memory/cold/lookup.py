"""Finding rows by what a person or another room calls them."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

import apsw

from foundation.program import PROGRAM
from memory.cold.encoding import plain, to_bytes
from memory.cold.rows import CONVERSATIONS, ENTRIES, conversation_of, entries_of, entry_of
from memory.cold.sql import each, fetch
from memory.errors import NotFound
from memory.records import Conversation, Entry

T = TypeVar("T")

AT_ONCE = 500  # bound values in one statement; SQLite takes 32,766
SHORTEST_PREFIX = 4


def entry_at(connection: apsw.Connection, seq: int) -> Entry:
    """Raises NotFound."""
    rows = fetch(connection, f"{ENTRIES} WHERE e.seq = ?", (seq,))
    if not rows:
        raise NotFound("No such entry", f"There is no entry {seq} here.", "It may have been deleted.")
    return entry_of(connection, rows[0])


def entries_at(connection: apsw.Connection, seqs: Iterable[int]) -> dict[int, Entry]:
    """Those of the entries that are there, by seq."""
    found: dict[int, Entry] = {}
    for some in batches(sorted(set(seqs))):
        rows = each(connection, f"{ENTRIES} WHERE e.seq IN ({marks(some)})", some)
        found.update((entry.seq, entry) for entry in entries_of(connection, rows))
    return found


def find_entry(connection: apsw.Connection, id_: str, conversation: int | None = None) -> Entry:
    """By its id, or by a prefix of at least four characters that no other has. Raises NotFound."""
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
        found = entries_of(connection, rows)
        names = ", ".join(f"{entry.id} in {entry.conversation}" for entry in found)
        raise NotFound("Which entry?", f"{id_} names more than one entry: {names}.", "Say the conversation as well.")
    return entry_of(connection, rows[0])


def entries_with_id(connection: apsw.Connection, id_: str, conversation: int | None = None) -> list[Entry]:
    """The entries of exactly this id, at most 50: several where imports brought one id into several conversations."""
    within = "" if conversation is None else f" AND e.conversation = {int(conversation)}"
    rows = fetch(connection, f"{ENTRIES} WHERE e.id = ?{within} ORDER BY e.seq LIMIT 50", (plain(id_),))
    return entries_of(connection, rows)


def entry_seqs(connection: apsw.Connection, conversation: int, after: int = 0, limit: int = -1) -> list[int]:
    """Seqs of the conversation's entries above `after`, oldest first; a negative limit gives all."""
    sql = "SELECT seq FROM entries WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT ?"
    return [seq for (seq,) in each(connection, sql, (conversation, after, limit))]


def ids_stored(connection: apsw.Connection, conversation: int, ids: Iterable[str]) -> set[str]:
    """Those of the ids that entries of the conversation have."""
    found = set[str]()
    for some in batches(sorted(set(ids))):
        sql = f"SELECT id FROM entries WHERE conversation = ? AND id IN ({marks(some)})"
        found.update(id_ for (id_,) in each(connection, sql, (conversation, *some)))
    return found


def is_id_taken(connection: apsw.Connection, id_: str) -> bool:
    """Whether an entry, a conversation or a conversation's source has the id."""
    sql = """SELECT 1 FROM conversations WHERE id = ?1 OR source = ?1
             UNION ALL SELECT 1 FROM entries WHERE id = ?1 LIMIT 1"""
    return bool(fetch(connection, sql, (plain(id_),)))


def conversation_at(connection: apsw.Connection, seq: int) -> Conversation:
    """Raises NotFound."""
    rows = fetch(connection, f"{CONVERSATIONS} WHERE c.seq = ?", (seq,))
    if not rows:
        raise NotFound("No such conversation", f"There is no conversation {seq} here.", "It may have been deleted.")
    return conversation_of(rows[0])


def find_conversation(connection: apsw.Connection, ref: str, source: str | None = None) -> Conversation:
    """By its id, its exact title, or a prefix of its id that no other has. Raises NotFound."""
    within, values = ("", ()) if source is None else (" AND c.source = ?", (plain(source),))
    id_ = plain(ref)
    ways: list[tuple[str, tuple[str | bytes, ...]]] = [("c.id = ?", (id_,)), ("c.title = ?", (to_bytes(ref),))]
    if len(id_) >= SHORTEST_PREFIX:
        ways.append(("c.id > ? AND c.id < ?", (id_, id_ + "\U0010ffff")))
    for where, bound in ways:
        rows = fetch(
            connection, f"{CONVERSATIONS} WHERE {where}{within} ORDER BY c.updated_ms DESC LIMIT 9", (*bound, *values)
        )
        if len(rows) == 1:
            return conversation_of(rows[0])
        if rows:
            names = ", ".join(conversation_of(row).id for row in rows)
            raise NotFound("Which conversation?", f"{ref} names more than one conversation: {names}.", "Use its id.")
    raise NotFound(
        "No such conversation", f"There is no conversation {ref}.", f"`{PROGRAM} conversations list` shows them."
    )


def batches(values: Sequence[T]) -> Iterable[Sequence[T]]:
    """The values, as many at once as one statement takes."""
    for start in range(0, len(values), AT_ONCE):
        yield values[start : start + AT_ONCE]


def marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
