"""Making the vectors that are missing: newest entries first, in batches, and stopped at any moment with nothing lost
but the last seconds."""

from collections.abc import Callable, Iterable, Sequence
from time import monotonic
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from foundation.privacy import EMPTY, Cleared, Source, clear, part_of
from memory.cold import ColdStore, Entry
from memory.errors import MemoryTrouble
from memory.hot.note import Note
from memory.pages.types import Passage
from memory.search.vectors.lacking import Lack, entries_lacking, key_of, keys_of, seqs_here, words_of
from memory.search.vectors.passages import passages
from memory.search.vectors.scan import inverse_lengths, quantised
from memory.search.vectors.segment import Rows
from memory.search.vectors.store import VectorStore
from models.embed.errors import EmbedError, bad_vectors
from models.embed.port import Embedder

T = TypeVar("T")

ENTRIES_AT_ONCE = 32
_FLUSH_ROWS = 1024
_FLUSH_S = 5.0  # what a crash may lose
_HALVES = 4  # a text that the embedder finds too long is tried at half, a quarter, …
_LEAST = 32  # characters: less says nothing

Stop = Callable[[], bool]
Told = Callable[[int], None]
"""Told how many entries have been embedded so far in this run."""


class Filling:
    """One run. Raises what the embedder raises, OSError and LockTimeout; what was made until then is kept."""

    def __init__(
        self, cold: ColdStore, passage: Callable[[Entry], Passage], embedder: Embedder, store: VectorStore
    ) -> None:
        self._cold = cold
        self._passage = passage
        self._embedder = embedder
        self._store = store
        self._waiting: list[Rows] = []
        self._flushed = monotonic()
        self.made = 0

    def run(self, notes: Sequence[Note], covered: int, stop: Stop, told: Told) -> bool:
        """Whether all was made that was missing when it began; False where `stop` ended it."""
        try:
            return self._notes(notes, stop) and self._entries(covered, stop, told)
        finally:
            self._flush()

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
            self._embed([Lack(key, 1) for key, _ in some], [clear(text, Source.OTHER) for _, text in some])
        return True

    def _entries(self, covered: int, stop: Stop, told: Told) -> bool:
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
            return clear(self._passage(entry).text, Source.OTHER)
        except MemoryTrouble:
            return EMPTY

    def _embed(self, lacks: Sequence[Lack], texts: Sequence[Cleared]) -> None:
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
            Rows(
                entry=np.array(entry, np.int64),
                check=np.array(check, np.uint64),
                chunk=np.array(chunk, np.uint16),
                inverse=inverse_lengths(rows),
                vectors=rows,
            )
        )
        if sum(map(len, self._waiting)) >= _FLUSH_ROWS or monotonic() - self._flushed >= _FLUSH_S:
            self._flush()

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

    def _flush(self) -> None:
        """Old vectors of the same entries go first: a crash in between leaves them without, not with both."""
        waiting, self._waiting = self._waiting, []
        self._flushed = monotonic()
        if not waiting:
            return
        whole = Rows(*(np.concatenate([getattr(rows, name) for rows in waiting]) for name in Rows.__struct_fields__))
        entries = np.unique(whole.entry)
        self._store.drop(entries)
        self._store.put(whole)
        # What was removed while it was embedded was swept before it was here.
        self._store.drop(np.setdiff1d(entries[entries > 0], seqs_here(self._cold, entries)))


def _portions(some: Sequence[T], most: int) -> Iterable[Sequence[T]]:
    return (some[start : start + most] for start in range(0, len(some), most))
