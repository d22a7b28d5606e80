"""Fills missing vectors: newest entries first, in batches. An interrupted run loses only the last seconds.

An entry is due where it has no vector, or a vector of an earlier text.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from foundation.privacy import EMPTY, Cleared, TextSource, clear, part_of
from memory.cold import ColdStore
from memory.cold.sql import SqlRow, batches, fetch, marks
from memory.errors import MemoryFailure
from memory.hot.note import Note
from memory.pages.types import EntryText
from memory.records import Entry
from memory.search.column import Column
from memory.search.vectors.passages import passages
from memory.search.vectors.segment import VectorRows
from memory.search.vectors.similarity import inverse_lengths, quantised
from memory.search.vectors.store import VectorStore
from models.embed.errors import EmbedError, bad_vectors
from models.embed.port import Embedder

_AT_ONCE = 5000
_HEADS = "SELECT e.seq, e.sha256 FROM entries e JOIN terms t ON t.entry = e.seq AND t.derived = 0"


class MissingVector(Struct, frozen=True):
    """An entry to embed; `check` identifies its text."""

    entry: int
    check: int


def entries_lacking(cold: ColdStore, store: VectorStore, covered: int) -> Iterator[list[MissingVector]]:
    """Batches of entries without vectors, newest first. Skips entries up to change `covered`; 0: checks all."""
    pages = _changed(cold, covered) if covered else _all(cold)
    for rows in pages:
        seqs = np.array([row[0] for row in rows], np.int64)
        checks = np.array([_check(row[1]) for row in rows], np.uint64)
        lacking = np.flatnonzero(store.checks(seqs) != checks)
        if len(lacking):
            yield [MissingVector(int(seqs[index]), int(checks[index])) for index in lacking]


def removed(cold: ColdStore, after: int) -> Column:
    """Entries that changes after `after` removed."""
    entries: list[int] = []
    while changes := cold.changes(after, _AT_ONCE):
        entries.extend(change.entry for change in changes if change.op == "remove")
        after = changes[-1].seq
    return np.array(sorted(entries), np.int64)


def added(cold: ColdStore, after: int) -> int:
    """Upper bound of the number of entries that changes after `after` added or changed."""
    count = 0
    while changes := cold.changes(after, _AT_ONCE):
        count += sum(change.op in {"add", "change"} for change in changes)
        after = changes[-1].seq
    return count


def existing_seqs(cold: ColdStore, entries: Column) -> Column:
    """Those of the entries that still exist."""
    seqs: list[int] = []
    for batch in batches(entries.tolist()):
        sql = f"SELECT seq FROM entries WHERE seq IN ({marks(batch)})"
        seqs += [row[0] for row in cold.read(lambda db, sql=sql, batch=batch: fetch(db, sql, batch))]
    return np.array(seqs, np.int64)


def key_of(note: Note) -> int:
    """Key of a note's text: a number below 0."""
    digest = hashlib.sha256(text_of(note).encode("utf-8", "surrogatepass")).digest()
    return -1 - (int.from_bytes(digest[:8], "little") >> 2)


def text_of(note: Note) -> str:
    """The text of a note that is embedded."""
    return f"{note.heading}\n{note.text}".strip()


def keys_of(notes: Iterable[Note]) -> Column:
    return np.array([key_of(note) for note in notes], np.int64)


def _all(cold: ColdStore) -> Iterator[list[SqlRow]]:
    before = 2**62
    while rows := _page(cold, before):
        yield rows
        before = rows[-1][0]


def _page(cold: ColdStore, before: int) -> list[SqlRow]:
    sql = f"{_HEADS} WHERE e.seq < ? ORDER BY e.seq DESC LIMIT ?"
    return cold.read(lambda db: fetch(db, sql, (before, _AT_ONCE)))


def _changed(cold: ColdStore, after: int) -> Iterator[list[SqlRow]]:
    touched: set[int] = set()
    while changes := cold.changes(after, _AT_ONCE):
        touched.update(change.entry for change in changes if change.op in {"add", "change"})
        after = changes[-1].seq
    for batch in batches(sorted(touched, reverse=True)):
        if rows := _heads(cold, list(batch)):
            yield rows


def _heads(cold: ColdStore, seqs: list[int]) -> list[SqlRow]:
    sql = f"{_HEADS} WHERE e.seq IN ({marks(seqs)}) ORDER BY e.seq DESC"
    return cold.read(lambda db: fetch(db, sql, seqs))


def _check(sha256: bytes) -> int:
    """Check number of a text. Never 0, which means no vector."""
    return int.from_bytes(sha256[:8], "little") | 1


T = TypeVar("T")

ENTRIES_AT_ONCE = 32
_FLUSH_ROWS = 1024
_FLUSH_S = 5.0  # work that a crash may lose
_HALVES = 4  # a text that is too long for the embedder is retried at half, a quarter, …
_LEAST = 32  # characters: a shorter text has no useful vector

Stop = Callable[[], bool]
OnFilled = Callable[[int], None]
"""Receives the number of entries that this run has embedded so far."""


