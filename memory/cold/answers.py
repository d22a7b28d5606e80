"""Answers in flight: what a model says is on its way to disk before it is shown."""

import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future
from typing import Protocol, TypeVar

import apsw

from foundation.privacy import EMPTY, NO_FIELDS, Cleared, ClearedFields, cleared_fields, joined
from foundation.trust import Trust
from memory.cold.changes import note_change, put_terms
from memory.cold.encoding import from_meta, to_bytes
from memory.cold.entries import entry_at, replace_text
from memory.cold.integrity.row_hashes import seal_rows
from memory.cold.rows import said
from memory.cold.sql import fetch, run
from memory.errors import NotFound, StoreClosed, StoreError
from memory.records import TRUST, Entry, EntryAnalyser
from models.messages import Usage

BATCH_SECONDS = 0.1
T = TypeVar("T")


class AnswerStore(Protocol):
    """What an answer needs of its store."""

    @property
    def analyse(self) -> EntryAnalyser: ...

    def write(self, transaction: Callable[[apsw.Connection], T], /) -> T: ...

    def write_later(self, transaction: Callable[[apsw.Connection], T], seconds: float, /) -> "Future[T]": ...


class AnswerWriter:
    """One answer in flight. `write` as it comes, then `finish` or `abandon` once.

    `entry` is the entry as it was begun: on disk, incomplete, without text.
    """

    def __init__(self, desk: AnswerStore, entry: Entry) -> None:
        self.entry = entry
        self._desk = desk
        self._lock = threading.RLock()  # a batch that fails at once is told of within `write`
        self._waiting: list[Cleared] = []
        self._chunks = 0
        self._due: Future[int] | None = None
        self._settled = False
        self.failure: BaseException | None = None

    def write(self, text: Cleared) -> None:
        """Takes the text and returns at once; within a tenth of a second it is on disk.

        A batch that cannot be written is kept and tried again with the next; `failure` tells of it, and `finish` and
        `abandon` raise where it still cannot be written then.
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
        """The whole text in the chunks' place, complete. `ms` is how long the answer took."""

        def transaction(connection: apsw.Connection) -> Entry:
            return settle(
                connection,
                self.entry.seq,
                text,
                self._meta(meta),
                self._desk.analyse,
                complete=True,
                usage=usage,
                model=model,
                ms=ms,
            )

        return self._settle(transaction)

    def abandon(
        self, *, meta: ClearedFields = NO_FIELDS, usage: Usage | None = None, model: Cleared = EMPTY, ms: int = 0
    ) -> Entry:
        """Keeps what came, marked as incomplete."""

        def transaction(connection: apsw.Connection) -> Entry:
            came, sound = said(connection, self.entry.seq)
            text = joined([came, *self._waiting])
            return settle(
                connection,
                self.entry.seq,
                text,
                _vouched(self._meta(meta), sound),
                self._desk.analyse,
                complete=False,
                usage=usage,
                model=model,
                ms=ms,
            )

        return self._settle(transaction)

    def _settle(self, transaction: Callable[[apsw.Connection], Entry]) -> Entry:
        with self._lock:
            if self._settled:
                raise StoreError("The answer is settled", "It was finished or abandoned before.")
            self._settled = True
        try:
            return self._desk.write(transaction)
        except BaseException:
            self._settled = False  # so that it may be tried again when there is space
            raise

    def _meta(self, meta: ClearedFields) -> ClearedFields:
        return cleared_fields({**self.entry.meta, **meta})

    def _flush(self, connection: apsw.Connection) -> int:
        """Gives how many pieces the chunk is made of. Runs on the writer thread, as settling does."""
        with self._lock:
            if self._settled:
                return 0
            pieces, number = list(self._waiting), self._chunks
        if pieces:
            body = to_bytes("".join(pieces))
            run(connection, "INSERT INTO chunks (entry, n, body) VALUES (?, ?, ?)", (self.entry.seq, number, body))
        return len(pieces)

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
            self._due = self._desk.write_later(self._flush, BATCH_SECONDS)
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
    """The text in the chunks' place; the answer is in flight no more. Raises NotFound where it was not in flight."""
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


def put_usage(connection: apsw.Connection, seq: int, usage: Usage, model: Cleared, ms: int) -> None:
    """What the answer cost, in tokens and milliseconds."""
    run(
        connection,
        "INSERT OR REPLACE INTO usage (entry, model, prompt_tokens, completion_tokens, cached_tokens, estimated, ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (seq, model, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, int(usage.estimated), ms),
    )


def recover(connection: apsw.Connection, gone: Collection[str], analyse: EntryAnalyser) -> list[Entry]:
    """Answers of owners that are gone: their chunks become their text, `meta` says `{"cut_off": true}`."""
    rows = fetch(connection, "SELECT entry, owner FROM answers")
    found: list[Entry] = []
    for seq, owner in rows:
        if owner in gone:
            meta = cleared_fields({**entry_at(connection, seq).meta, "cut_off": True})
            text, sound = said(connection, seq)
            found.append(settle(connection, seq, text, _vouched(meta, sound), analyse, complete=False))
    return found


def _vouched(meta: ClearedFields, sound: bool) -> ClearedFields:
    """Text of damaged parts is settled as it stands, and never exact."""
    return meta if sound else cleared_fields({**meta, TRUST: Trust.APPROXIMATE.value})
