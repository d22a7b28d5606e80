"""What `Search` opens at its first query: the index, the notes, and the way from a query to its results."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from time import perf_counter

from memory.archive.passage import Passage
from memory.cold import ColdStore, Entry
from memory.hot import HotMemory, Note
from memory.search.asking.filters import entries_allowed, entries_lending, notes_allowed
from memory.search.asking.query import Query, Results
from memory.search.note_documents import NoteDocuments
from memory.search.postings.index import Building, Index
from memory.search.postings.keeping import Progress
from memory.search.ranking.finding import Findings, Newest, Source, find, newest, notes_source
from memory.search.ranking.question import Question, take_apart
from memory.search.showing.hits import Reader
from memory.search.vectors.vectors import Vectors


class Engine:
    """Safe to call from any thread."""

    def __init__(
        self,
        cold: ColdStore,
        hot: HotMemory,
        passage: Callable[[Entry], Passage],
        folder: Path,
        vectors: Vectors,
    ) -> None:
        self._cold = cold
        self._hot = hot
        self._passage = passage
        self._index = Index(cold, folder)
        self._notes = NoteDocuments()
        self._vectors = vectors
        self._lock = Lock()

    def query(self, query: Query) -> Results:
        """What is relevant, most relevant first. Raises NotFound where the query names a conversation that is none."""
        began = perf_counter()
        question = take_apart(query.text)
        findings, notes = self._findings(query, question)
        hits, more = Reader(self._cold, self._passage, query, notes, findings).page()
        return Results(
            query=query.text,
            took_ms=round((perf_counter() - began) * 1000, 1),
            total=len(findings) if hits or query.page > 1 else 0,
            next=query.page + 1 if more else None,
            hits=hits,
            partial=self._index.is_partial,
        )

    def update(self, on_progress: Progress | None = None) -> None:
        """Takes in what is new, ahead of the next query, and lets go on disk of what was removed. Queries go on
        meanwhile. `on_progress` is told how many entries are on disk so far."""
        self._index.update(on_progress)
        self._vectors.forget()

    @property
    def trouble(self) -> str:
        """Why the index could not be written to disk, in a sentence; "" where it could."""
        return self._index.trouble

    @property
    def building(self) -> Building | None:
        """How far the index is, while it is being built."""
        return self._index.building

    def _findings(self, query: Query, question: Question) -> tuple[Findings | Newest, tuple[Note, ...]]:
        allowed = entries_allowed(query, self._cold)
        with self._lock:
            self._index.catch_up()
            self._hot.look()
            self._notes.keep_up(self._hot.notes())
            notes = self._notes.notes
            sources = (
                Source(self._index, allowed, lends=entries_lending(query), each=query.each),
                notes_source(self._notes, notes_allowed(query, notes)),
            )
            if not query.text.strip():
                return newest(sources), notes
            most = 2 * query.page * query.limit
            return find(question, sources, most=most, least=query.threshold, explain=query.explain), notes
