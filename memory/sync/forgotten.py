"""What was deleted or forgotten on any device: it is not taken again, and other devices are told by hashes alone."""

from collections.abc import Collection
from typing import Final, Protocol

import apsw
import msgspec
from msgspec import structs

from foundation.names import TOKEN
from memory.cold.deletions import token_of
from memory.cold.sql import fetch, first, run, run_many
from memory.forgotten.bare_meta import bare_meta
from memory.forgotten.fingerprints import FORGOTTEN
from memory.forgotten.tombstones import ForgottenName
from memory.records import Conversation, EntryKind
from memory.sync.entry_ids import is_known, known_id, with_known_ids
from memory.sync.operation import EntryOperation, ForgettingOperation
from memory.sync.summary_meta import references_of

_WAITING: Final = "UPDATE OR REPLACE sync_waiting SET id = ?, needs = ?, operation = ? WHERE seq = ?"


class DeletionPort(Protocol):
    """Deletes and forgets in this workspace, with all that belongs to it."""

    def delete(self, conversation: Conversation) -> object:
        """Deletes a conversation that another device deleted. Raises StoreBusy, TemporaryFailure: it is tried again."""
        ...

    def tokens(self) -> frozenset[str]:
        """The tokens of all entries that are forgotten here."""
        ...

    def present(self, tokens: Collection[str]) -> dict[str, int]:
        """Those of the tokens that would take something here, each with the seq of its conversation."""
        ...

    def forget(self, tokens: Collection[str], forgotten_ms: int) -> object:
        """Keeps the tokens, and forgets those of their entries that are here."""
        ...


def is_deleted(db: apsw.Connection, source: str, conversation: str) -> bool:
    """Whether the conversation was deleted on any device."""
    sql = """SELECT 1 FROM deletions WHERE token = ?1
        UNION ALL SELECT 1 FROM sync_due WHERE token = ?1 AND answer = 3 LIMIT 1"""
    return first(db, sql, (token_of(source, conversation),)) is not None


def is_forgotten(db: apsw.Connection, source: str, conversation: str, entry: str) -> bool:
    """Whether the entry was forgotten on any device."""
    return is_known(db, ForgottenName(source, conversation, entry).token)


def is_bare(db: apsw.Connection, source: str, conversation: str, entry: str) -> bool:
    """Whether what the entry holds beside its text was forgotten on any device."""
    return is_known(db, ForgottenName(source, conversation, entry).beside)


def take_tombstone(db: apsw.Connection, operation: ForgettingOperation, device: str) -> int:
    """Keeps another device's tombstone; 1 where it is new. The caller then blanks what waits (`blank_waiting`)."""
    if not TOKEN.fits(operation.token):
        raise ValueError("a tombstone is not what was written")
    sql = "INSERT OR IGNORE INTO sync_forgotten (token, forgotten_ms, own, device) VALUES (?, ?, 0, ?)"
    return run(db, sql, (operation.token, operation.forgotten_ms, device))


def note_own(db: apsw.Connection, tokens: Collection[str], now_ms: int) -> None:
    """Has other devices told of these tombstones of this workspace, and blanks what waits."""
    put_own(db, tokens, now_ms)
    blank_waiting(db)


def put_own(db: apsw.Connection, tokens: Collection[str], now_ms: int) -> None:
    """The same for tombstones of what is not here yet."""
    sql = "INSERT OR IGNORE INTO sync_forgotten (token, forgotten_ms) VALUES (?, ?)"
    run_many(db, sql, [(token, now_ms) for token in sorted(tokens)])


def forgotten_tokens(db: apsw.Connection) -> frozenset[str]:
    """Tokens of the entries that were forgotten on any device, but those that wait for the user or were refused."""
    return frozenset(token for (token,) in fetch(db, "SELECT token FROM sync_forgotten WHERE answer NOT IN (1, 2)"))


def blank_waiting(db: apsw.Connection) -> None:
    """Takes the words out of entries that wait for their parents and were forgotten."""
    for seq, needs, before in fetch(db, "SELECT seq, needs, operation FROM sync_waiting"):
        operation, device = msgspec.msgpack.decode(before, type=tuple[EntryOperation, str])
        known = known_entry(db, operation)
        if known != operation:
            needed = known_id(db, operation.conversation, needs)
            body = msgspec.msgpack.encode((known, device))
            run(db, _WAITING, (known.id, needed, body, seq))


def known_entry(db: apsw.Connection, operation: EntryOperation) -> EntryOperation:
    """The entry without what was forgotten of it on any device: its words, what is beside them, and ids."""
    name = operation.conversation.source, operation.conversation.id, operation.id
    if is_forgotten(db, *name):
        operation = blanked(operation)
    elif is_bare(db, *name):
        operation = bare(operation)
    return with_known_ids(db, operation)


def bare(operation: EntryOperation) -> EntryOperation:
    """An entry with its text, and no word beside it."""
    return structs.replace(operation, meta=bare_meta(operation.meta))


def blanked(operation: EntryOperation) -> EntryOperation:
    """A forgotten entry as its place in the tree: what answers it still finds it."""
    meta = references_of(operation.meta) if operation.kind == EntryKind.SUMMARY.value else {}
    return structs.replace(operation, text=FORGOTTEN.encode(), speaker="", meta=meta)
