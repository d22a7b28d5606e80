"""Applies operations of other devices. In any order, and any number of times, they give the same.

An entry whose parent is not here yet waits for it. One of a conversation that was deleted on any device is not taken;
one that was forgotten is taken without its words. Foreign text is cleared once more on its way in: nobody vouches that
the other device did.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import apsw
import msgspec
from msgspec import Struct, structs

from foundation.clock import Clock, parse_ms, to_ms
from foundation.privacy import EMPTY, Cleared, TextSource, clear, cleared_fields, cleared_id
from memory.cold import deletions
from memory.cold.conversations import insert_conversation
from memory.cold.encoding import to_text
from memory.cold.entries import insert_entry
from memory.cold.integrity.row_hashes import seal_rows
from memory.cold.sql import batches, fetch, first, marks, run
from memory.cold.sync_clock import see
from memory.forgotten.tombstones import ForgottenName, Tombstones
from memory.records import DEVICE, EntryAnalyser, EntryDraft, EntryKind
from memory.sync.entry_ids import EntryIds
from memory.sync.errors import SegmentDamaged
from memory.sync.forgotten import blank_waiting, is_deleted, known_entry, put_own, take_tombstone
from memory.sync.lineage import with_known_lineage
from memory.sync.note_store import take_version
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
from memory.sync.outbox import known_deletion
from memory.sync.registers import take_forgotten_names, take_value
from memory.sync.summary_meta import by_seqs, ids_in
from models.messages import Role

_NEEDED: Final = "SELECT DISTINCT needs FROM sync_waiting WHERE conversation = ?"
KINDS: Final = frozenset({"chat", "delegate", "archive", "knowledge"})
"""Kinds of conversations that are taken."""


class Taken(Struct, frozen=True):
    """How many operations were new here, by kind."""

    entries: int = 0
    values: int = 0
    deletions: int = 0
    notes: int = 0

    def __add__(self, other: "Taken") -> "Taken":
        return Taken(
            self.entries + other.entries,
            self.values + other.values,
            self.deletions + other.deletions,
            self.notes + other.notes,
        )


class Inbox:
    """Takes operations, in a transaction of the caller."""

    def __init__(
        self,
        db: apsw.Connection,
        clock: Clock,
        analyse: EntryAnalyser,
        secret: bytes,
        tombstones: Tombstones,
    ) -> None:
        self._db = db
        self._clock = clock
        self._analyse = analyse
        self._secret = secret
        self._tombstones = tombstones
        self._device = ""
        self._ids = EntryIds(db)

    def take(self, operations: Sequence[Operation], device: str) -> Taken:
        """Applies them, of which deletions come first; `device` names who made them. What the triggers note of it is no
        change of this device.

        Raises SegmentDamaged for values that no version of this program writes.
        """
        self._device = device
        ((before,),) = fetch(self._db, "SELECT coalesce(max(entry), 0) FROM sync_entries")
        found = [0] * 5
        for operation in operations:
            try:
                self._take_one(operation, found)
            except (ValueError, OverflowError, KeyError, OSError) as error:
                raise SegmentDamaged(
                    "A segment is damaged", f"An operation of {device} cannot be read: {error}."
                ) from error
        if found[4]:
            blank_waiting(self._db)
        run(self._db, "DELETE FROM sync_entries WHERE entry > ? AND segment IS NULL", (before,))
        entries, values, deletions_, notes, tombstones = found
        return Taken(entries, values, deletions_ + tombstones, notes)

    def _take_one(self, operation: Operation, found: list[int]) -> None:
        match operation:
            case EntryOperation():
                if (seq := self._conversation(operation.conversation)) is not None:
                    found[0] += self._take_entry(seq, operation)
            case ValueOperation():
                if (seq := self._conversation(operation.conversation)) is not None:
                    found[1] += take_value(self._db, seq, operation)
            case ForgottenNamesOperation():
                if (seq := self._conversation(operation.conversation)) is not None:
                    found[2] += take_forgotten_names(self._db, seq, operation)
            case DeletionOperation():
                found[2] += self._take_deletion(operation)
            case ForgettingOperation():
                found[4] += take_tombstone(self._db, operation, self._device)
            case NoteOperation():
                see(self._db, operation.clock)
                found[3] += take_version(self._db, operation, self._secret)

    def _conversation(self, key: ConversationKey) -> int | None:
        """The seq of the conversation, made where it is not there; None for a deleted one."""
        source, id_ = _cleared_name(key.source), _cleared_name(key.id)
        if key.kind not in KINDS or not id_ or is_deleted(self._db, source, id_):
            return None
        created = parse_ms(key.created_ms)
        made = insert_conversation(self._db, self._clock, EMPTY, source=source, id=id_, kind=key.kind, created=created)
        return made.seq

    def _take_entry(self, conversation: int, operation: EntryOperation) -> int:
        """Takes the entry, and those that waited for it; their number."""
        ready, count = [(_with_cleared_names(operation), self._device)], 0
        while ready:
            entry, device = ready.pop()
            self._refuse_forgotten_text(conversation, entry)
            entry = known_entry(self._db, entry)
            if missing := self._missing(conversation, entry):
                self._wait(conversation, entry, device, missing)
            elif self._insert(conversation, entry, device):
                count += 1
                ready += self._waiting_for(conversation, entry.id)
        return count

    def _insert(self, conversation: int, operation: EntryOperation, device: str) -> bool:
        """Stores an entry whose parent is here; whether it was new."""
        id_ = _cleared_name(operation.id)
        if self._seq_of(conversation, id_) is not None:
            return False
        run(self._db, "DELETE FROM sync_waiting WHERE conversation = ? AND id = ?", (conversation, id_))
        parent = self._seq_of(conversation, operation.parent) if operation.parent else None
        kind, meta = EntryKind(operation.kind), with_known_lineage(self._db, operation)
        if kind is EntryKind.SUMMARY:
            ids = ids_in(meta)
            meta = by_seqs(meta, {id_: seq for id_ in ids if (seq := self._seq_of(conversation, id_)) is not None})
        is_beside = kind is EntryKind.SUMMARY and parent is None
        ((leaf,),) = fetch(self._db, "SELECT leaf FROM conversations WHERE seq = ?", (conversation,))
        draft = EntryDraft(
            conversation=conversation,
            parent=parent,
            kind=kind,
            role=Role(operation.role),
            text=clear(to_text(operation.text), TextSource.OTHER),
            id=id_,
            speaker=clear(operation.speaker, TextSource.OTHER),
            time=parse_ms(operation.time_ms),
            meta=cleared_fields({**meta, DEVICE: device}),
            beside=is_beside or leaf != parent,  # who is on another branch stays there
        )
        entry = insert_entry(self._db, draft, clock=self._clock, analyse=self._analyse)
        self._ids.added(conversation, id_, entry.seq)
        if not operation.complete:
            run(self._db, "UPDATE entries SET complete = 0 WHERE seq = ?", (entry.seq,))
            seal_rows(self._db, [entry.seq])
        if draft.beside:
            sql = "UPDATE conversations SET updated_ms = max(updated_ms, ?) WHERE seq = ?"
            run(self._db, sql, (operation.time_ms, conversation))
        return True

    def _refuse_forgotten_text(self, conversation: int, operation: EntryOperation) -> None:
        """Forgets a new entry of an import whose text was forgotten here under another name, as an import here leaves
        it out; other devices are told of its name. What a person says on another device stays."""
        key = operation.conversation
        if not (key.source and self._tombstones.all()) or self._seq_of(conversation, operation.id) is not None:
            return
        if self._tombstones.has_text(clear(to_text(operation.text), TextSource.OTHER), operation.time_ms):
            token = ForgottenName(key.source, key.id, operation.id).token
            put_own(self._db, [token], to_ms(self._clock.now()))

    def _waiting_for(self, conversation: int, id_: str) -> list[tuple[EntryOperation, str]]:
        """The entries that waited for this one, each with its device. They wait no longer."""
        found: list[tuple[EntryOperation, str]] = []
        for name in self._ids.names_of(conversation, id_, lambda: fetch(self._db, _NEEDED, (conversation,))):
            sql = "SELECT operation FROM sync_waiting WHERE conversation = ? AND needs = ? ORDER BY seq DESC"
            rows = fetch(self._db, sql, (conversation, name))
            run(self._db, "DELETE FROM sync_waiting WHERE conversation = ? AND needs = ?", (conversation, name))
            found += [msgspec.msgpack.decode(body, type=tuple[EntryOperation, str]) for (body,) in rows]
        return found

    def _wait(self, conversation: int, operation: EntryOperation, device: str, needs: str) -> None:
        body = msgspec.msgpack.encode((operation, device))
        sql = "INSERT OR REPLACE INTO sync_waiting (conversation, id, needs, operation) VALUES (?, ?, ?, ?)"
        run(self._db, sql, (conversation, operation.id, needs, body))

    def _missing(self, conversation: int, operation: EntryOperation) -> str:
        """The id of an entry that must be here first and is not: its parent, or one that a summary names; else ""."""
        if operation.parent and self._seq_of(conversation, operation.parent) is None:
            return operation.parent
        if operation.kind != EntryKind.SUMMARY.value:
            return ""
        wanted = sorted(set(ids_in(operation.meta)))
        known: set[str] = set()
        for batch in batches(wanted):
            sql = f"SELECT id FROM entries WHERE conversation = ? AND id IN ({marks(batch)})"
            known.update(id_ for (id_,) in fetch(self._db, sql, (conversation, *batch)))
        left = (id_ for id_ in wanted if id_ not in known)
        return next((id_ for id_ in left if self._seq_of(conversation, id_) is None), "")

    def _take_deletion(self, operation: DeletionOperation) -> int:
        """Records it; a conversation that is here is deleted by whoever runs the sync, with all that belongs to it."""
        if first(self._db, "SELECT 1 FROM deletions WHERE token = ?", (operation.token,)) is not None:
            return 0
        if operation.token in self._tokens:
            sql = "INSERT OR IGNORE INTO sync_due (token, deleted_ms, device) VALUES (?, ?, ?)"
            return run(self._db, sql, (operation.token, operation.deleted_ms, self._device))
        deletions.put(self._db, [known_deletion(operation)])
        run(self._db, "DELETE FROM sync_deletions WHERE token = ?", (operation.token,))
        return 1

    @cached_property
    def _tokens(self) -> dict[str, int]:
        return deletions.tokens(self._db)  # deletions come before what would make a conversation

    def _seq_of(self, conversation: int, id_: str) -> int | None:
        return self._ids.seq_of(conversation, id_)


def _cleared_name(name: str) -> Cleared:
    return cleared_id(name) if name else EMPTY


def _with_cleared_names(operation: EntryOperation) -> EntryOperation:
    key = operation.conversation
    return structs.replace(
        operation,
        conversation=structs.replace(key, source=_cleared_name(key.source), id=_cleared_name(key.id)),
        id=_cleared_name(operation.id),
        parent=_cleared_name(operation.parent),
    )


def waiting_counts(db: apsw.Connection) -> dict[str, int]:
    """How many entries wait for an entry above them, by conversation."""
    sql = "SELECT c.id, count(*) FROM sync_waiting w JOIN conversations c ON c.seq = w.conversation GROUP BY c.seq"
    return dict(fetch(db, sql))
