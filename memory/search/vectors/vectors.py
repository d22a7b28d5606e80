"""Vectors: asked by a search, filled in the background, let go of with what is removed.

Vectors of two embedders are never compared. Another embedder's are made in a folder of their own; until they are
complete those made before serve, or words alone where the old embedder cannot be asked any more.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from time import monotonic

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from foundation.errors import PalimpsestError
from foundation.files import FileLock, LockTimeout, make_private_folder
from foundation.privacy import clear
from memory.cold import ColdStore
from memory.cold.sql import fetch
from memory.hot import HotMemory, Note
from memory.pages.types import EntryText
from memory.records import Entry
from memory.search.embedding import EmbedderSet
from memory.search.vectors import embedders as abouts
from memory.search.vectors.embedders import CANARY, EmbedderRegistry, OpenedEmbedder, VectorStoreInfo
from memory.search.vectors.fill import Stop, VectorFiller, added, entries_lacking, keys_of, removed
from memory.search.vectors.similarity import RenumberedSimilarity, SegmentSimilarity, Similarity
from memory.search.vectors.store import VectorStore
from models.embed.port import Embedder

ENOUGH = 0.95
"""Of the entries: from so many on, vectors serve that were never complete."""
STILL = 0.5
"""Of the entries: from so many on, vectors serve that were complete once (much was imported since)."""
PAUSE_S, LONGEST_PAUSE_S = 10.0, 300.0
"""After a failure nobody is asked for so long; twice as long after each next."""
_QUESTIONS = 64  # of which the vectors are kept
_COUNTED_FOR_S = 5.0

OnVectors = Callable[[int, int], None]
"""Told how many entries have vectors, and how many there are."""


class Coverage(Struct, frozen=True):
    """How far the vectors go. `embedder` is "" where none is set; `serving`: searches go by them."""

    embedder: str = ""
    entries: int = 0
    of: int = 0
    vectors: int = 0
    bytes: int = 0
    serving: bool = False


class VectorFillResult(Struct, frozen=True):
    """What a run made. `done`: nothing is missing any more. `trouble` says why it ended early, where it did, and `hint`
    what to do about it."""

    made: int = 0
    done: bool = False
    trouble: str = ""
    hint: str = ""


class Vectors:
    """Safe to call from any thread. Opens no embedder before it is asked or filled."""

    def __init__(
        self,
        cold: ColdStore,
        hot: HotMemory,
        passage: Callable[[Entry], EntryText],
        root: Path,
        embedding: EmbedderSet | None = None,
    ) -> None:
        self._cold = cold
        self._hot = hot
        self._passage = passage
        self.registry = EmbedderRegistry(root, embedding or EmbedderSet())
        self._lock = Lock()
        self._filling = Lock()
        self._known: set[str] = set()  # names of embedders whose canary was looked at
        self._strangers: set[str] = set()  # names under which another model answered
        self._proven: set[Path] = set()  # folders whose files were looked through
        self._questions: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()
        self.cached_count: tuple[float, int] = (-1e9, 0)
        self._made = 0  # in the last run
        self._failures = 0
        self._pause_until = -1e9
        self.trouble = ""
        """Why nothing is found by meaning just now, in a sentence; "" where it is, or nobody wanted it."""

    # ── asking ──

    def ask(self, text: str) -> Similarity | None:
        """How near each entry is to this question; None where vectors cannot help just now, and `trouble` says why."""
        if not text.strip() or self._pausing:
            return None
        try:
            kept = self._serving()
            vector = None if kept is None else self._question(kept, text)
        except (PalimpsestError, OSError) as error:
            self._failed(error)
            return None
        if kept is None or vector is None:
            return None
        self._failures, self.trouble = 0, ""
        return SegmentSimilarity(kept.store.look(), vector)

    def ask_notes(self, text: str, notes: Sequence[Note]) -> Similarity | None:
        """The same of notes; entries are their numbers here. A note just written has no vector yet."""
        asked = self.ask(text)
        return None if asked is None else RenumberedSimilarity(asked, keys_of(notes))

    def _serving(self) -> OpenedEmbedder | None:
        """Whose vectors answer now."""
        now = self.registry.now()
        if now and self._covers(now):
            return now
        before = self.registry.before()
        if before and self._covers(before):
            return before
        if self.registry.embedder():
            share = now.store.entries / max(self._total(), 1) if now else 0.0
            self.trouble = f"Vectors are still being made ({min(share, 0.99):.0%}); words alone find until then."
        return None

    def _covers(self, kept: OpenedEmbedder) -> bool:
        kept.store.look()
        return kept.store.entries >= (STILL if kept.about.covered else ENOUGH) * self._total()

    def _question(self, kept: OpenedEmbedder, question: str) -> NDArray[np.float32] | None:
        """Its vector, without what is private in it; None where another model answers under the embedder's name."""
        name, text = kept.embedder.name, clear(question)
        with self._lock:
            if (name, text) in self._questions:
                self._questions.move_to_end((name, text))
                return self._questions[name, text]
            is_known = name in self._known
        found = kept.embedder.embed([text] if is_known else [text, CANARY], query=True)
        if not is_known and not abouts.is_same_model(found[1], kept.about):
            self._strangers.add(name)
            self.trouble = (
                "Another model answers under the embedder's name than made the vectors: they are made anew, and words "
                "alone find until then."
            )
            return None
        with self._lock:
            self._known.add(name)
            self._questions[name, text] = found[0]
            while len(self._questions) > _QUESTIONS:
                self._questions.popitem(last=False)
        return found[0]

    # ── filling ──

    def fill(
        self, on_progress: OnVectors | None = None, stop: Stop | None = None, seconds: float | None = None
    ) -> VectorFillResult:
        """Makes what is missing, newest first; blocks until all is made, `stop` says so, or so many seconds passed.

        Without `seconds` the embedder is asked even where nothing is missing: another model may answer by now. One
        process at a time fills. Raises nothing: what goes wrong is in `VectorFillResult.trouble`, what was made is
        kept.
        """
        if not self._filling.acquire(blocking=False):
            return VectorFillResult(trouble="Vectors are being made already.")
        try:
            embedder = self.registry.embedder()
            if embedder is None or self._cold.read_only:
                return VectorFillResult(done=embedder is None)
            if self._pausing:
                return VectorFillResult(trouble=self.trouble)
            folder = self.registry.folder(embedder)
            make_private_folder(folder)
            with FileLock(folder / "filling.lock", timeout=0):
                if seconds is not None and self._is_complete():
                    filled = VectorFillResult(done=True)
                else:
                    filled = self._fill(embedder, on_progress, _stopper(stop, seconds))
        except LockTimeout:
            return VectorFillResult(trouble="Another process makes the vectors just now.")
        except (PalimpsestError, OSError) as error:
            hint = error.hint if isinstance(error, PalimpsestError) else ""
            return VectorFillResult(self._made, trouble=self._failed(error), hint=hint)
        finally:
            self._filling.release()
        self._failures = 0
        return filled

    def _fill(self, embedder: Embedder, on_progress: OnVectors | None, stop: Stop) -> VectorFillResult:
        kept = self._begun(embedder)
        self._sweep(kept.store)
        had, total, last = kept.store.entries, self._total(fresh=True), self._cold.last_change()
        covered = kept.about.covered if self._holds_what_was_made(kept, total) else 0
        filling = VectorFiller(self._cold, self._passage, embedder, kept.store)

        def told(made: int) -> None:
            if on_progress:
                on_progress(min(had + made, total), total)

        done = False
        self._made = 0
        try:
            done = filling.run(self._hot.notes(), covered, stop, told)
        finally:
            self._made = filling.made
            about = abouts.read(kept.store.folder) or kept.about
            about = replace(about, covered=last if done else covered)
            abouts.write(kept.store.folder, abouts.seen_now(about, self._cold))
        if done:
            self.registry.discard_unused(kept.store.folder)
        return VectorFillResult(filling.made, done)

    def _is_complete(self) -> bool:
        """Whether nothing can be missing: then the background loads no model."""
        self._hot.look()
        kept = self.registry.now()
        if kept is None or kept.embedder.name in self._strangers:
            return False
        if not kept.about.covered or not abouts.is_of(kept.about, self._cold):
            return False
        kept.store.look()
        if not self._holds_what_was_made(kept, self._total(fresh=True)):
            return False
        if np.setxor1d(kept.store.notes(), keys_of(self._hot.notes())).size:
            return False
        return next(iter(entries_lacking(self._cold, kept.store, kept.about.covered)), None) is None

    def _begun(self, embedder: Embedder) -> OpenedEmbedder:
        """The embedder's folder, made where there is none, emptied where it is another model's or another store's."""
        canary = embedder.embed([CANARY], query=True)[0]
        folder = self.registry.folder(embedder)
        about = abouts.read(folder)
        if about is None or not (abouts.is_same_model(canary, about) and abouts.is_of(about, self._cold)):
            if about is not None:
                self.registry.store(folder, about.dimensions).clear()
            rounded = [round(float(number), 5) for number in canary]
            about = VectorStoreInfo(
                name=embedder.name, dimensions=len(canary), canary=rounded, swept=self._cold.last_change()
            )
            self.registry.store(folder, about.dimensions).clear()
            abouts.write(folder, about)
        with self._lock:
            self._known.add(embedder.name)
            self._strangers.discard(embedder.name)
        store = self.registry.store(folder, about.dimensions)
        if folder not in self._proven:
            store.prove()
            self._proven.add(folder)
        return OpenedEmbedder(embedder, store, about)

    def _holds_what_was_made(self, kept: OpenedEmbedder, total: int) -> bool:
        """Whether nothing is missing but what is new: a file that was deleted or damaged leaves more."""
        return kept.store.entries + added(self._cold, kept.about.covered) >= total

    # ── letting go ──

    def forget(self) -> None:
        """What was removed from the store, or from the notes, goes from all files. Where the disk refuses, `trouble`
        says so."""
        if self._cold.read_only:
            return
        try:
            for store in self.registry.stores():
                self._sweep(store)
        except OSError as error:
            self.trouble = f"What was removed is still in {self.registry.root}: {error}."

    def _sweep(self, store: VectorStore) -> None:
        """To drop what is gone twice does no harm: another process may be at it, too."""
        about = abouts.read(store.folder)
        if about is None:
            return
        if not abouts.is_of(about, self._cold):
            abouts.forget(store.folder)
            store.clear()
            return
        self._hot.look()
        gone = np.setdiff1d(store.notes(), keys_of(self._hot.notes()))
        last = self._cold.last_change()
        if last != about.swept:
            gone = np.concatenate([gone, removed(self._cold, about.swept)])
        store.drop(gone)
        if last != about.swept and (about := abouts.read(store.folder)):
            abouts.write(store.folder, replace(about, swept=last))

    # ── the whole ──

    @property
    def wanted(self) -> bool:
        """Whether an embedder is set. Raises PalimpsestError where it cannot be opened."""
        return self.registry.embedder() is not None

    @property
    def is_remote(self) -> bool:
        """Whether texts leave this machine to be embedded. Raises as `wanted` does."""
        embedder = self.registry.embedder()
        return embedder is not None and embedder.remote

    def coverage(self) -> Coverage:
        """How many entries have vectors. Raises PalimpsestError where the embedder cannot be opened."""
        embedder, now = self.registry.embedder(), self.registry.now()
        if embedder is None:
            return Coverage()
        total = self._total(fresh=True)
        if now is None:
            return Coverage(embedder.name, of=total)
        serving = self._covers(now)
        return Coverage(embedder.name, now.store.entries, total, now.store.rows, now.store.bytes, serving)

    def close(self) -> None:
        """Closes the embedders that were opened here."""
        self.registry.close()

    def _total(self, *, fresh: bool = False) -> int:
        """Entries that can be found; counted every few seconds at most."""
        at, count = self.cached_count
        if fresh or monotonic() - at > _COUNTED_FOR_S:
            count = int(self._cold.read(lambda db: fetch(db, "SELECT count(*) FROM terms"))[0][0])
            self.cached_count = monotonic(), count
        return count

    @property
    def _pausing(self) -> bool:
        return monotonic() < self._pause_until

    def _failed(self, error: Exception) -> str:
        self._failures += 1
        self._pause_until = monotonic() + min(PAUSE_S * 2 ** (self._failures - 1), LONGEST_PAUSE_S)
        self.trouble = error.message if isinstance(error, PalimpsestError) else f"{error}."
        return self.trouble


def _stopper(stop: Stop | None, seconds: float | None) -> Stop:
    end = None if seconds is None else monotonic() + seconds
    return lambda: (stop is not None and stop()) or (end is not None and monotonic() >= end)
