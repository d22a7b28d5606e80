"""Storing of imported entries: cleared, named, linked, and without duplicates over repeated imports."""

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from agent.importers.forgotten import ForgottenHere
from agent.importers.names import ImportNames, entry_hash, entry_hash_in_file, legacy_entry_id
from agent.importers.record import BadRecord, ConversationLeaf, ImportRecord, ParsedRecord
from agent.importers.replays import Replays
from agent.importers.report import MAX_REPORTED, ImportReport
from agent.importers.skipped import Skipped, SkippedKinds, SkipReason
from foundation.privacy import EMPTY, Cleared, TextSource, as_made, clear, cleared_fields, examine
from memory.conversations import Conversations, HeldEntry, ImportedConversation
from memory.errors import AlreadyExists, NotFound
from memory.forgotten.fingerprints import FORGOTTEN
from memory.records import UNTIMED, Conversation, Entry, EntryDraft, EntryKind

BATCH = 2000
"""Entries per transaction."""
BATCH_SIZE = 8 * 2**20
"""Bytes of entries per transaction; the last entry may exceed it."""
HELD_SIZE = 8 * BATCH_SIZE
"""Bytes of entries that a conversation held here has, kept in case the file continues it."""
RESTORED = as_made("palimpsest")
"""The source of what an export of our own calls the workspace's own: an import never makes that."""

_ENTRY_ERRORS = (NotFound, AlreadyExists, ValueError, TypeError, OverflowError, RecursionError)
"""Errors caused by a single entry; any other one concerns the store itself."""

OnImported = Callable[[int], None]


class _NamedRecord(Struct, frozen=True):
    """A record with cleared ids and names: the store keeps them as they are, or uses them in file names."""

    record: ImportRecord
    id: Cleared  # "" where one is generated
    conversation: Cleared
    parent: Cleared | None
    source: Cleared | None


