"""Facade of the cold store: an SQLite database with one writer thread and a pool of readers per process."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Self, TypeVar

import apsw

from foundation.clock import Clock
from foundation.files import is_file
from foundation.privacy import EMPTY, Cleared
from memory.cold import answers, changes, conversations, entries, statistics, tree
from memory.cold.answers import AnswerWriter
from memory.cold.changes import TermsRow
from memory.cold.commit import before_commit
from memory.cold.connection import ReaderPool, connect, make_place, no_place, refuse_old_sqlite
from memory.cold.encoding import plain
from memory.cold.integrity import check as integrity
from memory.cold.owners import Owner
from memory.cold.read_only import FIRST_ENTRY, REFUSALS, ReadOnlyWriter, connect_read_only, read_only
from memory.cold.schema import migrate, refuse_foreign_parts, require_newest
from memory.cold.secret import SECRET, secret_at
from memory.cold.sql import each, fetch, run
from memory.cold.sql import first as sql_first
from memory.cold.sqlite_errors import sentences
from memory.cold.untrusted_store import untouched
from memory.cold.writer import Writer
from memory.errors import MemoryFailure
from memory.records import (
    AnswerOwner,
    Branch,
    ChangeRow,
    Conversation,
    Entry,
    EntryDraft,
    IntegrityProblem,
    Statistics,
    WorkspaceAnalyser,
)
from models.chat.mlx.cache_files import FOLDER as PROMPT_CACHES
from models.chat.mlx.cache_files import purge as purge_prompt_caches

T = TypeVar("T")


class ColdStore:
    """All conversations. Open it with `ColdStore.open`; its methods may be called from any thread.

    A method that changes the store returns after COMMIT, when the data is on disk. Any method raises a StoreError for
    a failing disk or a busy store, and Damaged for a file that is not whole.
    """

    def __init__(
        self, path: Path, writer: Writer, readers: ReaderPool, analyse: WorkspaceAnalyser, clock: Clock
    ) -> None:
        self.database = path
        self.analyse = analyse
        self.clock = clock
        # called with the id of the entry that is first then; the former once, in a store without entries
        self.before_first_entry: Callable[[str], None] | None = None
        self.before_first_entry_goes: Callable[[str], None] = lambda _: None
        self._writer = writer
        self._readers = readers
        self._owner = Owner(path.with_name(path.name + "-writers"), read_only=self.read_only)

    @classmethod
    def open(
        cls, path: Path, *, analyse: WorkspaceAnalyser, clock: Clock, synchronous: str = "full", vfs: str | None = None
    ) -> Self:
        """Opens the store at `path`, read-only if it may not be written to; creates it if it is missing.

        `analyse` returns an entry's terms from its text and speaker. `synchronous` other than "full" may lose committed
        rows in a power loss: it exists for tests. Raises CannotOpen.
        """
        refuse_old_sqlite()
        try:
            make_place(path)
        except OSError as error:
            if error.errno in REFUSALS and is_file(path):
                with sentences(path):
                    connects = partial(connect_read_only, path, vfs)
                    return cls._reading(path, connects, analyse, clock, lambda: read_only(path))
            raise no_place(path, error) from error
        with sentences(path):

            def open_writer() -> apsw.Connection:
                return connect(path, synchronous=synchronous, vfs=vfs)

            with closing(open_writer()) as first:
                refuse_foreign_parts(first)
                migrate(first)
            readers = ReaderPool(lambda: connect(path, synchronous=synchronous, writes=False, vfs=vfs))
            return cls(path, Writer(open_writer, before_commit(clock)), readers, analyse, clock)

    @classmethod
    def open_untouched(
        cls,
        path: Path,
        scratch: Path,
        refusal: Callable[[], MemoryFailure],
        *,
        analyse: WorkspaceAnalyser,
        clock: Clock,
    ) -> Self:
        """Opens the store at `path` without writing anything beside it; writes raise `refusal`.

        If that is not possible, it migrates and reads a copy in the folder `scratch`; if there is no store, it opens an
        empty one there. Raises CannotOpen, Damaged.
        """
        refuse_old_sqlite()
        with sentences(path):
            store = cls._reading(path, untouched(path, scratch), analyse, clock, refusal)
            store.read(store._owner.stay_as_now)
            return store

    @classmethod
    def _reading(
        cls,
        path: Path,
        connects: Callable[[], apsw.Connection],
        analyse: WorkspaceAnalyser,
        clock: Clock,
        refusal: Callable[[], MemoryFailure],
    ) -> Self:
        with closing(connects()) as first:
            refuse_foreign_parts(first)
            require_newest(first)
        return cls(path, ReadOnlyWriter(refusal), ReaderPool(connects), analyse, clock)

    @property
    def read_only(self) -> bool:
        """Whether the store is open read-only; writes then raise ReadOnly."""
        return isinstance(self._writer, ReadOnlyWriter)

    @cached_property
    def secret(self) -> bytes:
        """The key of hashes over text that may be private; b"" for a read-only store without one."""
        return secret_at(self.database.with_name(SECRET), make=not self.read_only)

    def refuse_read_only(self) -> None:
        """Raises ReadOnly if the store is read-only. For callers that are about to write a file beside it."""
        if isinstance(self._writer, ReadOnlyWriter):
            raise self._writer.refusal()

    def close(self) -> None:
        """Runs the pending writes, then closes the connections. The store cannot be used afterwards."""
        self._readers.close()
        self._writer.close()
        self._owner.release()

    # ── ownership ──

    def hold(self) -> str:
        """Takes this store's lock and returns its name; `is_gone(name)` is False until it or its process ends."""
        self.refuse_read_only()
        return self._owner.hold()

    def is_gone(self, owner: str) -> bool:
        """Whether the process that held that name has ended. A read-only store tries no lock and returns False."""
        return not self.read_only and self._owner.is_gone(owner)

    def answer_owner(self, owner: str) -> AnswerOwner:
        """Who writes the answers in progress that `owner` began."""
        return self._owner.answer_owner(owner)

    # ── transactions ──

    def write(self, transaction: Callable[[apsw.Connection], T]) -> T:
        """Runs the function in one BEGIN IMMEDIATE transaction on the writer thread; returns after COMMIT.

        If it raises, the transaction is rolled back and the error is raised here.
        """
        with sentences(self.database):
            return self._writer.run(transaction if self.before_first_entry is None else self._noting(transaction))

    def _noting(self, transaction: Callable[[apsw.Connection], T]) -> Callable[[apsw.Connection], T]:
        """Wraps a transaction: before its commit, reports the store's first entry once there is one."""

        def noted(db: apsw.Connection) -> T:
            result = transaction(db)
            row = sql_first(db, FIRST_ENTRY)
            if row and self.before_first_entry is not None:
                self.before_first_entry(row[0])
                self.before_first_entry = None
            return result

        return noted

    def write_later(self, transaction: Callable[[apsw.Connection], T], seconds: float) -> "Future[T]":
        """Schedules `write` in `seconds`, without waiting for it."""
        return self._writer.later(transaction, seconds)

    def read(self, reading: Callable[[apsw.Connection], T]) -> T:
        """Runs the function on a reader's connection in one transaction: it reads one consistent snapshot."""
        with sentences(self.database):
            return self._readers.run(reading)

    def empty_journal(self, *, vacuum: Callable[[apsw.Connection], object] | None = None) -> bool:
        """Truncates the WAL, so that it holds no deleted text, and purges what models computed; `vacuum` runs instead
        of that. False while a reader still uses the WAL: try again later."""
        with sentences(self.database):
            if vacuum is not None:
                self._writer.run_bare(vacuum)
            else:
                purge_prompt_caches(self.database.with_name(PROMPT_CACHES))
            return not self._writer.run_bare(lambda db: fetch(db, "PRAGMA wal_checkpoint (TRUNCATE)"))[0][0]

    # ── conversations ──

    def new_conversation(
        self,
        title: Cleared = EMPTY,
        *,
        source: Cleared = EMPTY,
        id: Cleared = EMPTY,  # noqa: A002 — the word the whole program uses
        kind: str = "chat",
        created: datetime | None = None,
    ) -> Conversation:
        """Creates a conversation, or returns the one that `source` already has under that `id`."""
        return self.write(
            lambda db: conversations.insert_conversation(
                db, self.clock, title, source=source, id=id, kind=kind, created=created
            )
        )

    def conversation(self, ref: str, source: str | None = None) -> Conversation:
        """Finds a conversation by its id, its exact title, or an unambiguous prefix of its id. Raises NotFound."""
        return self.read(lambda db: conversations.find_conversation(db, ref, source))

    def conversation_at(self, seq: int) -> Conversation:
        """Raises NotFound."""
        return self.read(lambda db: conversations.conversation_at(db, seq))

    def conversations(
        self,
        *,
        limit: int = 50,
        offset: int = 0,
        kind: str | None = "chat",
        label: str | None = None,
        without: str | None = None,
    ) -> list[Conversation]:
        """Lists conversations, newest first; `kind` None lists all kinds. They have `label`, and not `without`."""
        listed = partial(conversations.conversations, limit=limit, offset=offset, kind=kind)
        return self.read(lambda db: listed(db, label=label, without=without))

    def latest(self) -> Conversation | None:
        """The most recently updated chat."""
        return next(iter(self.conversations(limit=1)), None)

    def rename(self, seq: int, title: Cleared) -> Conversation:
        return self.write(lambda db: conversations.rename(db, seq, title))

    def set_leaf(self, seq: int, entry: int | None) -> Conversation:
        """Sets the entry at which the conversation continues. Raises NotFound for an entry of another conversation."""
        return self.write(lambda db: conversations.set_leaf(db, seq, entry))

    def label(self, seq: int, name: Cleared) -> Conversation:
        return self.write(lambda db: conversations.label(db, seq, name))

    def unlabel(self, seq: int, name: str) -> Conversation:
        return self.write(lambda db: conversations.unlabel(db, seq, name))

    def delete_conversation(self, seq: int) -> tuple[str, ...]:
        """Deletes the conversation with its entries; returns the ids of pages that held only its text.

        Raises StoreBusy while an answer is being written in it.
        """
        self.recover()
        pages = self.write(lambda db: self.delete_rows(db, seq))
        self.empty_journal()
        return pages

    def delete_rows(self, db: apsw.Connection, seq: int) -> tuple[str, ...]:
        """`delete_conversation` inside a transaction of `write`: the rows only."""
        row = sql_first(db, "SELECT id FROM entries WHERE conversation <> ? ORDER BY seq LIMIT 1", (seq,))
        self.before_first_entry_goes(row[0] if row else "")
        return conversations.delete(db, seq)

    # ── entries ──

    def append(self, draft: EntryDraft) -> Entry:
        """Commits an entry, which becomes its conversation's leaf. Raises NotFound for its parent, AlreadyExists."""
        return self.write(lambda db: self.insert(db, draft))

    def append_many(self, drafts: Iterable[EntryDraft]) -> list[Entry | None]:
        """Appends all drafts in one transaction; None for each whose id the conversation already has."""
        drafts = list(drafts)

        def transaction(db: apsw.Connection) -> list[Entry | None]:
            return [
                None
                if draft.id and entries.has_entry(db, draft.conversation, plain(draft.id))
                else self.insert(db, draft)
                for draft in drafts
            ]

        return self.write(transaction)

    def insert(self, db: apsw.Connection, draft: EntryDraft, *, keep_text: bool = True) -> Entry:
        """`append` inside a transaction of `write`. With `keep_text` False the archive stores the text."""
        return entries.insert_entry(db, draft, clock=self.clock, analyse=self.analyse, keep_text=keep_text)

    def begin_answer(self, draft: EntryDraft) -> AnswerWriter:
        """Commits an incomplete entry without text; the AnswerWriter writes its text."""
        self.refuse_read_only()
        owner = self._owner.hold()

        def transaction(db: apsw.Connection) -> Entry:
            entry = entries.insert_entry(db, draft, clock=self.clock, analyse=self.analyse, complete=False)
            run(db, "INSERT INTO answers (entry, owner) VALUES (?, ?)", (entry.seq, owner))
            return entry

        return AnswerWriter(self, self.write(transaction))

    def recover(self) -> list[Entry]:
        """Settles answers that a crash cut off: the chunks become the text, `meta` gets `{"cut_off": true}`.

        Answers of running processes are left alone. Does nothing in a read-only store. Raises ForgedName.
        """
        if self.read_only:
            return []
        owners = self.read(lambda db: [row[0] for row in each(db, "SELECT DISTINCT owner FROM answers")])
        gone = {name for name in owners if self._owner.is_gone(name)}
        if not gone:
            return []
        found = self.write(lambda db: answers.recover(db, gone, self.analyse))
        for name in gone:
            self._owner.forget(name)
        return found

    def entry(self, seq: int) -> Entry:
        """The entry with this seq. Raises NotFound."""
        return self.read(lambda db: entries.entry_at(db, seq))

    def entries(self, seqs: Iterable[int]) -> dict[int, Entry]:
        """The existing entries among these, by seq."""
        return self.read(lambda db: entries.entries_at(db, seqs))

    def find(self, id: str, conversation: int | None = None) -> Entry:  # noqa: A002 — as above
        """Finds an entry by its id or an unambiguous prefix of it. Raises NotFound."""
        return self.read(lambda db: entries.find_entry(db, id, conversation))

    def branch(self, leaf: int) -> Branch:
        """The path from its compaction anchor to `leaf`. Raises NotFound."""
        return self.read(lambda db: tree.branch(db, leaf))

    def path(self, leaf: int) -> Iterator[Entry]:
        """Iterates over the whole path, newest first, reading a page of rows at a time."""
        return tree.path(self.read, leaf)

    def children(self, seq: int) -> list[Entry]:
        """The entry's children, oldest first."""
        return self.read(lambda db: tree.children(db, seq))

    def neighbours(self, seq: int, before: int, after: int) -> list[Entry]:
        """The entry with at most `before` ancestors and `after` descendants, oldest first. Raises NotFound."""
        return self.read(lambda db: tree.neighbours(db, seq, before, after))

    # ── the journal of changes, and terms ──

    def changes(self, after: int, limit: int = 1000) -> list[ChangeRow]:
        """Changes with a seq above `after`, oldest first."""
        return self.read(lambda db: changes.changes(db, after, limit))

    def last_change(self) -> int:
        """The newest change's seq, or 0."""
        return self.read(changes.last_change)

    def data_version(self) -> int:
        """A number that changes with every commit of this or another process."""
        with sentences(self.database):
            return self._readers.data_version()

    def terms(self, after_seq: int, limit: int = 1000) -> list[TermsRow]:
        """Terms of the entries that may be recalled, with a seq above `after_seq`, in order of seq."""
        return self.read(lambda db: changes.terms(db, after_seq, limit))

    def terms_of(self, seqs: Sequence[int]) -> dict[int, TermsRow]:
        """Terms of those of these entries that may be recalled, by seq."""
        return self.read(lambda db: changes.terms_of(db, seqs))

    def derived_terms(self) -> list[TermsRow]:
        """Terms of the derived entries (memory/origin.py), in order of seq."""
        return self.read(changes.derived_terms)

    # ── the whole ──

    def statistics(self) -> Statistics:
        return self.read(statistics.statistics)

    def check(self) -> list[IntegrityProblem]:
        """Checks the whole store; returns a sentence for each problem."""
        return self.read(lambda db: integrity.check(db, self.is_gone))
