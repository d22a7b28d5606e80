"""Search: one face over entries, notes and archived pages."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from foundation.clock import Clock
from memory.archive.passage import Passage
from memory.cold import ColdStore, Entry
from memory.hot import HotMemory
from memory.search.asking.query import Query, Results

if TYPE_CHECKING:
    from memory.search.engine import Engine
    from memory.search.postings.index import Building
    from memory.search.postings.keeping import Progress


class Search:
    """Finds in all that is remembered. Safe to call from any thread; opens its index at the first query.

    `passage` gives an entry's whole text. Segments of the postings lie in `folder`; they may be deleted at any time.
    """

    def __init__(
        self, cold: ColdStore, hot: HotMemory, passage: Callable[[Entry], Passage], folder: Path, clock: Clock
    ) -> None:
        self.clock = clock
        self._parts = cold, hot, passage, folder
        self._engine: Engine | None = None
        self._lock = Lock()

    def query(self, query: Query) -> Results:
        """What is relevant, most relevant first. Raises NotFound where the query names a conversation that is none."""
        return self._opened().query(query)

    def update(self, on_progress: "Progress | None" = None) -> None:
        """Takes in what is new, ahead of the next query, and lets go on disk of what was removed. Queries go on
        meanwhile. `on_progress` is told how many entries are on disk so far."""
        self._opened().update(on_progress)

    @property
    def trouble(self) -> str:
        """Why the index could not be written to disk, in a sentence; "" where it could."""
        return self._engine.trouble if self._engine else ""

    @property
    def building(self) -> "Building | None":
        """How far the index is, while it is being built: queries find a part then, and say so."""
        return self._engine.building if self._engine else None

    def _opened(self) -> "Engine":
        with self._lock:
            if self._engine is None:
                from memory.search.engine import Engine

                self._engine = Engine(*self._parts)
            return self._engine
