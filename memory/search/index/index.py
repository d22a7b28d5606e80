"""Search index: the segments on disk, and in memory the changes since.

Every process has its own and catches up before each search, so that a search sees what other processes wrote. The
segments are shared: the process that finds many new changes writes and merges them in a background thread, and its
searches continue meanwhile. Where much is missing (a new index, a large import in another process) the newest entries
are indexed at once, the others as their segments are written.
"""

import threading
import time
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from memory.cold import ColdStore
from memory.errors import MemoryFailure
from memory.search.index import combined
from memory.search.index.builder import Rest
from memory.search.index.combined import CombinedIndex
from memory.search.index.documents import Documents
from memory.search.index.maintenance import OnIndexed, update_segments
from memory.search.index.postings import Posting
from memory.search.index.segment import discard

DUE = 4096  # documents since the last segment: fewer are scanned in some hundredths of a millisecond a term
DUE_POSTINGS = 250_000  # of them, as 150 long outputs have: a tenth of a millisecond a term, and some megabytes
AT_ONCE = 20_000  # changes that a search indexes while it waits: about a second's work, once in a process's life
_NEWEST = 500  # changes that it indexes where there are more: some hundredths of a second
_BUILD_WAIT_S = 2.0  # for which a process's first search waits for an index that is being built
_LOCK_WAIT_S = 60.0  # for which `update` waits for another process that updates the segments
_YIELD_S = 0.25  # after the start of a search, during which background work yields
_PAUSE_S = 0.004
_REFRESH_S = 2.0  # between two states of an index that is being built


class IndexProgress(Struct, frozen=True):
    """Progress of the index: searchable entries, and an upper bound of their final number."""

    done: int
    total: int


class SearchIndex:
    """`catch_up`, `find` and `documents` are for one thread at a time: `Search` holds a lock around them."""

    def __init__(self, cold: ColdStore, folder: Path) -> None:
        self.trouble = ""
        self._cold = cold
        self._folder = folder
        self._opened: CombinedIndex | None = None
        self._next: CombinedIndex | None = None  # prepared by the background thread
        self._version: int | None = None
        self._updater: threading.Thread | None = None
        self._update_lock = threading.Lock()
        self._last_query = 0.0
        self._damaged: CombinedIndex | None = None

    @property
    def documents(self) -> Documents:
        return self._current.documents

    def find(self, term: str) -> Posting:
        """All documents with the term, removed ones among them."""
        return self._current.find(term)

    @property
    def change(self) -> int:
        """The last change of the store that is indexed."""
        return self._current.change

    @property
    def is_partial(self) -> bool:
        """Whether the store has entries that are not indexed yet."""
        return self._current.skips

    @property
    def building(self) -> IndexProgress | None:
        """Progress of the index while `is_partial`."""
        index = self._opened
        return IndexProgress(index.documents.live_count, self._cold.last_change()) if index and index.skips else None

    def catch_up(self) -> None:
        """Indexes the changes that any process committed. Where they are too many for one search, it indexes the
        newest, and `is_partial` is True until the background thread has indexed the rest."""
        self._last_query = time.monotonic()
        self._adopt()
        version = self._cold.data_version()
        if version == self._version and not self._current.skips:
            return
        self._read()
        self._version = version
        if self._is_due or self._current.skips:
            self._update_in_background()

    def update(self, on_progress: OnIndexed | None = None) -> None:
        """Writes new changes into segments, and purges removed entries from disk. Where the disk refuses, `trouble`
        says so and the search continues in memory."""
        with self._update_lock:
            self._update_segments(on_progress or no_progress, self._yield_to_queries, _LOCK_WAIT_S, purge=True)

    @property
    def _is_due(self) -> bool:
        return self._current.unsaved_count >= DUE or self._current.unsaved_postings >= DUE_POSTINGS

    @property
    def _current(self) -> CombinedIndex:
        if self._opened is None:
            self._opened = combined.open_index(self._cold, self._folder)
            if self._opened.has_unchecked:
                threading.Thread(
                    target=self._verify_segments, args=(self._opened,), name="palimpsest-postings-check", daemon=True
                ).start()
        return self._opened

    def _adopt(self) -> None:
        """Replaces the index by the one that the background thread prepared."""
        ready, self._next = self._next, None
        if ready and (not ready.skips or self._current.skips):
            self._opened, self._version = ready, None
        if self._damaged and self._damaged is self._opened:
            self._opened, self._version, self._damaged = None, None, None

    def _read(self) -> None:
        last = self._cold.last_change()
        if self._current.change > last or (self.trouble and self._current.skips):
            self._opened = None  # the store was restored to an older state, or the missing segments cannot be written
        if last - self._current.change > AT_ONCE and not self.trouble:
            self._wait_for_build()
            if last - self._current.change > AT_ONCE and not self.trouble:
                self._current.skip_to(last - _NEWEST)
        self._current.read(self._cold, last, no_rest)

    def _wait_for_build(self) -> None:
        self._update_in_background()
        if self._version is None and self._updater:
            self._updater.join(_BUILD_WAIT_S)
            self._adopt()

    # ── in the background ──

    def _update_in_background(self) -> None:
        if self._updater and self._updater.is_alive():
            return
        self._updater = threading.Thread(target=self._run_background, name="palimpsest-postings", daemon=True)
        self._updater.start()

    def _run_background(self) -> None:
        with self._update_lock, suppress(MemoryFailure):  # the store was closed; a query of a damaged one reports it
            self._update_segments(no_progress, self._yield_to_queries, _BUILD_WAIT_S, purge=False)

    def _update_segments(self, on_progress: OnIndexed, rest: Rest, wait_s: float, *, purge: bool) -> None:
        shown = time.monotonic()

        def step(done: int) -> None:
            nonlocal shown
            on_progress(done)
            if self.is_partial and time.monotonic() - shown > _REFRESH_S:
                self._next = self._reopened(rest)
                shown = time.monotonic()

        try:
            update_segments(self._cold, self._folder, rest, step, wait_s, purge=purge)
        except OSError as error:
            self.trouble = f"The index could not be written to {self._folder}: {error.strerror}."
            return
        self.trouble = ""
        self._next = self._reopened(rest)

    def _reopened(self, rest: Rest) -> CombinedIndex:
        """Opens the current segments, and indexes the changes since."""
        ready, last = combined.open_index(self._cold, self._folder), self._cold.last_change()
        if last - ready.change > AT_ONCE:
            ready.skip_to(last - _NEWEST)
        ready.read(self._cold, last, rest)
        return ready

    def _yield_to_queries(self) -> None:
        if time.monotonic() - self._last_query < _YIELD_S:
            time.sleep(_PAUSE_S)

    def _verify_segments(self, opened: CombinedIndex) -> None:
        """Verifies the segments and deletes damaged ones; the next search reopens the rest."""
        damaged = opened.damaged()
        for path in damaged:
            discard(path)
        if damaged:
            self._damaged = opened


def no_progress(done: int) -> None:
    """Ignores progress."""


def no_rest() -> None:
    """Yields to nothing: for work that a query waits for."""
