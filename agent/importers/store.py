"""Imported entries on their way to the store: cleared, named, linked, each once however often the file is imported."""

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from agent.importers.names import ImportNames, made_before, said
from agent.importers.record import BadRecord, ConversationLeaf, ImportRecord, ParsedRecord
from foundation.privacy import EMPTY, Cleared, TextSource, clear, cleared_fields, examine
from memory.conversations import Conversations, ImportedConversation
from memory.errors import AlreadyExists, NotFound
from memory.records import Conversation, Entry, EntryDraft

BATCH = 2000
"""Entries in one transaction."""
BATCH_SIZE = 8 * 2**20
"""Bytes of entries in one transaction; its last may pass it."""
MOST_TOLD = 200
"""Bad places that are told one by one; the rest are counted."""

_OF_ONE_LINE = (
    NotFound,
    AlreadyExists,
    ValueError,
    TypeError,
    OverflowError,
    RecursionError,
)
"""What can be wrong with one entry; all else that the store raises is of the store itself."""

OnImported = Callable[[int], None]


class ImportReport(Struct, frozen=True, kw_only=True):
    """What an import did. `already` entries were there from before; `taken_out` counts private spans and secrets."""

    source: str
    conversations: tuple[int, ...]  # seqs of those that got entries
    entries: int
    already: int
    bad: tuple[BadRecord, ...]
    bad_count: int
    taken_out: int
    kept_count: int = 0  # of the bad ones, those whose rest was imported

    @property
    def refused(self) -> int:
        """Bad places of which nothing was imported."""
        return self.bad_count - self.kept_count


class _NamedRecord(Struct, frozen=True):
    """A record, with every name that the store keeps as it is, or makes a file's name of, fit to be stored."""

    record: ImportRecord
    id: Cleared  # "" where one is made
    conversation: Cleared
    parent: Cleared | None
    source: Cleared | None


