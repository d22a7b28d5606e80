"""The face of the cold store: SQLite, written by one thread of the process, read by any."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Self, TypeVar

import apsw

from foundation.clock import Clock
from foundation.files import is_file
from foundation.privacy import EMPTY, Cleared
from memory.cold import answers, changes, conversations, entries, statistics, tree
from memory.cold.answers import AnswerWriter
from memory.cold.changes import TermsRow
from memory.cold.connection import ReaderPool, connect, make_place, no_place, refuse_old_sqlite
from memory.cold.encoding import plain
from memory.cold.integrity import check as integrity
from memory.cold.integrity.row_seals import fill_seals
from memory.cold.owners import Owner
from memory.cold.read_only import FIRST_ENTRY, REFUSALS, ReadOnlyWriter, connect_read_only, read_only
from memory.cold.schema import migrate, refuse_foreign_parts, require_newest
from memory.cold.secret import secret_at
from memory.cold.sql import each, fetch, run
from memory.cold.sql import first as sql_first
from memory.cold.sqlite_errors import sentences
from memory.cold.untrusted_store import untouched
from memory.cold.writer import Writer
from memory.errors import MemoryFailure
from memory.records import (
    Branch,
    ChangeRow,
    Conversation,
    Entry,
    EntryDraft,
    IntegrityProblem,
    Statistics,
    WorkspaceAnalyser,
)

T = TypeVar("T")


class ColdStore:
    """All that was ever said. Open with `ColdStore.open`. Methods may be called from any thread.

    What changes the store returns after COMMIT, with the words on the disk. Any method raises a StoreError where the
    disk or another program is in the way, and Damaged where the file is not whole.
    """

    def __init__(
        self, path: Path, writer: Writer, readers: ReaderPool, analyse: WorkspaceAnalyser, clock: Clock
    ) -> None:
        self.database = path
        self.analyse = analyse
        self.clock = clock
        self.before_first_entry: Callable[[str], None] | None = None  # told which entry is first, where there was none
        self.before_first_entry_goes: Callable[[str], None] = lambda _: None  # told which entry is first then
        self._writer = writer
        self._readers = readers
        self._owner = Owner(path.with_name(path.name + "-writers"))

    @classmethod
    def open(
        cls, path: Path, *, analyse: WorkspaceAnalyser, clock: Clock, synchronous: str = "full", vfs: str | None = None
    ) -> Self:
        """Opens the store at `path`, or makes it. Where it may not be written to, it is opened to be read alone.

        `analyse` gives an entry's terms from its text and speaker. `synchronous` other than "full" may lose what was
        acknowledged when the power goes: it is there for tests. Raises CannotOpen.
        """
        refuse_old_sqlite()
        try:
            make_place(path)
        except OSError as error:
            if error.errno in REFUSALS and is_file(path):
                return cls._open_read_only(path, analyse, clock, vfs)
            raise no_place(path, error) from error
        with sentences(path):

            def open_writer() -> apsw.Connection:
                return connect(path, synchronous=synchronous, vfs=vfs)

            first = open_writer()
            try:
                refuse_foreign_parts(first)
                migrate(first)
            finally:
                first.close()
            readers = ReaderPool(lambda: connect(path, synchronous=synchronous, writes=False, vfs=vfs))
            return cls(path, Writer(open_writer, fill_seals), readers, analyse, clock)

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
        """Opens the store at `path` without writing anything beside it; what writes raises `refusal`.

        Where that alone does not do, a copy in the folder `scratch` is brought forward and read; where there is no
        store, an empty one there. Raises CannotOpen, Damaged.
        """
        refuse_old_sqlite()
        with sentences(path):
            return cls._reading(path, untouched(path, scratch), analyse, clock, refusal)

    @classmethod
    def _open_read_only(cls, path: Path, analyse: WorkspaceAnalyser, clock: Clock, vfs: str | None) -> Self:
        with sentences(path):
            return cls._reading(path, lambda: connect_read_only(path, vfs), analyse, clock, lambda: read_only(path))

    @classmethod
    def _reading(
        cls,
        path: Path,
        connects: Callable[[], apsw.Connection],
        analyse: WorkspaceAnalyser,
        clock: Clock,
        refusal: Callable[[], MemoryFailure],
    ) -> Self:
        first = connects()
        try:
            refuse_foreign_parts(first)
            require_newest(first)
        finally:
            first.close()
        return cls(path, ReadOnlyWriter(refusal), ReaderPool(connects), analyse, clock)

    @property
    def read_only(self) -> bool:
        """Whether the store can be read alone: what writes raises ReadOnly then."""
        return isinstance(self._writer, ReadOnlyWriter)

    @cached_property
    def secret(self) -> bytes:
        """What keys the hashes of words that may be private; b"" in a store without one that is only read."""
        return secret_at(self.database.with_name("secret.key"), make=not self.read_only)

    def refuse_read_only(self) -> None:
        """Raises ReadOnly where the store can be read alone: for what is about to write a file beside it."""
        if isinstance(self._writer, ReadOnlyWriter):
            raise self._writer.refusal()

    def close(self) -> None:
        """Writes what is still due, and closes. The store cannot be used after."""
        self._readers.close()
        self._writer.close()
        self._owner.release()

    # ── who writes ──

    def hold(self) -> str:
        """This open store's name: `is_gone` is False of it everywhere until the store is closed or its process ends."""
        self.refuse_read_only()
        return self._owner.hold()

    def is_gone(self, owner: str) -> bool:
        """Whether the process that held that name has ended. In a store that is only read no lock is tried: False."""
        return not self.read_only and self._owner.is_gone(owner)

    # ── transactions ──

    def write(self, transaction: Callable[[apsw.Connection], T]) -> T:
        """Runs it in one BEGIN IMMEDIATE transaction on the writer thread; returns after COMMIT.

        What it raises comes back here, and nothing of it is kept.
        """
        with sentences(self.database):
            return self._writer.run(transaction if self.before_first_entry is None else self._noting(transaction))

    def _noting(self, transaction: Callable[[apsw.Connection], T]) -> Callable[[apsw.Connection], T]:
        """The transaction, which tells before its commit which entry is the first, once there is one."""

        def noted(db: apsw.Connection) -> T:
            result = transaction(db)
            row = sql_first(db, FIRST_ENTRY)
            if row and self.before_first_entry is not None:
                self.before_first_entry(row[0])
                self.before_first_entry = None
            return result

        return noted

    def write_later(self, transaction: Callable[[apsw.Connection], T], seconds: float) -> "Future[T]":
        """The same in `seconds`, without waiting for it."""
        return self._writer.later(transaction, seconds)

    def read(self, reading: Callable[[apsw.Connection], T]) -> T:
        """Runs it on a reader's connection, in one transaction: all that it reads is of one moment."""
        with sentences(self.database):
            return self._readers.run(reading)

    def empty_journal(self) -> bool:
        """Brings all to the database file and empties the WAL, so that no deleted word stays in it.

        False where a reader, here or in another process, holds on to it just now: try again later.
        """
        with sentences(self.database):
            busy = self._writer.run_bare(lambda db: fetch(db, "PRAGMA wal_checkpoint (TRUNCATE)"))[0][0]
        return not busy

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
        """A new conversation; or, where `source` has one with that `id` already, that one."""
        return self.write(
            lambda db: conversations.insert_conversation(
                db, self.clock, title, source=source, id=id, kind=kind, created=created
            )
        )

    def conversation(self, ref: str, source: str | None = None) -> Conversation:
        """By its id, its exact title, or a prefix of its id that no other has. Raises NotFound."""
        return self.read(lambda db: conversations.find_conversation(db, ref, source))

    def conversation_at(self, seq: int) -> Conversation:
        """Raises NotFound."""
        return self.read(lambda db: conversations.conversation_at(db, seq))

    def conversations(
        self, *, limit: int = 50, offset: int = 0, kind: str | None = "chat", label: str | None = None
    ) -> list[Conversation]:
        """Newest first. `kind` None is all kinds."""
        return self.read(lambda db: conversations.conversations(db, limit=limit, offset=offset, kind=kind, label=label))

    def latest(self) -> Conversation | None:
        """The chat that was last written to."""
        return next(iter(self.conversations(limit=1)), None)

    def rename(self, seq: int, title: Cleared) -> Conversation:
        return self.write(lambda db: conversations.rename(db, seq, title))

    def set_leaf(self, seq: int, entry: int | None) -> Conversation:
        """The branch that the conversation goes on from. Raises NotFound for an entry of another conversation."""
        return self.write(lambda db: conversations.set_leaf(db, seq, entry))

    def label(self, seq: int, name: Cleared) -> Conversation:
        return self.write(lambda db: conversations.label(db, seq, name))

    def unlabel(self, seq: int, name: str) -> Conversation:
        return self.write(lambda db: conversations.unlabel(db, seq, name))

    def delete_conversation(self, seq: int) -> tuple[str, ...]:
        """Deletes it with all its entries; gives the ids of pages that carried nothing else, for the vault to let go.

        Raises StoreBusy while an answer is being written in it.
        """
        self.recover()
        pages = self.write(lambda db: self.delete_rows(db, seq))
        self.empty_journal()
        return pages

    def delete_rows(self, db: apsw.Connection, seq: int) -> tuple[str, ...]:
        """`delete_conversation` within a transaction of `write`: its rows alone."""
        row = sql_first(db, "SELECT id FROM entries WHERE conversation <> ? ORDER BY seq LIMIT 1", (seq,))
        self.before_first_entry_goes(row[0] if row else "")
        return conversations.delete(db, seq)

    # ── entries ──

    def append(self, draft: EntryDraft) -> Entry:
        """The entry, committed; it becomes its conversation's leaf. Raises NotFound for its parent, AlreadyExists."""
        return self.write(lambda db: self.insert(db, draft))

    def append_many(self, drafts: Iterable[EntryDraft]) -> list[Entry | None]:
        """All in one transaction. None stands for those whose id the conversation has already."""
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
        """`append` within a transaction of `write`. With `keep_text` False the text's home is the archive."""
        return entries.insert_entry(db, draft, clock=self.clock, analyse=self.analyse, keep_text=keep_text)

    def begin_answer(self, draft: EntryDraft) -> AnswerWriter:
        """An entry without text, committed as incomplete, that `AnswerWriter` writes."""
        self.refuse_read_only()
        owner = self._owner.hold()

        def transaction(db: apsw.Connection) -> Entry:
            entry = entries.insert_entry(db, draft, clock=self.clock, analyse=self.analyse, complete=False)
            run(db, "INSERT INTO answers (entry, owner) VALUES (?, ?)", (entry.seq, owner))
            return entry

        return AnswerWriter(self, self.write(transaction))

    def recover(self) -> list[Entry]:
        """Answers that a crash cut off: what came of them becomes their text; `meta` says `{"cut_off": true}`.

        An answer that a living process is writing is left alone. In a store that can only be read, nothing is done.
        Raises ForgedName.
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
        """Raises NotFound."""
        return self.read(lambda db: entries.entry_at(db, seq))

    def entries(self, seqs: Iterable[int]) -> dict[int, Entry]:
        """Those that are there, by seq."""
        return self.read(lambda db: entries.entries_at(db, seqs))

    def find(self, id: str, conversation: int | None = None) -> Entry:  # noqa: A002 — as above
        """By its id, or a prefix of it that no other has. Raises NotFound."""
        return self.read(lambda db: entries.find_entry(db, id, conversation))

    def branch(self, leaf: int) -> Branch:
        """The path to `leaf`, back to its compaction anchor. Raises NotFound."""
        return self.read(lambda db: tree.branch(db, leaf))

    def path(self, leaf: int) -> Iterator[Entry]:
        """The whole path, newest first, read a page at a time."""
        return tree.path(self.read, leaf)

    def children(self, seq: int) -> list[Entry]:
        """What answers the entry, oldest first."""
        return self.read(lambda db: tree.children(db, seq))

    def neighbours(self, seq: int, before: int, after: int) -> list[Entry]:
        """The entry with at most so many above and below it, oldest first. Raises NotFound."""
        return self.read(lambda db: tree.neighbours(db, seq, before, after))

    # ── what others keep up with ──

    def changes(self, after: int, limit: int = 1000) -> list[ChangeRow]:
        """Changes with a seq above `after`, oldest first."""
        return self.read(lambda db: changes.changes(db, after, limit))

    def last_change(self) -> int:
        """The newest change's seq, 0 where there is none."""
        return self.read(changes.last_change)

    def data_version(self) -> int:
        """A number that differs when anything was committed since, by this process or another."""
        with sentences(self.database):
            return self._readers.data_version()

    def terms(self, after_seq: int, limit: int = 1000) -> list[TermsRow]:
        """Terms of entries with a seq above `after_seq`, in order of seq."""
        return self.read(lambda db: changes.terms(db, after_seq, limit))

    def terms_of(self, seqs: Sequence[int]) -> dict[int, TermsRow]:
        """Terms of these entries, by seq."""
        return self.read(lambda db: changes.terms_of(db, seqs))

    # ── the whole ──

    def statistics(self) -> Statistics:
        return self.read(statistics.statistics)

    def check(self) -> list[IntegrityProblem]:
        """What is wrong, in sentences; nothing where all is well. Reads the whole store."""
        return self.read(lambda db: integrity.check(db, self.is_gone))