class ImportWriter:
    """One running import: `take` each record, then `finish`."""

    def __init__(
        self, conversations: Conversations, source: str, *, fixed_source: bool, on_progress: OnImported | None
    ) -> None:
        self._destination = conversations
        self._naming = ImportNames(conversations)
        self._source, self._fixed_source = self._naming.name(source), fixed_source
        self._on_progress = on_progress
        self._conversations: dict[tuple[Cleared, Cleared], _StoredConversation] = {}
        self._by_file_id: dict[str, _StoredConversation] = {}  # for the leaves
        self._leaves: dict[str, str] = {}
        self._above_left_out: dict[tuple[Cleared, Cleared, Cleared], Cleared | None] = {}  # parents, by its key, id
        self._forgotten_here = ForgottenHere(conversations)
        self._replays = Replays(conversations)
        self._held: dict[tuple[Cleared, Cleared], list[_NamedRecord]] = {}  # of own conversations, until they go on
        self._held_size = 0
        self._continued: set[tuple[Cleared, Cleared]] = set()  # own conversations of which the file has more
        self._pending: list[_NamedRecord] = []
        self._pending_size = 0
        self._changed: dict[int, None] = {}
        self._entries = self._already = self._bad_count = self._kept_count = self._taken_out = 0
        self._observations = self._forgotten = 0  # left out
        self._skipped = SkippedKinds()
        self._bad: list[BadRecord] = []
        self._reasons: dict[str, tuple[BadRecord, int]] = {}  # by the sentence

    def take(self, record: ParsedRecord) -> None:
        match record:
            case ImportRecord(kind=EntryKind.OBSERVATION):
                self._observations += 1
                self._leave_out(self._named_record(record))
            case ImportRecord():
                named = self._named_record(record)
                if self._replays.holds(record, self._source):
                    self._skipped.add(Skipped(record.location, record.kind, SkipReason.REPEATED))
                    self._leave_out(named)
                    return
                if self._is_forgotten(named, named.id) or self._forgotten_here.has_text(record.text, record.time):
                    self._forgotten += 1
                    self._leave_out(named)
                    return
                self._pending.append(named)
                self._pending_size += max(record.size, len(record.text))
                if len(self._pending) >= BATCH or self._pending_size >= BATCH_SIZE:
                    self._store()
            case ConversationLeaf(conversation=conversation, id=leaf):
                id_ = self._forgotten_here.conversation(self._naming.name(conversation))
                self._leaves[id_] = self._naming.name(leaf)
            case BadRecord():
                self._take_bad(record)
            case Skipped():
                self._skipped.add(record)

    def _leave_out(self, named: _NamedRecord) -> None:
        if named.id:
            self._above_left_out[(*self._key(named), named.id)] = named.parent

    def _is_forgotten(self, named: _NamedRecord, id_: str) -> bool:
        source = self._source_of(named)
        own = EMPTY if source == RESTORED else source  # what an export of our own brings back is the workspace's own
        return bool(id_) and self._forgotten_here.has_entry(own, named.conversation, id_)

    def _take_bad(self, bad: BadRecord) -> None:
        self._bad_count += 1
        self._kept_count += bad.partly_imported
        if len(self._bad) < MAX_REPORTED:
            self._bad.append(bad)
        first, number = self._reasons.get(bad.sentence, (bad, 0))
        if number or len(self._reasons) < MAX_REPORTED:
            self._reasons[bad.sentence] = (first, number + 1)

    def finish(self) -> ImportReport:
        """Stores the pending records, and sets each conversation's leaf to the one in the file."""
        self._store()
        self._already += sum(map(len, self._held.values()))
        for conversation, leaf in self._leaves.items():
            stored = self._by_file_id.get(conversation)
            leaf = stored.renamed.get(leaf, leaf) if stored else leaf  # noqa: PLW2901 — the id that it was stored with
            if stored is not None and leaf in stored.known and self._is_at_other_entry(stored, leaf):
                self._destination.set_leaf(stored.seq, self._destination.find_entry(leaf, stored.seq).seq)
        return ImportReport(
            source=self._source,
            conversations=tuple(self._changed),
            entries=self._entries,
            already=self._already,
            bad=tuple(self._bad),
            bad_count=self._bad_count,
            redacted=self._taken_out,
            kept_count=self._kept_count,
            observations=self._observations,
            forgotten=self._forgotten,
            skipped=self._skipped.counts(),
            reasons=tuple(self._reasons.values()),
        )

    def _is_at_other_entry(self, stored: "_StoredConversation", target: str) -> bool:
        """Whether the leaf is another entry of the file. A conversation that the user continued keeps its leaf."""
        leaf = self._destination.at(stored.seq).leaf
        current = self._destination.entry(leaf).id if leaf is not None else ""
        return current != target and current in stored.known

    def _ids(self, records: list[_NamedRecord]) -> list[Cleared]:
        """The records' ids: their own where it stands for no other entry, legacy ones in the store, or new ones."""
        ordinals = [0 if named.id else self._conversation_of(named).next_ordinal(named.record) for named in records]
        candidates: dict[int, list[Cleared]] = {}
        own: dict[int, list[Cleared]] = {}
        for named, ordinal in zip(records, ordinals, strict=True):
            conversation = self._conversation_of(named)
            if named.id:
                own.setdefault(conversation.seq, []).append(named.id)
            elif conversation.leaf is not None:
                candidates.setdefault(conversation.seq, []).append(legacy_entry_id(named.record, ordinal))
        stored = {seq: self._destination.known_ids(seq, ids) for seq, ids in candidates.items()}
        held = {seq: self._destination.held(seq, ids) for seq, ids in own.items()}
        return [
            self._own_id(named, held) if named.id else self._generated_id(named, ordinal, stored)
            for named, ordinal in zip(records, ordinals, strict=True)
        ]

    def _own_id(self, named: _NamedRecord, held: dict[int, dict[str, HeldEntry]]) -> Cleared:
        """Its id in the file; one made of it and the content where that id stands for another entry."""
        conversation, content = self._conversation_of(named), entry_hash_in_file(named.record)
        first = conversation.contents.get(named.id)
        if first is None and self._is_held(named.record, held.get(conversation.seq, {}).get(named.id), absent=True):
            first = conversation.contents[named.id] = content
        return named.id if first == content else self._naming.renamed(named.id, content)

    def _generated_id(self, named: _NamedRecord, ordinal: int, stored: dict[int, set[str]]) -> Cleared:
        legacy_id = legacy_entry_id(named.record, ordinal)
        stored_ids = stored.get(self._conversation_of(named).seq, ())
        return legacy_id if legacy_id in stored_ids else self._naming.generated(named.record, ordinal)

    def _draft(self, named: _NamedRecord, id_: Cleared) -> EntryDraft:
        conversation, record = self._conversation_of(named), named.record
        parent_id = conversation.last if named.parent is None else conversation.renamed.get(named.parent, named.parent)
        follows_stored = not parent_id and named.parent is None and not conversation.known
        draft = EntryDraft(
            conversation=conversation.seq,
            parent=conversation.leaf if follows_stored else None,
            parent_id=parent_id if conversation.has_parent(parent_id, id_) else EMPTY,
            kind=record.kind,
            role=record.role,
            text=self._cleared(record.text),
            id=id_,
            speaker=self._forgotten_here.without_words(record.speaker, record.time),
            time=record.time,
            meta=cleared_fields(record.meta if record.time else {**record.meta, UNTIMED: True}),
            beside=record.beside,
        )
        conversation.known.add(id_)
        if named.id:
            conversation.renamed[named.id] = id_
        conversation.last = conversation.last if record.beside else id_
        return draft

    def _named_record(self, record: ImportRecord) -> _NamedRecord:
        name = self._naming.name
        named = _NamedRecord(
            record,
            id=name(record.id),
            conversation=name(record.conversation),
            parent=None if record.parent is None else name(record.parent),
            source=None if record.source is None else name(record.source),
        )
        above = named.parent and self._above_left_out.get((*self._key(named), named.parent), named.parent)
        return replace(named, parent=above)

    def _key(self, named: _NamedRecord) -> tuple[Cleared, Cleared]:
        """The source and the id of its conversation here."""
        here = self._forgotten_here
        return here.source(self._source_of(named)), here.conversation(named.conversation)

    def _source_of(self, named: _NamedRecord) -> Cleared:
        """Its source in the file. No file can name the source "", which is this workspace's own."""
        return (self._source if self._fixed_source or named.source is None else named.source) or RESTORED

    def _conversation_of(self, named: _NamedRecord) -> "_StoredConversation":
        return self._conversations[self._key(named)]

    def _without_own(self, records: list[_NamedRecord]) -> list[_NamedRecord]:
        """The records less those that a conversation of this workspace has; nothing is ever added to that one.

        Where the file continues it, they come first after all: an imported conversation begins with what it continues.
        """
        claimed: dict[Cleared, list[Cleared]] = {}
        for named in filter(self._claims_own, records):
            claimed.setdefault(named.conversation, []).append(named.id)
        here = self._forgotten_here.conversation
        held = {id_: self._destination.held_in_own(here(id_), ids) for id_, ids in claimed.items()}
        others: list[_NamedRecord] = []
        for named in records:
            key = self._key(named)
            is_held = self._claims_own(named) and self._is_held(named.record, held[named.conversation].get(named.id))
            if is_held and key not in self._continued:
                self._hold(key, named)
                continue
            if key in self._held:
                others += self._held.pop(key)
                self._continued.add(key)
            others.append(named)
        return others

    def _claims_own(self, named: _NamedRecord) -> bool:
        return named.source == "" and not self._fixed_source and bool(named.id)

    def _is_held(self, record: ImportRecord, held: HeldEntry | None, *, absent: bool = False) -> bool:
        """Whether a stored entry with the record's id is that entry, also where words of its text were forgotten;
        `absent` where there is none."""
        if held is None or not held.is_of(record.role, record.time):
            return absent and held is None
        return held.has_text(clear(record.text, TextSource.OTHER)) or self._forgotten_here.has_words(
            record.text, record.time
        )

    def _hold(self, key: tuple[Cleared, Cleared], named: _NamedRecord) -> None:
        self._held_size += max(named.record.size, len(named.record.text))
        if self._held_size <= HELD_SIZE:
            self._held.setdefault(key, []).append(named)
        else:
            self._already += 1

    def _open_conversations(self, records: list[_NamedRecord]) -> None:
        """Opens the records' conversations that are not open yet, in one transaction."""
        unopened = {
            self._key(named): named.record for named in reversed(records) if self._key(named) not in self._conversations
        }
        conversations = [self._imported_conversation(*each) for each in reversed(unopened.items())]
        opened = self._destination.open_imported(conversations)
        for key, conversation in zip(reversed(unopened), opened, strict=True):
            self._conversations[key] = self._by_file_id[key[1]] = _StoredConversation(conversation)
        for imported, stored in zip(conversations, opened, strict=True):
            if stored.title == stored.id != imported.title:  # an earlier file of it had no title
                self._destination.rename(stored.seq, imported.title)

    def _imported_conversation(self, key: tuple[Cleared, Cleared], record: ImportRecord) -> ImportedConversation:
        source, id_ = key
        created = record.created or record.time
        untitled = id_ if id_ == self._naming.name(record.conversation) else FORGOTTEN
        title = self._forgotten_here.without_words(untitled if record.title is None else record.title, created)
        return ImportedConversation(source, id_, title, created)

    def _store(self) -> None:
        records, self._pending, self._pending_size = self._without_own(self._pending), [], 0
        if not records:
            return
        self._open_conversations(records)
        with_ids = [
            (named, id_)
            for named, id_ in zip(records, self._ids(records), strict=True)
            if named.id or not self._is_forgotten(named, id_)
        ]
        self._forgotten += len(records) - len(with_ids)
        self._find_stored_parents(records)
        accepted: list[tuple[_NamedRecord, EntryDraft]] = []
        for record_, id_ in with_ids:
            try:
                accepted.append((record_, self._draft(record_, id_)))
            except _ENTRY_ERRORS as error:
                self._take_bad(BadRecord(record_.record.location, _store_error(error)))
        drafts = [draft for _, draft in accepted]
        try:
            self._count(drafts, self._destination.append_many(drafts))
        except _ENTRY_ERRORS:
            self._store_each(accepted)
        if self._on_progress:
            self._on_progress(self._entries + self._already)

    def _find_stored_parents(self, records: list[_NamedRecord]) -> None:
        """Looks up the parents that the file does not have: an earlier import may have stored them."""
        wanted: dict[tuple[Cleared, Cleared], list[Cleared]] = {}
        for named in records:
            if named.parent and named.parent not in self._conversation_of(named).known:
                wanted.setdefault(self._key(named), []).append(named.parent)
        for key, ids in wanted.items():
            conversation = self._conversations[key]
            conversation.parents |= self._destination.known_ids(conversation.seq, ids)

    def _store_each(self, accepted: list[tuple[_NamedRecord, EntryDraft]]) -> None:
        """Stores a refused batch entry by entry: a refused entry is a bad record, and its children become roots."""
        refused: dict[int, set[str]] = {}
        for named, draft in accepted:
            bad = refused.setdefault(draft.conversation, set())
            if draft.parent_id in bad:
                draft = replace(draft, parent_id=EMPTY)  # noqa: PLW2901 — the same entry, elsewhere
            try:
                self._count([draft], self._destination.append_many([draft]))
            except _ENTRY_ERRORS as error:
                bad.add(draft.id)
                self._conversation_of(named).known.discard(draft.id)
                self._take_bad(BadRecord(named.record.location, _store_error(error)))

    def _count(self, drafts: list[EntryDraft], stored: list[Entry | None]) -> None:
        for draft, entry in zip(drafts, stored, strict=True):
            if entry is None:
                self._already += 1
            else:
                self._entries += 1
                self._changed[draft.conversation] = None

    def _cleared(self, text: str) -> Cleared:
        findings = examine(text, TextSource.OTHER)
        self._taken_out += findings.private + len(findings.secrets)
        return findings.cleared