class ImportWriter:
    """One import under way: `take` each thing read, then `finish`."""

    def __init__(
        self, conversations: Conversations, source: str, *, fixed_source: bool, on_progress: OnImported | None
    ) -> None:
        self._destination = conversations
        self._naming = ImportNames(conversations)
        self._source, self._fixed_source = self._naming.name(source), fixed_source
        self._on_progress = on_progress
        self._conversations: dict[tuple[Cleared, Cleared], _StoredConversation] = {}
        self._named: dict[str, _StoredConversation] = {}  # by the file's own id, for the leaves
        self._leaves: dict[str, str] = {}
        self._waiting: list[_NamedRecord] = []
        self._waiting_size = 0
        self._touched: dict[int, None] = {}
        self._entries = self._already = self._bad_count = self._kept_count = self._taken_out = 0
        self._bad: list[BadRecord] = []

    def take(self, read: ParsedRecord) -> None:
        match read:
            case ImportRecord():
                self._waiting.append(self._safely_named(read))
                self._waiting_size += max(read.size, len(read.text))
                if len(self._waiting) >= BATCH or self._waiting_size >= BATCH_SIZE:
                    self._store()
            case ConversationLeaf(conversation=conversation, id=leaf):
                self._leaves[self._naming.name(conversation)] = self._naming.name(leaf)
            case BadRecord():
                self._take_bad(read)

    def _take_bad(self, bad: BadRecord) -> None:
        self._bad_count += 1
        self._kept_count += bad.kept
        if len(self._bad) < MOST_TOLD:
            self._bad.append(bad)

    def finish(self) -> ImportReport:
        """Stores what is left, and puts each conversation at the entry that its file says it goes on from."""
        self._store()
        for conversation, leaf in self._leaves.items():
            held = self._named.get(conversation)
            if held is not None and leaf in held.known and self._stands_elsewhere_in_file(held, leaf):
                self._destination.set_leaf(held.seq, self._destination.find_entry(leaf, held.seq).seq)
        return ImportReport(
            source=self._source,
            conversations=tuple(self._touched),
            entries=self._entries,
            already=self._already,
            bad=tuple(self._bad),
            bad_count=self._bad_count,
            taken_out=self._taken_out,
            kept_count=self._kept_count,
        )

    def _stands_elsewhere_in_file(self, held: "_StoredConversation", wanted: str) -> bool:
        """Whether it stands at another entry of the file; where a person went on with it, it stays theirs."""
        leaf = self._destination.at(held.seq).leaf
        at = self._destination.entry(leaf).id if leaf is not None else ""
        return at != wanted and at in held.known

    def _ids(self, records: list[_NamedRecord]) -> list[Cleared]:
        """The records' ids: their own, those that an import by an older version made for them, or new ones."""
        numbered = [0 if one.id else self._conversations[self._key(one)].nth(one.record) for one in records]
        older: dict[int, list[Cleared]] = {}
        for one, nth in zip(records, numbered, strict=True):
            held = self._conversations[self._key(one)]
            if nth and held.leaf is not None:
                older.setdefault(held.seq, []).append(made_before(one.record, nth))
        stored = {seq: self._destination.known_ids(seq, ids) for seq, ids in older.items()}
        return [one.id or self._made_id(one, nth, stored) for one, nth in zip(records, numbered, strict=True)]

    def _made_id(self, one: _NamedRecord, nth: int, stored: dict[int, set[str]]) -> Cleared:
        before = made_before(one.record, nth)
        known = stored.get(self._conversations[self._key(one)].seq, ())
        return before if before in known else self._naming.made(one.record, nth)

    def _draft(self, one: _NamedRecord, id_: Cleared) -> EntryDraft:
        held, record = self._conversations[self._key(one)], one.record
        parent_id = held.last if one.parent is None else one.parent
        follows_stored = not parent_id and one.parent is None and not held.known
        draft = EntryDraft(
            conversation=held.seq,
            parent=held.leaf if follows_stored else None,
            parent_id=parent_id if parent_id in held.known else EMPTY,  # not itself: it is known from below on
            kind=record.kind,
            role=record.role,
            text=self._cleared(record.text),
            id=id_,
            speaker=clear(record.speaker, TextSource.OTHER),
            time=record.time,
            meta=cleared_fields(record.meta),
        )
        held.known.add(id_)
        held.last = id_
        return draft

    def _safely_named(self, record: ImportRecord) -> _NamedRecord:
        name = self._naming.name
        return _NamedRecord(
            record,
            id=name(record.id),
            conversation=name(record.conversation),
            parent=None if record.parent is None else name(record.parent),
            source=None if record.source is None else name(record.source),
        )

    def _key(self, one: _NamedRecord) -> tuple[Cleared, Cleared]:
        source = self._source if self._fixed_source or one.source is None else one.source
        return source, one.conversation

    def _open_conversations(self, records: list[_NamedRecord]) -> None:
        """Those that the records are of and that are not open yet, in one transaction."""
        new = {self._key(one): one.record for one in reversed(records) if self._key(one) not in self._conversations}
        wanted = [_wanted(key, record) for key, record in reversed(new.items())]
        for key, conversation in zip(reversed(new), self._destination.open_imported(wanted), strict=True):
            self._conversations[key] = self._named[key[1]] = _StoredConversation(conversation)

    def _store(self) -> None:
        records, self._waiting, self._waiting_size = self._waiting, [], 0
        if not records:
            return
        self._open_conversations(records)
        named = list(zip(records, self._ids(records), strict=True))
        taken: list[tuple[_NamedRecord, EntryDraft]] = []
        for one, id_ in named:
            try:
                taken.append((one, self._draft(one, id_)))
            except _OF_ONE_LINE as error:
                self._take_bad(BadRecord(one.record.place, _why(error)))
        drafts = [draft for _, draft in taken]
        try:
            self._count(drafts, self._destination.append_many(drafts))
        except _OF_ONE_LINE:
            self._store_each(taken)
        if self._on_progress:
            self._on_progress(self._entries + self._already)

    def _store_each(self, taken: list[tuple[_NamedRecord, EntryDraft]]) -> None:
        """One by one, for a batch that the store refused: what it refuses is a bad line, and what answers it a root."""
        refused: dict[int, set[str]] = {}
        for one, draft in taken:
            bad = refused.setdefault(draft.conversation, set())
            if draft.parent_id in bad:
                draft = replace(draft, parent_id=EMPTY)  # noqa: PLW2901 — the same entry, elsewhere
            try:
                self._count([draft], self._destination.append_many([draft]))
            except _OF_ONE_LINE as error:
                bad.add(draft.id)
                self._conversations[self._key(one)].known.discard(draft.id)
                self._take_bad(BadRecord(one.record.place, _why(error)))

    def _count(self, drafts: list[EntryDraft], stored: list[Entry | None]) -> None:
        for draft, entry in zip(drafts, stored, strict=True):
            if entry is None:
                self._already += 1
            else:
                self._entries += 1
                self._touched[draft.conversation] = None

    def _cleared(self, text: str) -> Cleared:
        findings = examine(text, TextSource.OTHER)
        self._taken_out += findings.private + len(findings.secrets)
        return findings.cleared


def _wanted(key: tuple[Cleared, Cleared], record: ImportRecord) -> ImportedConversation:
    source, id_ = key
    title = clear(id_ if record.title is None else record.title, TextSource.OTHER)
    return ImportedConversation(source, id_, title, record.created or record.time)


def _why(error: Exception) -> str:
    """Why an entry cannot be stored, as the end of a sentence."""
    return f"it cannot be stored: {' '.join(str(error).split())[:200].rstrip('.')}"


class _StoredConversation:
    """A conversation of the file, as the store has it."""

    def __init__(self, stored: Conversation) -> None:
        self.seq = stored.seq
        self.leaf = stored.leaf
        self.known: set[str] = set()
        self.last = EMPTY
        self._said: dict[bytes, int] = {}

    def nth(self, record: ImportRecord) -> int:
        """Its place among the entries of the conversation that say the same, from 1, in a grown file too."""
        told = said(record)
        nth = self._said[told] = self._said.get(told, 0) + 1
        return nth


def store_all(
    conversations: Conversations,
    reads: Iterable[ParsedRecord],
    *,
    source: str,
    fixed_source: bool,
    on_progress: OnImported | None = None,
) -> ImportReport:
    """Stores what a reader gives, a transaction a batch. With `fixed_source` lines cannot name another."""
    storing = ImportWriter(conversations, source, fixed_source=fixed_source, on_progress=on_progress)
    for read in reads:
        storing.take(read)
    return storing.finish()