class VectorFiller:
    """One run. Raises the embedder's errors, OSError and LockTimeout; finished vectors are kept."""

    def __init__(
        self, cold: ColdStore, passage: Callable[[Entry], EntryText], embedder: Embedder, store: VectorStore
    ) -> None:
        self._cold = cold
        self._passage = passage
        self._embedder = embedder
        self._store = store
        self._waiting: list[VectorRows] = []
        self._flushed = monotonic()
        self.made = 0

    def run(self, notes: Sequence[Note], covered: int, stop: Stop, on_filled: OnFilled) -> bool:
        """Whether every vector was made that was missing at the start; False where `stop` ended the run."""
        try:
            return self._notes(notes, stop) and self._entries(covered, stop, on_filled)
        finally:
            self.flush()

    def _notes(self, notes: Sequence[Note], stop: Stop) -> bool:
        """Embeds new notes, and deletes the vectors of changed or removed ones."""
        keys, known = keys_of(notes), self._store.notes()
        if len(outdated := np.setdiff1d(known, keys)):
            self._store.drop(outdated)
        new = {key_of(note): text_of(note) for note in notes}
        for key in known.tolist():
            new.pop(key, None)
        for portion in _portions(list(new.items()), ENTRIES_AT_ONCE):
            if stop():
                return False
            self._embed(
                [MissingVector(key, 1) for key, _ in portion], [clear(text, TextSource.OTHER) for _, text in portion]
            )
        return True

    def _entries(self, covered: int, stop: Stop, on_filled: OnFilled) -> bool:
        for page in entries_lacking(self._cold, self._store, covered):
            for portion in _portions(page, ENTRIES_AT_ONCE):
                if stop():
                    return False
                entries = self._cold.entries([missing.entry for missing in portion])
                existing = [missing for missing in portion if missing.entry in entries]  # others were deleted just now
                texts = [self._text(entries[missing.entry]) for missing in existing]
                self._embed(existing, texts)
                self.made += len(existing)
                on_filled(self.made)
        return True

    def _text(self, entry: Entry) -> Cleared:
        """The entry's text, redacted again: a file that was archived unchanged may hold secrets. Empty where it cannot
        be read: the vault reports the damage."""
        try:
            return clear(self._passage(entry).text, TextSource.OTHER)
        except MemoryFailure:
            return EMPTY

    def _embed(self, lacks: Sequence[MissingVector], texts: Sequence[Cleared]) -> None:
        cut = [passages(text) for text in texts]
        pieces_to_embed = [piece for pieces in cut for piece in pieces]
        vectors = self._vectors(pieces_to_embed)
        if pieces_to_embed and vectors.shape[1] != self._store.dimensions:
            raise bad_vectors(
                "The embedder", f"gives {vectors.shape[1]:,} numbers a text now, and gave {self._store.dimensions:,}"
            )
        entry, check, chunk = list[int](), list[int](), list[int]()
        vector_rows: list[int] = []  # of each row among the vectors; -1 for a row without one
        at = 0
        for missing, pieces in zip(lacks, cut, strict=True):
            count = max(len(pieces), 1)
            entry += [missing.entry] * count
            check += [missing.check] * count
            chunk += range(count)
            vector_rows += range(at, at + count) if pieces else [-1]
            at += len(pieces)
        rows = np.zeros((len(vector_rows), self._store.dimensions), np.int8)
        embedded = np.array(vector_rows) >= 0
        rows[embedded] = quantised(vectors)
        self._waiting.append(
            VectorRows(
                entry=np.array(entry, np.int64),
                check=np.array(check, np.uint64),
                chunk=np.array(chunk, np.uint16),
                inverse=inverse_lengths(rows),
                vectors=rows,
            )
        )
        if sum(map(len, self._waiting)) >= _FLUSH_ROWS or monotonic() - self._flushed >= _FLUSH_S:
            self.flush()

    def _vectors(self, texts: Sequence[Cleared]) -> NDArray[np.float32]:
        """A row per text; zeros for a text that the embedder cannot take alone either."""
        if not texts:
            return np.zeros((0, self._store.dimensions), np.float32)
        try:
            return self._embedder.embed(texts)
        except EmbedError as error:
            if not error.of_text:
                raise
            if len(texts) > 1:
                return np.concatenate([self._vectors([text]) for text in texts])
            return self._part(texts[0])

    def _part(self, text: Cleared) -> NDArray[np.float32]:
        for step in range(1, _HALVES + 1):
            if len(text) >> step < _LEAST:
                break
            try:
                return self._embedder.embed([part_of(text, 0, len(text) >> step)])
            except EmbedError as error:
                if not error.of_text:
                    raise
        return np.zeros((1, self._store.dimensions), np.float32)

    def flush(self) -> None:
        """Writes the waiting vectors. Old vectors of the same entries are dropped first: a crash in between leaves
        entries without vectors, never with two generations."""
        waiting, self._waiting = self._waiting, []
        self._flushed = monotonic()
        if not waiting:
            return
        rows_to_write = VectorRows(
            *(np.concatenate([getattr(rows, name) for rows in waiting]) for name in VectorRows.__struct_fields__)
        )
        entries = np.unique(rows_to_write.entry)
        self._store.drop(entries)
        self._store.put(rows_to_write)
        # An entry that was removed while it was embedded was swept before its vector was written.
        self._store.drop(np.setdiff1d(entries[entries > 0], existing_seqs(self._cold, entries)))


def _portions(items: Sequence[T], most: int) -> Iterable[Sequence[T]]:
    return (items[start : start + most] for start in range(0, len(items), most))
