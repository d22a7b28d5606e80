"""Making the vectors that are missing: newest entries first, in batches, and stopped at any moment with nothing lost
but the last seconds.

Which entries have no vector yet, or one of a text that they do not have any more.
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
_HEADS = "SELECT e.seq, e.sha256 FROM entries e JOIN terms t ON t.entry = e.seq"


class MissingVector(Struct, frozen=True):
    """An entry to embed; `check` stands for its text."""

    entry: int
    check: int


def entries_lacking(cold: ColdStore, store: VectorStore, covered: int) -> Iterator[list[MissingVector]]:
    """Some at a time, newest first. What was committed up to change `covered` is not looked at again; 0: all is."""
    pages = _changed(cold, covered) if covered else _all(cold)
    for rows in pages:
        seqs = np.array([row[0] for row in rows], np.int64)
        checks = np.array([_check(row[1]) for row in rows], np.uint64)
        lacking = np.flatnonzero(store.checks(seqs) != checks)
        if len(lacking):
            yield [MissingVector(int(seqs[place]), int(checks[place])) for place in lacking]


def removed(cold: ColdStore, after: int) -> Column:
    """The entries that were removed by changes above `after`."""
    found: list[int] = []
    while changes := cold.changes(after, _AT_ONCE):
        found.extend(change.entry for change in changes if change.op == "remove")
        after = changes[-1].seq
    return np.array(sorted(found), np.int64)


def added(cold: ColdStore, after: int) -> int:
    """How many entries were added, or changed, by changes above `after`, at most."""
    count = 0
    while changes := cold.changes(after, _AT_ONCE):
        count += sum(change.op in {"add", "change"} for change in changes)
        after = changes[-1].seq
    return count


def seqs_here(cold: ColdStore, entries: Column) -> Column:
    """Those of the entries that the store has."""
    found: list[int] = []
    for some in batches(entries.tolist()):
        sql = f"SELECT seq FROM entries WHERE seq IN ({marks(some)})"
        found += [row[0] for row in cold.read(lambda db, sql=sql, some=some: fetch(db, sql, some))]
    return np.array(found, np.int64)


def key_of(note: Note) -> int:
    """A number below 0 that stands for the words of a note."""
    digest = hashlib.sha256(words_of(note).encode("utf-8", "surrogatepass")).digest()
    return -1 - (int.from_bytes(digest[:8], "little") >> 2)


def words_of(note: Note) -> str:
    """What of a note is embedded."""
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
    for some in batches(sorted(touched, reverse=True)):
        if rows := _heads(cold, list(some)):
            yield rows


def _heads(cold: ColdStore, seqs: list[int]) -> list[SqlRow]:
    sql = f"{_HEADS} WHERE e.seq IN ({marks(seqs)}) ORDER BY e.seq DESC"
    return cold.read(lambda db: fetch(db, sql, seqs))


def _check(sha256: bytes) -> int:
    """Never 0, which stands for no vector."""
    return int.from_bytes(sha256[:8], "little") | 1


T = TypeVar("T")

ENTRIES_AT_ONCE = 32
_FLUSH_ROWS = 1024
_FLUSH_S = 5.0  # what a crash may lose
_HALVES = 4  # a text that the embedder finds too long is tried at half, a quarter, …
_LEAST = 32  # characters: less says nothing

Stop = Callable[[], bool]
OnFilled = Callable[[int], None]
"""Told how many entries have been embedded so far in this run."""


class VectorFiller:
    """One run. Raises what the embedder raises, OSError and LockTimeout; what was made until then is kept."""

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

    def run(self, notes: Sequence[Note], covered: int, stop: Stop, told: OnFilled) -> bool:
        """Whether all was made that was missing when it began; False where `stop` ended it."""
        try:
            return self._notes(notes, stop) and self._entries(covered, stop, told)
        finally:
            self.flush()

    def _notes(self, notes: Sequence[Note], stop: Stop) -> bool:
        """What notes say now; what they said before goes from the files."""
        keys, had = keys_of(notes), self._store.notes()
        if len(gone := np.setdiff1d(had, keys)):
            self._store.drop(gone)
        new = {key_of(note): words_of(note) for note in notes}
        for key in had.tolist():
            new.pop(key, None)
        for some in _portions(list(new.items()), ENTRIES_AT_ONCE):
            if stop():
                return False
            self._embed([MissingVector(key, 1) for key, _ in some], [clear(text, TextSource.OTHER) for _, text in some])
        return True

    def _entries(self, covered: int, stop: Stop, told: OnFilled) -> bool:
        for page in entries_lacking(self._cold, self._store, covered):
            for some in _portions(page, ENTRIES_AT_ONCE):
                if stop():
                    return False
                entries = self._cold.entries([lack.entry for lack in some])
                here = [lack for lack in some if lack.entry in entries]  # others were deleted just now
                texts = [self._text(entries[lack.entry]) for lack in here]
                self._embed(here, texts)
                self.made += len(here)
                told(self.made)
        return True

    def _text(self, entry: Entry) -> Cleared:
        """Cleared again: a file that was kept to the byte may hold secrets. Nothing where it cannot be read: what is
        damaged is the vault's to tell."""
        try:
            return clear(self._passage(entry).text, TextSource.OTHER)
        except MemoryFailure:
            return EMPTY

    def _embed(self, lacks: Sequence[MissingVector], texts: Sequence[Cleared]) -> None:
        cut = [passages(text) for text in texts]
        said = [piece for pieces in cut for piece in pieces]
        vectors = self._vectors(said)
        if said and vectors.shape[1] != self._store.dimensions:
            raise bad_vectors(
                "The embedder", f"gives {vectors.shape[1]:,} numbers a text now, and gave {self._store.dimensions:,}"
            )
        entry, check, chunk = list[int](), list[int](), list[int]()
        places: list[int] = []  # of each row among the vectors; -1 for a row without one
        at = 0
        for lack, pieces in zip(lacks, cut, strict=True):
            count = max(len(pieces), 1)
            entry += [lack.entry] * count
            check += [lack.check] * count
            chunk += range(count)
            places += range(at, at + count) if pieces else [-1]
            at += len(pieces)
        rows = np.zeros((len(places), self._store.dimensions), np.int8)
        made = np.array(places) >= 0
        rows[made] = quantised(vectors)
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
        """A row a text; zeros for one that the embedder cannot take by itself either."""
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
        """Old vectors of the same entries go first: a crash in between leaves them without, not with both."""
        waiting, self._waiting = self._waiting, []
        self._flushed = monotonic()
        if not waiting:
            return
        whole = VectorRows(
            *(np.concatenate([getattr(rows, name) for rows in waiting]) for name in VectorRows.__struct_fields__)
        )
        entries = np.unique(whole.entry)
        self._store.drop(entries)
        self._store.put(whole)
        # What was removed while it was embedded was swept before it was here.
        self._store.drop(np.setdiff1d(entries[entries > 0], seqs_here(self._cold, entries)))


def _portions(some: Sequence[T], most: int) -> Iterable[Sequence[T]]:
    return (some[start : start + most] for start in range(0, len(some), most))
