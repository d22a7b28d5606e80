"""What `Search` opens at its first query: the index, the notes, and the way from a query to its results."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from threading import Lock
from time import perf_counter

from msgspec.structs import replace

from memory.archive.passage import Passage
from memory.cold import ColdStore, Entry
from memory.hot import HotMemory, Note
from memory.search.asking.anchors import anchor, moment_of
from memory.search.asking.filters import entries_allowed, entries_lending, notes_allowed
from memory.search.asking.query import BEST, Query, Results
from memory.search.asking.timeline import beside, best_of, by_conversation, near, timeline
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
        self._notes = NoteDocuments(cold.analyse)
        self._vectors = vectors
        self._kinds: tuple[str, ...] = getattr(cold.analyse, "kinds", ())  # of entities, the workspace's own
        self._lock = Lock()

    def query(self, query: Query) -> Results:
        """What is relevant, most relevant first. Raises NotFound where the query names a conversation that is none."""
        if query.around is not None:
            return self._around(query, query.around)
        began = perf_counter()
        question = take_apart(query.wording.question)
        findings, notes = self._findings(query, question)
        hits, more = Reader(self._cold, self._passage, query, notes, findings).page()
        if query.latest and not question.terms:
            hits = by_conversation(hits)
        read_to_the_end = (query.wording.reads or query.each == 1) and not more
        total = (query.page - 1) * query.limit + len(hits) if read_to_the_end else len(findings)
        return Results(
            query=query.text,
            took_ms=round((perf_counter() - began) * 1000, 1),
            total=total if hits or query.page > 1 else 0,
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

    def _around(self, query: Query, around: datetime | str) -> Results:
        """What was said around a moment, an entry, or the best hit of the query's words; or those words near it."""
        began, told = perf_counter(), query.text
        if around == BEST:
            best = self.query(best_of(query))
            if not best.hits:
                return best
            around = best.hits[0].entry_id or best.hits[0].id
        elif query.wording.question:
            return self.query(near(query, moment_of(around, self._cold, self._hot)))
        query = beside(query)
        with self._lock:
            sources, notes = self._sources(query)
            at = anchor(around, self._cold, self._hot)
            findings = timeline(sources, at, query.before, query.after)
        hits, _ = Reader(self._cold, self._passage, query, notes, findings).page()
        ids = [hit.id for hit in hits if at.key >= 0 and (hit.entry == at.key if at.source == 0 else hit.id == around)]
        took = round((perf_counter() - began) * 1000, 1)
        return Results(query=told, took_ms=took, total=len(hits), hits=hits, anchor=ids[0] if ids else "")

    def _findings(self, query: Query, question: Question) -> tuple[Findings | Newest, tuple[Note, ...]]:
        with self._lock:
            sources, notes = self._sources(query)
            if not query.wording.question:
                return newest(sources), notes
            most = 2 * query.page * query.limit
            found = find(question, sources, most=most, least=query.threshold, explain=query.explain)
            if not len(found) and (query.exact or query.wording.phrases) and not query.threshold:
                worth = {term.term: term.weight for term in question.terms}
                return replace(newest(sources), worth=worth), notes  # its words say little, but all of them are there
            return (found.by_time() if query.newest else found), notes

    def _sources(self, query: Query) -> tuple[tuple[Source, ...], tuple[Note, ...]]:
        """All that is searched, as it stands now, and the notes in it. The lock is held."""
        allowed = entries_allowed(query, self._cold, self._index.find, self._kinds)
        self._index.catch_up()
        self._hot.look()
        self._notes.keep_up(self._hot.notes())
        notes = self._notes.notes
        return (
            Source(self._index, allowed, lends=entries_lending(query), each=query.each),
            notes_source(self._notes, notes_allowed(query, notes, self._notes.find, self._kinds)),
        ), notes
