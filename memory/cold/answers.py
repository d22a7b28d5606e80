"""In-progress answers: a model's text is queued for the disk before it is shown."""

import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future
from pathlib import Path
from typing import Protocol, TypeVar

import apsw

from foundation.privacy import EMPTY, NO_FIELDS, Cleared, ClearedFields, cleared_fields, joined, joined_fields
from foundation.trust import Trust
from memory.cold.changes import note_change, put_terms
from memory.cold.encoding import from_meta, to_bytes
from memory.cold.entries import entry_at, replace_text
from memory.cold.integrity.row_hashes import seal_rows
from memory.cold.rows import chunk_text
from memory.cold.sql import fetch, run
from memory.cold.sqlite_errors import explained
from memory.errors import MemoryFailure, NotFound, StoreClosed, StoreError
from memory.records import TRUST, Entry, EntryAnalyser
from models.messages import Usage

BATCH_SECONDS = 0.1
T = TypeVar("T")


class AnswerStore(Protocol):
    """The methods of the store that an answer uses."""

    @property
    def database(self) -> Path: ...

    @property
    def analyse(self) -> EntryAnalyser: ...

    def write(self, transaction: Callable[[apsw.Connection], T], /) -> T: ...

    def write_later(self, transaction: Callable[[apsw.Connection], T], seconds: float, /) -> "Future[T]": ...


class AnswerWriter:
    """Writes one answer: `write` for each delta, then `finish` or `abandon` once.

    `entry` is the entry at the start: committed, incomplete, without text.
    """

    def __init__(self, store: AnswerStore, entry: Entry) -> None:
        self.entry = entry
        self._store = store
        self._lock = threading.RLock()  # a batch that fails at once calls back within `write`
        self._waiting: list[Cleared] = []
        self._chunks = 0
        self._due: Future[int] | None = None
        self._settled = False
        self.failure: BaseException | None = None

    @property
    def trouble(self) -> MemoryFailure | None:
        """Why the last batch could not be written; None where it was."""
        failure = self.failure
        if isinstance(failure, apsw.Error):
            return explained(failure, self._store.database)
        return failure if isinstance(failure, MemoryFailure) else None

    def write(self, text: Cleared) -> None:
        """Queues the text and returns at once; a batch is committed every tenth of a second.

        A batch that cannot be written is retried with the next one, and `failure` holds the error. `finish` and
        `abandon` raise if it still cannot be written.
        """
        with self._lock:
            if self._settled:
                raise StoreError("The answer is settled", "Text came after the answer was finished or abandoned.")
            self._waiting.append(text)
            if self._due is None:
                self._plan()

    def finish(
        self,
        text: Cleared,
        *,
        meta: ClearedFields = NO_FIELDS,
        usage: Usage | None = None,
        model: Cleared = EMPTY,
        ms: int = 0,
    ) -> Entry:
        """Replaces the chunks by the whole text and marks the entry complete. `ms`: duration of the answer."""

        def transaction(connection: apsw.Connection) -> Entry:
            return settle(
                connection,
                self.entry.seq,
                text,
                self._meta(meta),
                self._store.analyse,
                complete=True,
                usage=usage,
                model=model,
                ms=ms,
            )

        return self._settle(transaction)

    def abandon(
        self,
        text: Cleared | None = None,
        *,
        meta: ClearedFields = NO_FIELDS,
        usage: Usage | None = None,
        model: Cleared = EMPTY,
        ms: int = 0,
    ) -> Entry:
        """Stores the text received so far, or `text` for it, marked as incomplete."""

        def transaction(connection: apsw.Connection) -> Entry:
            received, sound = chunk_text(connection, self.entry.seq)
            return settle(
                connection,
                self.entry.seq,
                joined([received, *self._waiting]) if text is None else text,
                _with_trust(self._meta(meta), sound),
                self._store.analyse,
                complete=False,
                usage=usage,
                model=model,
                ms=ms,
            )

        return self._settle(transaction)

    def _settle(self, transaction: Callable[[apsw.Connection], Entry]) -> Entry:
        with self._lock:
            if self._settled:
                raise StoreError("The answer is settled", "It was already finished or abandoned.")
            self._settled = True
        try:
            return self._store.write(transaction)
        except BaseException:
            self._settled = False  # so that it may be tried again when there is space
            raise

    def _meta(self, meta: ClearedFields) -> ClearedFields:
        return joined_fields(self.entry.meta, meta)

    def _flush(self, connection: apsw.Connection) -> int:
        """Writes a chunk; returns how many deltas it holds. Runs on the writer thread, as settling does."""
        with self._lock:
            if self._settled:
                return 0
            deltas, number = list(self._waiting), self._chunks
        if deltas:
            body = to_bytes("".join(deltas))
            run(connection, "INSERT INTO chunks (entry, n, body) VALUES (?, ?, ?)", (self.entry.seq, number, body))
        return len(deltas)

    def _flushed(self, done: "Future[int]") -> None:
        """After COMMIT or ROLLBACK, before the writer thread's next transaction."""
        with self._lock:
            self._due = None
            self.failure = done.exception()
            if self.failure is None and done.result():
                del self._waiting[: done.result()]
                self._chunks += 1
            if self._waiting and not self._settled and self.failure is None:
                self._plan()

    def _plan(self) -> None:
        try:
            self._due = self._store.write_later(self._flush, BATCH_SECONDS)
        except StoreClosed as error:
            self.failure = error
        else:
            self._due.add_done_callback(self._flushed)


