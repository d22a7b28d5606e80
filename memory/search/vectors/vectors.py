"""Vectors of a workspace: queried by a search, filled in the background, purged with removed entries.

Vectors of two embedders are never compared. A new embedder's are made in a folder of their own; until they are complete
searches use the earlier ones, or terms alone where the old embedder is no longer available.
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
from memory.search.vectors import embedders as store_info
from memory.search.vectors.embedders import CANARY, EmbedderRegistry, OpenedEmbedder, VectorStoreInfo
from memory.search.vectors.fill import Stop, VectorFiller, added, entries_lacking, keys_of, removed
from memory.search.vectors.similarity import RenumberedSimilarity, SegmentSimilarity, Similarity
from memory.search.vectors.store import VectorStore
from models.embed.port import Embedder

ENOUGH = 0.95
"""Share of the entries from which on searches use vectors that were never complete."""
STILL = 0.5
"""Share of the entries from which on searches use vectors that were complete once (much was imported since)."""
PAUSE_S, LONGEST_PAUSE_S = 10.0, 300.0
"""Pause after a failure, doubled with each further one."""
_QUESTIONS = 64  # cached vectors of questions
_COUNTED_FOR_S = 5.0

OnVectors = Callable[[int, int], None]
"""Receives the number of entries with vectors, and of all entries."""


class Coverage(Struct, frozen=True):
    """Coverage of the vectors. `embedder` is "" where none is set; `serving`: searches use them."""

    embedder: str = ""
    entries: int = 0
    of: int = 0
    vectors: int = 0
    bytes: int = 0
    serving: bool = False


class VectorFillResult(Struct, frozen=True):
    """Result of a run. `done`: no vector is missing. `trouble` says why the run ended early, and `hint` what to do
    about it."""

    made: int = 0
    done: bool = False
    trouble: str = ""
    hint: str = ""


class Vectors:
    """Safe to call from any thread. Opens an embedder only for a query or a fill."""

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
        self._known: set[str] = set()  # names of embedders whose canary was checked
        self._other_models: set[str] = set()  # names under which another model answered
        self._verified_folders: set[Path] = set()  # folders whose files were verified
        self._questions: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()
        self.cached_count: tuple[float, int] = (-1e9, 0)
        self._made = 0  # in the last run
        self._failures = 0
        self._pause_until = -1e9
        self.trouble = ""
        """Why the vector search is skipped, as a sentence; "" where it works, or none is configured."""

    # ── asking ──

    def ask(self, text: str) -> Similarity | None:
        """Similarity of entries to the question; None where no vectors are available, and `trouble` says why."""
        if not text.strip() or self._pausing:
            return None
        try:
            serving = self._serving()
            vector = None if serving is None else self._question(serving, text)
        except (PalimpsestError, OSError) as error:
            self._failed(error)
            return None
        if serving is None or vector is None:
            return None
        self._failures, self.trouble = 0, ""
        return SegmentSimilarity(serving.store.look(), vector)

    def ask_notes(self, text: str, notes: Sequence[Note]) -> Similarity | None:
        """The same for notes, numbered as given. A new note has no vector yet."""
        similarity = self.ask(text)
        return None if similarity is None else RenumberedSimilarity(similarity, keys_of(notes))

    def _serving(self) -> OpenedEmbedder | None:
        """The embedder whose vectors searches use now."""
        now = self.registry.now()
        if now and self._covers(now):
            return now
        before = self.registry.before()
        if before and self._covers(before):
            return before
        if self.registry.embedder():
            share = now.store.entries / max(self._total(), 1) if now else 0.0
            self.trouble = f"Vectors are still being made ({min(share, 0.99):.0%}); keyword search only until then."
        return None

    def _covers(self, opened: OpenedEmbedder) -> bool:
        opened.store.look()
        return opened.store.entries >= (STILL if opened.about.covered else ENOUGH) * self._total()

    def _question(self, opened: OpenedEmbedder, question: str) -> NDArray[np.float32] | None:
        """Vector of the redacted question; None where another model answers under the embedder's name."""
        name, text = opened.embedder.name, clear(question)
        with self._lock:
            if (name, text) in self._questions:
                self._questions.move_to_end((name, text))
                return self._questions[name, text]
            is_known = name in self._known
        vectors = opened.embedder.embed([text] if is_known else [text, CANARY], query=True)
        if not is_known and not store_info.is_same_model(vectors[1], opened.about):
            self._other_models.add(name)
            self.trouble = (
                "The embedder's name now refers to a different model. Vectors are being "
                "recomputed; keyword search only until then."
            )
            return None
        with self._lock:
            self._known.add(name)
            self._questions[name, text] = vectors[0]
            while len(self._questions) > _QUESTIONS:
                self._questions.popitem(last=False)
        return vectors[0]

    # ── filling ──

    def fill(
        self, on_progress: OnVectors | None = None, stop: Stop | None = None, seconds: float | None = None
    ) -> VectorFillResult:
        """Makes missing vectors, newest first; blocks until all are made, `stop` is true, or `seconds` have passed.

        Without `seconds` the embedder is called even where nothing is missing: another model may answer by now. One
        process at a time fills. Raises nothing: failures are in `VectorFillResult.trouble`, finished vectors are kept.
        """
        if not self._filling.acquire(blocking=False):
            return VectorFillResult(trouble="Vectors are already being made.")
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
            return VectorFillResult(trouble="Another process is making the vectors.")
        except (PalimpsestError, OSError) as error:
            hint = error.hint if isinstance(error, PalimpsestError) else ""
            return VectorFillResult(self._made, trouble=self._failed(error), hint=hint)
        finally:
            self._filling.release()
        self._failures = 0
        return filled

    def _fill(self, embedder: Embedder, on_progress: OnVectors | None, stop: Stop) -> VectorFillResult:
        opened = self._prepare_store(embedder)
        self._sweep(opened.store)
        entries_before, total, last = opened.store.entries, self._total(fresh=True), self._cold.last_change()
        covered = opened.about.covered if self._lacks_only_new(opened, total) else 0
        filling = VectorFiller(self._cold, self._passage, embedder, opened.store)

        def report(made: int) -> None:
            if on_progress:
                on_progress(min(entries_before + made, total), total)

        done = False
        self._made = 0
        try:
            done = filling.run(self._hot.notes(), covered, stop, report)
        finally:
            self._made = filling.made
            about = store_info.read(opened.store.folder) or opened.about
            about = replace(about, covered=last if done else covered)
            store_info.write(opened.store.folder, store_info.seen_now(about, self._cold))
        if done:
            self.registry.discard_unused(opened.store.folder)
        return VectorFillResult(filling.made, done)

    def _is_complete(self) -> bool:
        """Whether no vector can be missing: then the background loads no model."""
        self._hot.look()
        opened = self.registry.now()
        if opened is None or opened.embedder.name in self._other_models:
            return False
        if not opened.about.covered or not store_info.is_of(opened.about, self._cold):
            return False
        opened.store.look()
        if not self._lacks_only_new(opened, self._total(fresh=True)):
            return False
        if np.setxor1d(opened.store.notes(), keys_of(self._hot.notes())).size:
            return False
        return next(iter(entries_lacking(self._cold, opened.store, opened.about.covered)), None) is None

    def _prepare_store(self, embedder: Embedder) -> OpenedEmbedder:
        """Opens the embedder's store; creates it, or clears it where it is another model's or another store's."""
        canary = embedder.embed([CANARY], query=True)[0]
        folder = self.registry.folder(embedder)
        about = store_info.read(folder)
        if about is None or not (store_info.is_same_model(canary, about) and store_info.is_of(about, self._cold)):
            if about is not None:
                self.registry.store(folder, about.dimensions).clear()
            rounded = [round(float(number), 5) for number in canary]
            about = VectorStoreInfo(
                name=embedder.name, dimensions=len(canary), canary=rounded, swept=self._cold.last_change()
            )
            self.registry.store(folder, about.dimensions).clear()
            store_info.write(folder, about)
        with self._lock:
            self._known.add(embedder.name)
            self._other_models.discard(embedder.name)
        store = self.registry.store(folder, about.dimensions)
        if folder not in self._verified_folders:
            store.prove()
            self._verified_folders.add(folder)
        return OpenedEmbedder(embedder, store, about)

    def _lacks_only_new(self, opened: OpenedEmbedder, total: int) -> bool:
        """Whether only new entries lack vectors: a deleted or damaged file leaves more."""
        return opened.store.entries + added(self._cold, opened.about.covered) >= total

    # ── letting go ──

    def forget(self) -> None:
        """Purges removed entries and notes from all files. Where the disk refuses, `trouble` says so."""
        if self._cold.read_only:
            return
        try:
            for store in self.registry.stores():
                self._sweep(store)
        except OSError as error:
            self.trouble = f"Removed text is still in {self.registry.root}: {error}."

    def _sweep(self, store: VectorStore) -> None:
        """Purges removed entries from one store. Idempotent: another process may do the same."""
        about = store_info.read(store.folder)
        if about is None:
            return
        if not store_info.is_of(about, self._cold):
            store_info.forget(store.folder)
            store.clear()
            return
        self._hot.look()
        removed_entries = np.setdiff1d(store.notes(), keys_of(self._hot.notes()))
        last = self._cold.last_change()
        if last != about.swept:
            removed_entries = np.concatenate([removed_entries, removed(self._cold, about.swept)])
        store.drop(removed_entries)
        if last != about.swept and (about := store_info.read(store.folder)):
            store_info.write(store.folder, replace(about, swept=last))

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
            count = int(self._cold.read(lambda db: fetch(db, "SELECT count(*) FROM terms WHERE derived = 0"))[0][0])
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
