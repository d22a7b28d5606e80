"""Execution of queries: the opened index, the index of notes, and the path from a query to its results."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from foundation.clock import Clock, to_ms
from foundation.text.analysis import analyse
from foundation.text.cross_language import held_languages
from foundation.text.dates.spans import names_holiday
from foundation.text.term_codec import split_terms
from memory.cold import ColdStore
from memory.cold.changes import TermsRow
from memory.hot import HotMemory, Note
from memory.passage_cache import PassageCache
from memory.records import AnalysedTerms, Entry, EntryAnalyser
from memory.references import References
from memory.search.index.builder import build
from memory.search.index.documents import Documents
from memory.search.index.index import IndexProgress, SearchIndex, no_rest
from memory.search.index.maintenance import OnIndexed
from memory.search.index.postings import Posting, RecentPostings, SegmentPostings
from memory.search.index.postings import find as find_postings
from memory.search.query.filters import derived_filter, entry_filter, lending_filter, note_filter
from memory.search.query.query import BEST, NOTE, Hit, Query, SearchResults
from memory.search.query.timeline import (
    best_of,
    by_conversation,
    date_only_spans,
    moment_of,
    near_moment,
    neighbours_query,
    resolve_anchor,
    timeline,
    timeline_anchor,
)
from memory.search.ranking.dated import find_dated, of_days
from memory.search.ranking.question import Question, named_speakers, parse_question, without_names
from memory.search.ranking.retrieve import NewestHits, RankedHits, SearchSource, find, newest, notes_source
from memory.search.results.reader import HitReader
from memory.search.vectors.similarity import Similarity
from memory.search.vectors.vectors import Vectors


class SearchSimilarity(NamedTuple):
    """Similarity of entries to a question, and a function that gives it for notes."""

    entries: Similarity
    notes: Callable[[Sequence[Note]], Similarity | None]


class QueryExecutor:
    """Executes queries on the opened indexes. Safe to call from any thread."""

    def __init__(  # noqa: PLR0917 — every store that is searched
        self,
        cold: ColdStore,
        hot: HotMemory,
        passages: PassageCache,
        references: References,
        folder: Path,
        vectors: Vectors,
        clock: Clock,
    ) -> None:
        self._cold = cold
        self._clock = clock
        self._hot = hot
        self._passages = passages
        self._references = references
        self._index = SearchIndex(cold, folder)
        self._notes = NoteDocuments(cold.analyse)
        self._derived = DerivedDocuments(cold)
        self._vectors = vectors
        self._kinds = cold.analyse.kinds
        self._lock = Lock()

    def query(self, query: Query) -> SearchResults:
        """Relevant hits, best first. Raises NotFound where the query names an unknown conversation."""
        if query.around is not None:
            return self._around(query, query.around)
        began = perf_counter()
        question, similarity = self._question(query)
        findings, notes = self._findings(query, question, similarity)
        hits, more = HitReader(self._cold, self._passages, query, notes, findings).page()
        if query.latest and not question.terms:
            hits = by_conversation(hits)
        read_to_the_end = (query.wording.needs_text or query.each == 1) and not more
        total = (query.page - 1) * query.limit + len(hits) if read_to_the_end else len(findings)
        return SearchResults(
            query=query.text,
            took_ms=round((perf_counter() - began) * 1000, 1),
            total=total if hits or query.page > 1 else 0,
            next=query.page + 1 if more else None,
            hits=hits,
            partial=self._index.is_partial,
            likelihood=findings.likelihood if isinstance(findings, RankedHits) else 1.0,
            is_dated=findings.is_dated,
        )

    def update(self, on_progress: OnIndexed | None = None) -> None:
        """Indexes new entries ahead of the next query, and purges deleted ones from disk. Queries run meanwhile.
        `on_progress` receives the number of entries on disk so far."""
        self._index.update(on_progress)
        self._vectors.forget()

    @property
    def trouble(self) -> str:
        """Why the index could not be written to disk, as a sentence; "" where it could."""
        return self._index.trouble

    @property
    def building(self) -> IndexProgress | None:
        """Progress of an index that is being built."""
        return self._index.building

    def _around(self, query: Query, around: datetime | str) -> SearchResults:
        """The timeline around a moment, an entry or the query's best hit, then in its conversation.

        A query with text is searched near a moment or an entry.
        """
        began, text = perf_counter(), query.text
        if around == BEST:
            best = self.query(best_of(query))
            if not best.hits:
                return best
            target = self._hit_target(best.hits[0])
        else:
            target = resolve_anchor(around, self._references, self._cold)
            if query.wording.question:
                return self.query(near_moment(query, moment_of(target)))
        query = neighbours_query(query)
        if around == BEST and isinstance(target, Entry):
            query = replace(query, among=frozenset({target.conversation_seq}))
        with self._lock:
            sources, notes = self._sources(query)
            anchor = timeline_anchor(target, notes)
            findings = timeline(sources, anchor, query.before, query.after)
        hits, _ = HitReader(self._cold, self._passages, query, notes, findings).page()
        key = target.seq if isinstance(target, Entry) else target.id if isinstance(target, Note) else None
        ids = [hit.id for hit in hits if key is not None and key == (hit.note if hit.entry is None else hit.entry)]
        took = round((perf_counter() - began) * 1000, 1)
        return SearchResults(query=text, took_ms=took, total=len(hits), hits=hits, anchor=ids[0] if ids else "")

    def _hit_target(self, hit: Hit) -> Entry | Note:
        return self._hot.note(hit.id) if hit.entry is None else self._cold.entry(hit.entry)

    def _question(self, query: Query) -> tuple[Question, SearchSimilarity | None]:
        """The parsed question, and its similarity to entries. The embedder runs outside the lock."""
        text = query.wording.question
        with self._lock:
            self._index.catch_up()
            languages = held_languages(lambda term: len(self._index.find(term).documents) > 0)
            question = parse_question(text, self._clock.now(), languages, query.without)
            named = self._index.documents.speakers_named([term.term for term in question.terms])
        if query.as_it_stands and not question.is_seeking(text):
            question = replace(question, dates=())
        if not question.content or not question.uses("vectors"):
            return question, None
        return question, self._similarity(without_names(text, named_speakers(question, dict.fromkeys(named)).terms))

    def _similarity(self, text: str) -> SearchSimilarity | None:
        entries = self._vectors.ask(text)
        return None if entries is None else SearchSimilarity(entries, partial(self._vectors.ask_notes, text))

    def _findings(
        self, query: Query, question: Question, similarity: SearchSimilarity | None
    ) -> tuple[RankedHits | NewestHits, tuple[Note, ...]]:
        with self._lock:
            sources, notes = self._sources(query, similarity)
            if not query.wording.question:
                return newest(sources), notes
            if (hits_of_days := self._hits_of_days(query, question, sources)) is not None:
                return hits_of_days, notes
            limit = 2 * query.page * query.limit
            finding = partial(find, most=limit, least=query.threshold, explain=query.explain)
            hits = find_dated(question, sources, finding)
            if query.filters_decide and not query.threshold:
                return _before_others(hits, newest(sources)), notes
            if not len(hits) and (query.exact or query.wording.phrases) and not query.threshold:
                worth = {term.term: question.weight(term) for term in question.terms}
                return replace(newest(sources), worth=worth), notes  # stop words alone, but each hit holds all of them
            return (hits.by_time() if query.newest else hits), notes

    def _hits_of_days(self, query: Query, question: Question, sources: tuple[SearchSource, ...]) -> NewestHits | None:
        """Entries of the days that the question names, newest first, where it asks for nothing else. Those that name
        the holiday that it names are first."""
        date_spans = date_only_spans(query, self._clock.now()) if question.uses("dates") else ()
        for span in date_spans:
            hits = newest(of_days(sources, question, (span,)))
            if names_holiday(query.wording.question[span.at : span.to]):
                hits = _before_others(find(question, sources, most=query.page * query.limit), hits)
            if len(hits):
                return replace(hits, is_dated=True)
        return None

    def _sources(
        self, query: Query, similarity: SearchSimilarity | None = None
    ) -> tuple[tuple[SearchSource, ...], tuple[Note, ...]]:
        """The current sources, and the notes among them. Requires the lock."""
        is_allowed = entry_filter(query, self._cold, self._index.find, self._kinds)
        self._index.catch_up()
        self._hot.look()
        self._notes.refresh(self._hot.notes())
        notes = self._notes.notes
        sources = (
            SearchSource(
                self._index,
                is_allowed,
                lends=lending_filter(query),
                each=query.each,
                nearness=similarity and similarity.entries,
            ),
            notes_source(
                self._notes,
                note_filter(query, notes, self._notes.find, self._kinds),
                similarity and similarity.notes(notes),
            ),
        )
        may_be_derived = derived_filter(query, self._cold, self._derived.find, self._kinds)
        if may_be_derived is None:
            return sources, notes
        self._derived.refresh()
        return (*sources, SearchSource(self._derived, may_be_derived, each=query.each)), notes


def _before_others(hits: RankedHits, all_that_pass: NewestHits) -> NewestHits:
    """All that pass the filters: those that match the text first, best first, then the others, newest first."""
    ranked = dict.fromkeys((hit.source, hit.key) for hit in hits)
    others = ((hit.source, hit.key) for hit in all_that_pass)
    rows = np.array([*ranked, *(pair for pair in others if pair not in ranked)], "i8").reshape(-1, 2)
    return NewestHits(rows[:, 0], rows[:, 1], hits.worth)


class NoteDocuments:
    """Notes of the hot memory as an in-memory index: few, and analysed again only where they changed.

    Document n is note n of `notes`. Notes have no neighbours.
    """

    def __init__(self, analyse: EntryAnalyser = analyse) -> None:
        self._analyse = analyse
        self.notes: tuple[Note, ...] = ()
        self.documents = Documents()
        self._recent = RecentPostings()
        self._analysed: dict[tuple[str, str, datetime | None], AnalysedTerms] = {}

    def refresh(self, notes: tuple[Note, ...]) -> None:
        """Indexes the notes, where they changed."""
        if notes == self.notes:
            return
        self._analysed = {
            key: self._analysed.get(key) or self._analyse(note.text, note.heading, None, note.time)
            for note in notes
            if (key := (note.heading, note.text, note.time))
        }
        self.notes, self.documents, self._recent = notes, Documents(), RecentPostings()
        for number, note in enumerate(notes):
            terms = self._analysed[note.heading, note.text, note.time]
            row = TermsRow(
                number, number, NOTE, "", "", to_ms(note.time) if note.time else 0, terms.packed, terms.length
            )
            self._recent.put(self.documents.put(row), *split_terms(terms.packed))

    def find(self, term: str) -> Posting:
        return find_postings(term, (self._recent,))


class DerivedDocuments:
    """The derived entries (memory/origin.py) as an in-memory index: a search reads it only where it asks for them."""

    def __init__(self, cold: ColdStore) -> None:
        self._cold = cold
        self._version: int | None = None
        self.documents = Documents()
        self._postings: tuple[SegmentPostings, ...] = ()

    def refresh(self) -> None:
        """Indexes the derived entries, where the store changed."""
        version = self._cold.data_version()
        if version == self._version:
            return
        built, self.documents = build(self._cold.derived_terms(), no_rest), Documents()
        self.documents.relink(self.documents.add_rows(built.columns, built.names, np.zeros(0, "i8")))
        self._postings, self._version = (SegmentPostings(built.lists, 0),), version

    def find(self, term: str) -> Posting:
        return find_postings(term, self._postings)
