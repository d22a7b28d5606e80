"""Entries by the ids that other devices know them by: one whose id was forgotten has another one where that is known.

The other id follows from the forgotten one (memory.forgotten.tombstones). So it is the same entry under both, whichever
of them arrives first, and whether the device has heard of the forgetting or not.
"""

from collections.abc import Callable, Iterable

import apsw
from msgspec import structs

from foundation.privacy import Cleared, as_stored
from memory.cold.sql import fetch, first
from memory.forgotten.tombstones import OTHER, ForgottenName
from memory.records import EntryKind
from memory.sync.operation import ConversationKey, EntryOperation
from memory.sync.summary_meta import ids_in, with_ids


class EntryIds:
    """The ids of one store's entries, in a transaction of the caller."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._conversations: dict[int, tuple[str, str]] = {}
        self._others: dict[int, dict[str, int]] = {}  # entries by the ids that they would have instead

    def seq_of(self, conversation: int, id_: str) -> int | None:
        """The entry that is known by this id."""
        if (found := self._stored(conversation, id_)) is not None:
            return found
        if (found := self._stored(conversation, self._name(conversation, id_).other_id)) is not None:
            return found
        return self._others_of(conversation).get(id_) if id_.startswith(OTHER) else None

    def added(self, conversation: int, id_: str, seq: int) -> None:
        """Takes notice of a new entry."""
        if conversation in self._others:
            self._others[conversation][self._name(conversation, id_).other_id] = seq

    def names_of(self, conversation: int, id_: str, ids: Callable[[], Iterable[tuple[str]]]) -> set[str]:
        """The ids by which others may name the entry of this id; `ids` gives all that somebody names."""
        found = {id_, self._name(conversation, id_).other_id}
        if id_.startswith(OTHER):
            found |= {other for (other,) in ids() if self._name(conversation, other).other_id == id_}
        return found

    def _others_of(self, conversation: int) -> dict[str, int]:
        if conversation not in self._others:
            rows = fetch(self._db, "SELECT id, seq FROM entries WHERE conversation = ?", (conversation,))
            self._others[conversation] = {self._name(conversation, id_).other_id: seq for id_, seq in rows}
        return self._others[conversation]

    def _stored(self, conversation: int, id_: str) -> int | None:
        row = first(self._db, "SELECT seq FROM entries WHERE conversation = ? AND id = ?", (conversation, id_))
        return int(row[0]) if row else None

    def _name(self, conversation: int, id_: str) -> ForgottenName:
        if conversation not in self._conversations:
            ((source, whose),) = fetch(self._db, "SELECT source, id FROM conversations WHERE seq = ?", (conversation,))
            self._conversations[conversation] = source, whose
        return ForgottenName(*self._conversations[conversation], id_)


def known_id(db: apsw.Connection, conversation: ConversationKey, id_: str) -> Cleared:
    """The other id of an entry whose id was forgotten on any device; else its own."""
    name = ForgottenName(conversation.source, conversation.id, id_)
    return name.other_id if id_ and is_known(db, name.given_up) else as_stored(id_)


def is_known(db: apsw.Connection, token: str) -> bool:
    """Whether the token is one of what was forgotten on any device and the user did not refuse or leave open."""
    sql = "SELECT 1 FROM sync_forgotten WHERE token = ? AND answer NOT IN (1, 2)"
    return first(db, sql, (token,)) is not None


def with_known_ids(db: apsw.Connection, operation: EntryOperation) -> EntryOperation:
    """The operation with the other ids of entries whose ids were forgotten on any device."""
    key, meta = operation.conversation, operation.meta
    if operation.kind == EntryKind.SUMMARY.value:
        meta = with_ids(meta, {id_: known_id(db, key, id_) for id_ in ids_in(meta)})
    return structs.replace(
        operation, id=known_id(db, key, operation.id), parent=known_id(db, key, operation.parent), meta=meta
    )
