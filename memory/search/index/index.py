"""The index that a search asks: what the segments on disk hold, and what came since.

Every process keeps its own and catches up before each search, so that what another process wrote is found. The segments
are shared: whoever finds that much has come writes and merges them, in a thread of its own, and the search goes on
meanwhile with what it has. Where much is missing (an index to be built, a large import in another process) the newest
entries are taken in at once, the others as the segments come.
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
from memory.search.index.maintenance import OnIndexed, keep
from memory.search.index.postings import Posting
from memory.search.index.segment import discard

DUE = 4096  # documents since the last segment: fewer are scanned in some hundredths of a millisecond a term
AT_ONCE = 20_000  # changes that a search takes in while it waits: about a second's work, once in a process's life
_NEWEST = 500  # changes that it takes in where there are more: some hundredths of a second
_PATIENCE = 2.0  # seconds that a process's first search waits for an index that is being built
_OTHERS = 60.0  # seconds that `update` waits for another process that is at it
_LATELY = 0.25  # seconds after a search began during which the background gives way
_PAUSE = 0.004
_SHOWN_EACH = 2.0  # seconds between two states of an index that is being built


class IndexProgress(Struct, frozen=True):
    """How far the index is: entries that can be found, of how many there may be."""

    done: int
    total: int


class SearchIndex:
    """`catch_up`, `find` and `documents` are for one thread at a time: `Search` holds a lock around them."""

    def __init__(self, cold: ColdStore, folder: Path) -> None:
        self.trouble = ""
        self._cold = cold
        self._folder = folder
        self._whole: CombinedIndex | None = None
        self._next: CombinedIndex | None = None  # what the background made ready
        self._version: int | None = None
        self._keeping: threading.Thread | None = None
        self._keeping_lock = threading.Lock()
        self._asked = 0.0
        self._damaged: CombinedIndex | None = None

    @property
    def documents(self) -> Documents:
        return self._known.documents

    def find(self, term: str) -> Posting:
        """All documents with the term, removed ones among them."""
        return self._known.find(term)

    @property
    def change(self) -> int:
        """The last of the store's changes that it knows of."""
        return self._known.change

    @property
    def is_partial(self) -> bool:
        """Whether entries are in the store that cannot be found yet."""
        return self._known.skips

    @property
    def building(self) -> IndexProgress | None:
        """How far the index is while `is_partial`."""
        known = self._whole
        return IndexProgress(known.documents.living, self._cold.last_change()) if known and known.skips else None

    def catch_up(self) -> None:
        """Takes in all that was committed, by whichever process; where that is too much at once, the newest of it, and
        `is_partial` is True until the background has done the rest."""
        self._asked = time.monotonic()
        self._adopt()
        version = self._cold.data_version()
        if version == self._version and not self._known.skips:
            return
        self._read()
        self._version = version
        if self._known.many_came >= DUE or self._known.skips:
            self._keep_in_background()

    def update(self, on_progress: OnIndexed | None = None) -> None:
        """Brings the segments up to the store, and lets go on disk of what was removed. Where the disk refuses,
        `trouble` says so and the search goes on in memory."""
        with self._keeping_lock:
            self._keep(on_progress or no_progress, self._give_way, _OTHERS, purge=True)

    @property
    def _known(self) -> CombinedIndex:
        if self._whole is None:
            self._whole = combined.opened(self._cold, self._folder)
            if self._whole.has_unchecked:
                threading.Thread(
                    target=self._look_through, args=(self._whole,), name="palimpsest-postings-check", daemon=True
                ).start()
        return self._whole

    def _adopt(self) -> None:
        """Takes what the background made ready."""
        ready, self._next = self._next, None
        if ready and (not ready.skips or self._known.skips):
            self._whole, self._version = ready, None
        if self._damaged and self._damaged is self._whole:
            self._whole, self._version, self._damaged = None, None, None

    def _read(self) -> None:
        last = self._cold.last_change()
        if self._known.change > last or (self.trouble and self._known.skips):
            self._whole = None  # the store was put back to an older state, or nobody will build what is missing
        if last - self._known.change > AT_ONCE and not self.trouble:
            self._wait_for_the_rest()
            if last - self._known.change > AT_ONCE and not self.trouble:
                self._known.skip_to(last - _NEWEST)
        self._known.read(self._cold, last, no_rest)

    def _wait_for_the_rest(self) -> None:
        self._keep_in_background()
        if self._version is None and self._keeping:
            self._keeping.join(_PATIENCE)
            self._adopt()

    # ── in the background ──

    def _keep_in_background(self) -> None:
        if self._keeping and self._keeping.is_alive():
            return
        self._keeping = threading.Thread(target=self._work, name="palimpsest-postings", daemon=True)
        self._keeping.start()

    def _work(self) -> None:
        with self._keeping_lock, suppress(MemoryFailure):  # a store that was closed; who asks a damaged one is told
            self._keep(no_progress, self._give_way, _PATIENCE, purge=False)

    def _keep(self, on_progress: OnIndexed, rest: Rest, wait_s: float, *, purge: bool) -> None:
        shown = time.monotonic()

        def step(done: int) -> None:
            nonlocal shown
            on_progress(done)
            if self.is_partial and time.monotonic() - shown > _SHOWN_EACH:
                self._next = self._prepared(rest)
                shown = time.monotonic()

        try:
            keep(self._cold, self._folder, rest, step, wait_s, purge=purge)
        except OSError as error:
            self.trouble = f"The index could not be written to {self._folder}: {error.strerror}."
            return
        self.trouble = ""
        self._next = self._prepared(rest)

    def _prepared(self, rest: Rest) -> CombinedIndex:
        """As the segments have it now, and what came since."""
        ready, last = combined.opened(self._cold, self._folder), self._cold.last_change()
        if last - ready.change > AT_ONCE:
            ready.skip_to(last - _NEWEST)
        ready.read(self._cold, last, rest)
        return ready

    def _give_way(self) -> None:
        if time.monotonic() - self._asked < _LATELY:
            time.sleep(_PAUSE)

    def _look_through(self, opened: CombinedIndex) -> None:
        """Deletes what is damaged; the next search goes on without it."""
        damaged = opened.damaged()
        for path in damaged:
            discard(path)
        if damaged:
            self._damaged = opened


def no_progress(done: int) -> None:
    """Tells nobody."""


def no_rest() -> None:
    """Gives way to nobody."""