def settle(
    connection: apsw.Connection,
    seq: int,
    text: Cleared,
    meta: ClearedFields,
    analyse: EntryAnalyser,
    *,
    complete: bool,
    usage: Usage | None = None,
    model: Cleared = EMPTY,
    ms: int = 0,
) -> Entry:
    """Replaces the chunks by the text and ends the answer. Raises NotFound for an answer not in progress."""
    run(connection, "DELETE FROM answers WHERE entry = ?", (seq,))
    if not connection.changes():
        raise NotFound("No such answer", "The answer was deleted, or settled elsewhere, while it was being written.")
    entry = entry_at(connection, seq)
    run(connection, "DELETE FROM chunks WHERE entry = ?", (seq,))
    replace_text(connection, seq, text)
    run(connection, "UPDATE entries SET complete = ?, meta = ? WHERE seq = ?", (int(complete), from_meta(meta), seq))
    seal_rows(connection, [seq])
    put_terms(connection, seq, text, entry.speaker, analyse, meta)
    note_change(connection, "change", [seq])
    if usage is not None:
        put_usage(connection, seq, usage, model, ms)
    return entry_at(connection, seq)


def owner_of(connection: apsw.Connection, seq: int) -> str:
    """Who began this answer and has not settled it; "" where it is not in progress."""
    rows = fetch(connection, "SELECT owner FROM answers WHERE entry = ?", (seq,))
    return str(rows[0][0]) if rows else ""


def put_usage(connection: apsw.Connection, seq: int, usage: Usage, model: Cleared, ms: int) -> None:
    """Stores the cost of an answer, in tokens and milliseconds."""
    run(
        connection,
        "INSERT OR REPLACE INTO usage (entry, model, prompt_tokens, completion_tokens, cached_tokens, estimated, ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (seq, model, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, int(usage.estimated), ms),
    )


def recover(connection: apsw.Connection, gone: Collection[str], analyse: EntryAnalyser) -> list[Entry]:
    """Settles answers of ended owners: chunks become the text, `meta` gets `{"cut_off": true}`."""
    rows = fetch(connection, "SELECT entry, owner FROM answers")
    found: list[Entry] = []
    for seq, owner in rows:
        if owner in gone:
            meta = cleared_fields({**entry_at(connection, seq).meta, "cut_off": True})
            text, sound = chunk_text(connection, seq)
            found.append(settle(connection, seq, text, _with_trust(meta, sound), analyse, complete=False))
    return found


def _with_trust(meta: ClearedFields, sound: bool) -> ClearedFields:
    """Marks the entry as approximate unless all chunks are intact."""
    return meta if sound else joined_fields({TRUST: Trust.APPROXIMATE.value}, meta)
