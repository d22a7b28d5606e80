"""Search of a memory: a facade that opens the query executor, and loads numpy, at the first query."""

from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from msgspec import structs

from foundation.clock import Clock
from memory.cold import ColdStore
from memory.hot import HotMemory
from memory.passage_cache import PassageCache
from memory.references import References
from memory.search.query.query import Query, SearchResults

if TYPE_CHECKING:
    from memory.search.embedding import EmbedderSet
    from memory.search.index.index import IndexProgress
    from memory.search.index.maintenance import OnIndexed
    from memory.search.query_executor import QueryExecutor
    from memory.search.vectors.vectors import Vectors


class Search:
    """Searches entries, notes and archived pages. Safe to call from any thread; opens its index at the first query.

    `passages` gives an entry's whole text, `references` resolves what a timeline is around. `folder` has the segments
    of the postings, `vectors_folder` the vectors; both may be deleted at any time. Without `embedding` the search is by
    terms alone.
    """

    def __init__(  # noqa: PLR0917 — every store that is searched
        self,
        cold: ColdStore,
        hot: HotMemory,
        passages: PassageCache,
        references: References,
        folder: Path,
        clock: Clock,
        *,
        vectors_folder: Path,
        embedding: "EmbedderSet | None" = None,
        scope: Callable[[], str | None] = lambda: None,
    ) -> None:
        """`scope` gives that of queries that name none."""
        self.clock = clock
        self._parts = cold, hot, passages, references
        self._folder, self._vectors_folder = folder, vectors_folder
        self._embedding = embedding
        self._executor: QueryExecutor | None = None
        self._vectors: Vectors | None = None
        self._lock = RLock()
        self._scope = scope

    def query(self, query: Query) -> SearchResults:
        """Relevant hits, best first, of the scope that is set unless the query names one, or a conversation.

        Raises NotFound where the query names an unknown conversation.
        """
        if query.scope is None and not query.conversation:
            query = structs.replace(query, scope=self._scope())
        return self._opened().query(query)

    def update(self, on_progress: "OnIndexed | None" = None) -> None:
        """Indexes new entries ahead of the next query, and purges deleted ones from disk. Queries run meanwhile.
        `on_progress` receives the number of entries on disk so far."""
        self._opened().update(on_progress)

    @property
    def trouble(self) -> str:
        """Why the index could not be written to disk, as a sentence; "" where it could."""
        return self._executor.trouble if self._executor else ""

    @property
    def building(self) -> "IndexProgress | None":
        """Progress of an index that is being built: queries search a part of it then, and say so."""
        return self._executor.building if self._executor else None

    @property
    def vectors(self) -> "Vectors":
        """The vector search; empty, and without any request, where no embedder is set."""
        with self._lock:
            if self._vectors is None:
                from memory.search.vectors.vectors import Vectors

                cold, hot, passages, _ = self._parts
                self._vectors = Vectors(cold, hot, passages.passage, self._vectors_folder, self._embedding)
            return self._vectors

    def close(self) -> None:
        """Closes the embedders."""
        with self._lock:
            if self._vectors is not None:
                self._vectors.close()

    def _opened(self) -> "QueryExecutor":
        with self._lock:
            if self._executor is None:
                from memory.search.query_executor import QueryExecutor

                self._executor = QueryExecutor(*self._parts, self._folder, self.vectors, self.clock)
            return self._executor