def _store_error(error: Exception) -> str:
    """The error as the end of a sentence."""
    return f"it cannot be stored: {' '.join(str(error).split())[:200].rstrip('.')}"


class _StoredConversation:
    """The stored conversation of one in the file."""

    def __init__(self, stored: Conversation) -> None:
        self.seq = stored.seq
        self.leaf = stored.leaf
        self.known: set[str] = set()
        self.parents: set[str] = set()  # entries stored before that the file names as parents
        self.contents: dict[str, bytes] = {}  # what an id of the file stands for, by its hash
        self.renamed: dict[str, Cleared] = {}  # the id in the file → the id of its newest entry here
        self.last = EMPTY
        self._ordinals: dict[bytes, int] = {}

    def has_parent(self, id_: str, child: str) -> bool:
        """Whether it has an entry of this id, and that is not the child itself."""
        return id_ in self.known or (id_ in self.parents and id_ != child)

    def next_ordinal(self, record: ImportRecord) -> int:
        """Its ordinal among the conversation's entries with equal content, from 1; stable when the file grows."""
        content_hash = entry_hash(record)
        ordinal = self._ordinals[content_hash] = self._ordinals.get(content_hash, 0) + 1
        return ordinal


def store_all(
    conversations: Conversations,
    records: Iterable[ParsedRecord],
    *,
    source: str,
    fixed_source: bool,
    on_progress: OnImported | None = None,
) -> ImportReport:
    """Stores a reader's records in batches. With `fixed_source`, lines cannot name another source."""
    writer = ImportWriter(conversations, source, fixed_source=fixed_source, on_progress=on_progress)
    for record in records:
        writer.take(record)
    return writer.finish()
