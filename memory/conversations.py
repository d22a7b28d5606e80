"""Use cases on stored conversations and their entries, for the packages above memory.

No caller up there holds a transaction or sees SQL: each method is a transaction of its own.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, datetime
from functools import cached_property
from itertools import islice, takewhile

import apsw
from msgspec import Struct

from foundation.clock import from_ms, to_ms
from foundation.privacy import EMPTY, Cleared
from memory.cold import AnswerWriter, ColdStore, deletions
from memory.cold.answers import owner_of
from memory.cold.conversation_days import (
    conversation_days,
    conversation_figures,
    conversations_of_day,
    conversations_titled,
    count_one_shots,
    first_made,
    last_touched,
)
from memory.cold.conversations import (
    conversation_at,
    insert_conversation,
    label,
    own_conversation,
    refuse_in_use,
    unlabel,
)
from memory.cold.delegates import delegated_in
from memory.cold.entries import (
    HeldEntry,
    entries_with_id,
    entry_seqs,
    held_entries,
    ids_stored,
    is_id_taken,
    seqs_of_ids,
)
from memory.cold.secret import keyed
from memory.cold.shown_texts import ShownTexts, shown_texts
from memory.cold.statistics import counts_by_day
from memory.cold.tree import PAGE, entry_nodes, result_calls, steps_up, summaries_beside
from memory.forgotten.earlier import ForgottenEarlier
from memory.forgotten.tombstones import TOMBSTONES, Tombstones
from memory.records import AnswerOwner, Branch, Conversation, ConversationFigures, Entry, EntryDraft, EntryNode
from memory.tool_calls import may_have_run, tool_calls
from memory.turn_summaries import covered_ids
from models.messages import ToolCall

__all__ = ["AnswerWriter", "Conversations", "HeldEntry", "ImportedConversation", "ShownTexts"]

SEQS_AT_ONCE = 500
MAX_STEPS = 20_000  # of a path that are read to see which branch an entry is on: some 20 ms


class ImportedConversation(Struct, frozen=True):
    """A conversation of an import: looked up by its source and id, or made with this title and moment."""

    source: Cleared
    id: Cleared
    title: Cleared
    created: datetime | None = None


class Conversations:
    """The conversations of one store. Methods may be called from any thread; every one blocks on the disk.

    Any method raises a StoreError where the disk or another program is in the way, and Damaged where the file is
    not whole. What writes returns after COMMIT.
    """

    def __init__(self, cold: ColdStore) -> None:
        self._cold = cold

    # ── conversations ──

    def new(self, title: Cleared = EMPTY, *, kind: str = "chat", labels: Collection[Cleared] = ()) -> Conversation:
        def transaction(db: apsw.Connection) -> Conversation:
            made = insert_conversation(db, self._cold.clock, title, kind=kind)
            return [label(db, made.seq, name) for name in labels][-1] if labels else made

        return self._cold.write(transaction)

    def find(self, ref: str) -> Conversation:
        """The conversation by its id, its exact title, or a unique prefix of its id. Raises NotFound."""
        return self._cold.conversation(ref)

    def at(self, seq: int) -> Conversation:
        """The conversation of that seq. Raises NotFound."""
        return self._cold.conversation_at(seq)

    def recent(
        self, *, limit: int = 50, offset: int = 0, label: str | None = None, without: str | None = None
    ) -> list[Conversation]:
        """Chats, the most recently written first; with a label, or without one."""
        return self._cold.conversations(limit=limit, offset=offset, label=label, without=without)

    def latest(self) -> Conversation | None:
        """The most recently written chat."""
        return next(iter(self.recent(limit=1)), None)

    def first_made(self) -> datetime | None:
        """When the first conversation was made; None where there is none."""
        return self._cold.read(first_made)

    def last_touched(self, before: datetime) -> datetime | None:
        """When a conversation was last written to before then, of those that were not written to since."""
        return self._cold.read(lambda db: last_touched(db, to_ms(before)))

    def days(self, *, one_shots: bool = False) -> dict[date, int]:
        """How many chats were last written on each local day, newest first; one-shots count where they are listed."""
        return self._cold.read(lambda db: conversation_days(db, one_shots=one_shots))

    def of_day(self, day: date, *, one_shots: bool = False) -> list[Conversation]:
        """The chats of a day, newest first."""
        return self._cold.read(lambda db: conversations_of_day(db, day, one_shots=one_shots))

    def titled(self, words: Sequence[str], limit: int, *, one_shots: bool = True) -> list[Conversation]:
        """At most so many chats whose title holds every word, newest first."""
        return self._cold.read(lambda db: conversations_titled(db, words, limit, one_shots=one_shots))

    def figures(self, seqs: Sequence[int]) -> dict[int, ConversationFigures]:
        """Turns and tokens of these conversations."""
        return self._cold.read(lambda db: conversation_figures(db, seqs))

    def one_shots(self) -> int:
        """How many chats are one-shots."""
        return self._cold.read(count_one_shots)

    def rename(self, seq: int, title: Cleared) -> Conversation:
        return self._cold.rename(seq, title)

    def set_leaf(self, seq: int, entry: int | None) -> Conversation:
        """Selects the branch on which the conversation continues. Raises NotFound for another conversation's entry."""
        return self._cold.set_leaf(seq, entry)

    def label(self, seq: int, name: Cleared) -> Conversation:
        return self._cold.label(seq, name)

    def set_label(self, seq: int, prefix: str, name: Cleared | None) -> Conversation:
        """Replaces the labels that begin with `prefix` by this one; None removes them."""

        def transaction(db: apsw.Connection) -> Conversation:
            for old in conversation_at(db, seq).labels:
                if old.startswith(prefix):
                    unlabel(db, seq, old)
            return label(db, seq, name) if name is not None else conversation_at(db, seq)

        return self._cold.write(transaction)

    def unlabel(self, seq: int, name: str) -> Conversation:
        return self._cold.unlabel(seq, name)

    def delegated(self, seq: int) -> list[Conversation]:
        """The conversations of the questions that were delegated in this one. They are deleted with it."""
        return [self.at(found) for found in self._cold.read(lambda db: delegated_in(db, seq))]

    def refuse_in_use(self, seq: int) -> None:
        """Raises StoreBusy while an answer is being written in the conversation, NotFound for a missing one."""
        self._cold.read(lambda db: refuse_in_use(db, seq))

    def deleted_at(self, id: str) -> datetime | None:  # noqa: A002 — the word the whole program uses
        """When the conversation of that id was deleted; None where none was."""
        found = self._cold.read(lambda db: deletions.find(db, id))
        return from_ms(found.deleted_ms) if found and found.finished else None

    # ── entries ──

    def append(self, draft: EntryDraft) -> Entry:
        """The entry, committed; it becomes its conversation's leaf. Raises NotFound for its parent, AlreadyExists."""
        return self._cold.append(draft)

    def begin_answer(self, draft: EntryDraft) -> AnswerWriter:
        """An entry without text, committed as incomplete, that `AnswerWriter` writes."""
        return self._cold.begin_answer(draft)

    def entry(self, seq: int) -> Entry:
        """The entry of that seq. Raises NotFound."""
        return self._cold.entry(seq)

    def entries(self, seqs: Iterable[int]) -> dict[int, Entry]:
        """The entries that exist, by seq."""
        return self._cold.entries(seqs)

    def shown_texts(self, seqs: Sequence[int]) -> list[ShownTexts]:
        """What is shown of these entries, the newest first; those that still stream are left out."""
        return self._cold.read(lambda db: list(shown_texts(db, seqs)))

    def recallable(self, seqs: Sequence[int]) -> frozenset[int]:
        """Those of these entries that recall finds: their terms are stored, and they are not derived."""
        return frozenset(self._cold.terms_of(seqs))

    def find_entry(self, id: str, conversation: int | None = None) -> Entry:  # noqa: A002 — as above
        """The entry by its id, or a unique prefix of it. Raises NotFound."""
        return self._cold.find(id, conversation)

    def entries_named(self, id: str, conversation: int | None = None) -> list[Entry]:  # noqa: A002 — as above
        """Entries of exactly this id, oldest first: imports may bring the same id in several conversations."""
        return self._cold.read(lambda db: entries_with_id(db, id, conversation))

    def first_entries(self, conversation: int, limit: int) -> list[Entry]:
        """The first entries on any branch, oldest first."""
        seqs = self._cold.read(lambda db: entry_seqs(db, conversation, 0, limit))
        found = self._cold.entries(seqs)
        return [found[seq] for seq in seqs if seq in found]

    def all_entries(self, conversation: int) -> Iterator[Entry]:
        """Every entry on every branch, oldest first, read a batch at a time."""
        after = 0
        while seqs := self._cold.read(lambda db: entry_seqs(db, conversation, after, SEQS_AT_ONCE)):  # noqa: B023 — called at once
            found = self._cold.entries(seqs)
            yield from (found[seq] for seq in seqs if seq in found)  # not those deleted meanwhile
            after = seqs[-1]

    def counts_by_day(self, first: datetime, last: datetime) -> dict[str, int]:
        """How many messages and tool results there are of each day (UTC) from `first` to `last`; days without any are
        left out."""
        return self._cold.read(lambda db: counts_by_day(db, to_ms(first), to_ms(last)))

    def interrupted_calls(self, entry: Entry) -> list[ToolCall]:
        """Tool calls of the answer that may have begun, and have no result: the program ended before."""
        calls = tool_calls(entry) if may_have_run(entry) else ()
        if not calls:
            return []
        answered = self._cold.read(lambda db: result_calls(db, entry.seq))
        return [call for call in calls if call.id not in answered]

    def writer_of(self, entry: Entry) -> AnswerOwner:
        """Who is writing the answer."""
        name = "" if entry.complete else self._cold.read(lambda db: owner_of(db, entry.seq))
        return self._cold.answer_owner(name) if name else AnswerOwner.NONE

    # ── branches ──

    def path(self, leaf: int) -> Iterator[Entry]:
        """The whole path to `leaf`, newest first, read a page at a time."""
        return self._cold.path(leaf)

    def path_seqs(self, leaf: int) -> Iterator[int]:
        """The seqs of that path, newest first, without any text."""
        start: int | None = leaf
        while start is not None:
            steps = self._cold.read(lambda db, start=start: steps_up(db, start, PAGE))
            yield from (seq for seq, _, _ in steps)
            start = steps[-1][1] if steps else None

    def off_branch(self, seqs: Collection[int]) -> frozenset[int]:
        """Those of the entries that are not on the path to their conversation's leaf.

        Reads at most MAX_STEPS steps of each path: of entries above them nothing is known, and they are left out.
        """
        by_conversation: dict[int, set[int]] = {}
        for entry in self._cold.entries(seqs).values():
            by_conversation.setdefault(entry.conversation_seq, set()).add(entry.seq)
        off: set[int] = set()
        for conversation, wanted in by_conversation.items():
            leaf = self.at(conversation).leaf
            if leaf is None:
                continue
            path = list(islice(self.path_seqs(leaf), MAX_STEPS))
            known_from = path[-1] if len(path) == MAX_STEPS else 0
            off |= {seq for seq in wanted.difference(path) if seq > known_from}
        return frozenset(off)

    def branch(self, leaf: int) -> Branch:
        """The path to `leaf`, back to its compaction anchor. Raises NotFound."""
        return self._cold.branch(leaf)

    def nodes(self, conversation: int) -> list[EntryNode]:
        """Every entry of the conversation without its text, oldest first."""
        return self._cold.read(lambda db: entry_nodes(db, conversation))

    def turn_summaries(self, conversation: int, leaf: int, first: int = 0) -> list[Entry]:
        """The summaries beside the branch to `leaf` (memory/turn_summaries.py), oldest first.

        Those that end before the entry `first` are left out, and those that end on another branch. One that does not
        say what it covers is given.
        """
        beside = self._cold.read(lambda db: summaries_beside(db, conversation))
        covers = {summary.seq: ids[1] for summary in beside if (ids := covered_ids(summary))}
        seqs = self._cold.read(lambda db: seqs_of_ids(db, conversation, covers.values()))
        lowest = min(seqs.values(), default=leaf + 1)
        steps = islice(self.path_seqs(leaf), MAX_STEPS)
        path = frozenset(takewhile(lambda seq: seq >= lowest, steps))
        ends = {seq: seqs.get(id_, 0) for seq, id_ in covers.items()}
        return [s for s in beside if s.seq not in ends or (ends[s.seq] in path and ends[s.seq] >= first)]

    def neighbours(self, seq: int, before: int, after: int) -> list[Entry]:
        """The entry with at most so many above and below it, oldest first. Raises NotFound."""
        return self._cold.neighbours(seq, before, after)

    # ── imports ──

    def open_imported(self, wanted: Iterable[ImportedConversation]) -> list[Conversation]:
        """The conversations of an import, found or made, all in one transaction."""
        wanted, clock = list(wanted), self._cold.clock

        def transaction(db: apsw.Connection) -> list[Conversation]:
            return [
                insert_conversation(
                    db, clock, imported.title, source=imported.source, id=imported.id, created=imported.created
                )
                for imported in wanted
            ]

        return self._cold.write(transaction) if wanted else []

    def append_many(self, drafts: Iterable[EntryDraft]) -> list[Entry | None]:
        """Appends all in one transaction. None for those whose id the conversation already has."""
        return self._cold.append_many(drafts)

    def known_ids(self, conversation: int, ids: Iterable[str]) -> set[str]:
        """Those of the ids that entries of the conversation have."""
        return self._cold.read(lambda db: ids_stored(db, conversation, ids))

    def held(self, conversation: int, ids: Iterable[str]) -> dict[str, HeldEntry]:
        """What the conversation has under these ids."""
        return self._cold.read(lambda db: held_entries(db, conversation, ids))

    def held_in_own(self, id_: str, ids: Iterable[str]) -> dict[str, HeldEntry]:
        """What the conversation of that id that was held here has under these ids; nothing where there is none."""
        return self._cold.read(
            lambda db: held_entries(db, seq, ids) if (seq := own_conversation(db, id_)) is not None else {}
        )

    @cached_property
    def tombstones(self) -> Tombstones:
        """What was forgotten here, by hashes: no import and no sync brings it back."""
        return Tombstones(self._cold.database.with_name(TOMBSTONES), self._cold.secret)

    def forgotten_earlier(self) -> ForgottenEarlier:
        """The same with the words that were forgotten here, as they are now."""
        return ForgottenEarlier(
            self.tombstones, self._cold.database.with_name(TOMBSTONES).with_suffix(""), self._cold.secret
        )

    def is_known_name(self, name: str) -> bool:
        """Whether a conversation, a source or an entry has that name."""
        return self._cold.read(lambda db: is_id_taken(db, name))

    def keyed_hash(self, text: str) -> str:
        """HMAC-SHA256 of the text under the workspace's secret: 64 hexadecimal digits, not to be guessed from words."""
        return keyed(self._cold.secret, text)
