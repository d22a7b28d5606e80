"""Search: one face over entries, notes and archived pages. The engine is loaded at the first query."""

from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from foundation.clock import Clock
from memory.cold import ColdStore
from memory.hot import HotMemory
from memory.passage_cache import PassageCache
from memory.search.query.query import Query, SearchResults

if TYPE_CHECKING:
    from memory.search.embedding import EmbedderSet
    from memory.search.engine import SearchEngine
    from memory.search.index.index import IndexProgress
    from memory.search.index.maintenance import OnIndexed
    from memory.search.vectors.vectors import Vectors


class Search:
    """Finds in all that is remembered. Safe to call from any thread; opens its index at the first query.

    `passages` gives an entry's whole text. Segments of the postings lie in `folder`, vectors in `vectors_folder`; both
    may be deleted at any time. Without `embedding` words alone are searched.
    """

    def __init__(
        self,
        cold: ColdStore,
        hot: HotMemory,
        passages: PassageCache,
        folder: Path,
        clock: Clock,
        *,
        vectors_folder: Path,
        embedding: "EmbedderSet | None" = None,
    ) -> None:
        self.clock = clock
        self._parts = cold, hot, passages
        self._folder, self._vectors_folder = folder, vectors_folder
        self._embedding = embedding
        self._engine: SearchEngine | None = None
        self._vectors: Vectors | None = None
        self._lock = RLock()

    def query(self, query: Query) -> SearchResults:
        """What is relevant, most relevant first. Raises NotFound where the query names a conversation that is none."""
        return self._opened().query(query)

    def update(self, on_progress: "OnIndexed | None" = None) -> None:
        """Takes in what is new, ahead of the next query, and lets go on disk of what was removed. Queries go on
        meanwhile. `on_progress` is told how many entries are on disk so far."""
        self._opened().update(on_progress)

    @property
    def trouble(self) -> str:
        """Why the index could not be written to disk, in a sentence; "" where it could."""
        return self._engine.trouble if self._engine else ""

    @property
    def building(self) -> "IndexProgress | None":
        """How far the index is, while it is being built: queries find a part then, and say so."""
        return self._engine.building if self._engine else None

    @property
    def vectors(self) -> "Vectors":
        """What finds by meaning; it asks nobody and finds nothing where no embedder is set."""
        with self._lock:
            if self._vectors is None:
                from memory.search.vectors.vectors import Vectors

                cold, hot, passages = self._parts
                self._vectors = Vectors(cold, hot, passages.passage, self._vectors_folder, self._embedding)
            return self._vectors

    def close(self) -> None:
        """Lets go of what embeds."""
        with self._lock:
            if self._vectors is not None:
                self._vectors.close()

    def _opened(self) -> "SearchEngine":
        with self._lock:
            if self._engine is None:
                from memory.search.engine import SearchEngine

                self._engine = SearchEngine(*self._parts, self._folder, self.vectors, self.clock)
            return self._engine
