"""Retrieval: ranks entries and notes together for a question. Pure: it reads the index alone."""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from memory.search.column import Column
from memory.search.index.documents import Documents
from memory.search.ranking.bm25 import RankedDocuments, RankingQuery, rank
from memory.search.ranking.bonuses import ResolvedAnchor
from memory.search.ranking.candidates import CandidateFilter
from memory.search.ranking.confidence import likelihood
from memory.search.ranking.fields import DocumentFilter
from memory.search.ranking.lookup import Collection, CorpusStatistics, TermPostings, look_up
from memory.search.ranking.question import Question, named_speakers, parse_question
from memory.search.vectors.similarity import Similarity

BEST_COVERAGE, LEAST_COVERAGE, SURE_COVERAGE = 0.18, 0.01, 0.6
"""Shares of a question's content, by the weight of its terms. Where no document reaches the first, there is no hit at
all; a document below the second is no hit; an anchor event is resolved from the third on."""

BEST_COSINE, LEAST_COSINE = 0.4, 0.25
"""Cosines that replace the first two where there is an embedder."""

_CURATED = 1.1  # a note was written to be found
_WEAK = 0.1  # of a stop word's weight, in a snippet: a tie-breaker
_STEP = 1e-3  # scores within it are equal, and the newest is first


class RankedHit(Struct, frozen=True):
    """A hit of source `source`: an entry's seq, or a note's number. `parts` are the components of its score."""

    source: int
    key: int
    score: float
    parts: dict[str, float]


class RankedHits(Struct, frozen=True):
    """Hits, best first, built as they are iterated. `worth` is each term's weight in a snippet."""

    order: list[tuple[int, int, int, int]] = []  # steps of the score below 0, time below 0, source, row
    keys: tuple[Column, ...] = ()  # a source
    worth: dict[str, float] = {}
    explained: tuple[RankedDocuments, ...] = ()  # a source, where the parts of the scores are wanted
    covered: float = 0.0  # the best's coverage
    likelihood: float = 0.0  # that anything of it answers
    is_dated: bool = False  # all are of the dates that the question names

    def __len__(self) -> int:
        return len(self.order)

    def by_time(self) -> "NewestHits":
        """The same, newest first."""
        rows = sorted(self.order, key=lambda row: row[1])
        keys = [int(self.keys[source][row]) for _, _, source, row in rows]
        return NewestHits(np.array([row[2] for row in rows], "i8"), np.array(keys, "i8"), self.worth)

    def __iter__(self) -> Iterator[RankedHit]:
        for steps, _, source, row in self.order:
            parts = _parts(self.explained[source], row) if self.explained else {}
            yield RankedHit(source, int(self.keys[source][row]), -steps * _STEP, parts)


def all_of(documents: Documents, rows: Column) -> Column:
    """A filter that every document passes."""
    return np.ones(len(rows), bool)


class SearchSource(Struct, frozen=True):
    """A collection to search, the filter of its documents, their weight relative to other sources, and the filter of
    those whose terms count for their neighbours."""

    collection: Collection
    allowed: DocumentFilter
    weight: float = 1.0
    lends: DocumentFilter = all_of
    each: int = 0  # of one conversation at most
    nearness: Similarity | None = None  # of the question, by an embedder


def notes_source(collection: Collection, allowed: DocumentFilter, nearness: Similarity | None = None) -> SearchSource:
    return SearchSource(collection, allowed, _CURATED, nearness=nearness)


def find(
    question: Question, sources: tuple[SearchSource, ...], *, most: int, least: float = 0.0, explain: bool = False
) -> RankedHits:
    """Relevant hits, best first: at least `most` of each source, where there are. `least` is the minimum score."""
    if not question.content:
        return RankedHits()
    corpus = _corpus(sources)
    ranking_query = _ranking_query(question, sources)
    postings_by_term = look_up(
        question, [source.collection for source in sources], corpus, ranking_query.named_speakers.terms
    )
    ranked = tuple(
        rank(
            source.collection,
            ranking_query,
            terms,
            corpus,
            CandidateFilter(source.allowed, source.lends, source.each),
            most,
            source.nearness,
        )
        for source, terms in zip(sources, postings_by_term, strict=True)
    )
    if not any(_answers(part) for part in ranked):
        return RankedHits()
    reachable = max(part.reachable for part in ranked) or 1.0
    rows: list[tuple[int, int, int, int]] = []
    for source_number, (source, part) in enumerate(zip(sources, ranked, strict=True)):
        rows.extend(_scored(source_number, source, part, reachable, least))
    order = sorted(rows)
    return RankedHits(
        order=order,
        keys=tuple(_entries(source, part.documents) for source, part in zip(sources, ranked, strict=True)),
        worth={name: value for part in postings_by_term[0] for name, value in _snippet_weights(part)},
        explained=ranked if explain else (),
        likelihood=likelihood(ranking_query, [source.collection for source in sources], postings_by_term, ranked),
        covered=float(ranked[order[0][2]].coverage[order[0][3]]) if order else 0.0,
    )


def _snippet_weights(postings: TermPostings) -> Iterator[tuple[str, float]]:
    """Weights of a term and its translations in a snippet."""
    yield from (
        (term, postings.idf * (_WEAK if postings.term.weak else 1))
        for term in (postings.term.term, *postings.term.also)
    )


class NewestHits(Struct, frozen=True):
    """Every document that passes the filters, newest first, built as it is iterated: parallel columns."""

    sources: Column
    keys: Column
    worth: dict[str, float] = {}
    is_dated: bool = False  # as RankedHits has it

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[RankedHit]:
        for source, key in zip(self.sources, self.keys, strict=True):
            yield RankedHit(int(source), int(key), 0.0, {})


def newest(sources: tuple[SearchSource, ...]) -> NewestHits:
    """Every document that passes the filters, newest first."""
    keys, times, source_numbers = [np.zeros(0, "i8")], [np.zeros(0, "i8")], [np.zeros(0, "i8")]
    for source_number, source in enumerate(sources):
        documents = source.collection.documents
        rows = np.arange(documents.count)
        rows = rows[source.allowed(documents, rows)]
        keys.append(_entries(source, rows))
        times.append(documents["time"][rows])
        source_numbers.append(np.full(len(rows), source_number))
    source_of, key = np.concatenate(source_numbers), np.concatenate(keys)
    order = np.argsort(-np.concatenate(times), kind="stable")  # of one time: as they came
    return NewestHits(source_of[order], key[order])


def _ranking_query(question: Question, sources: tuple[SearchSource, ...]) -> RankingQuery:
    """Resolves the speakers that the question names, and the times of its anchors."""
    terms = [term.term for term in question.terms]
    speakers = [name for source in sources for name in source.collection.documents.speakers_named(terms)]
    anchored = _resolve_anchors(question, sources) if question.anchors and question.uses("dates") else ()
    return RankingQuery(question, named_speakers(question, dict.fromkeys(speakers)), anchored)


def _resolve_anchors(question: Question, sources: tuple[SearchSource, ...]) -> tuple[ResolvedAnchor, ...]:
    """Times of the anchor events: each that of the best hit for it, where that covers nearly all of its terms."""
    resolved: list[ResolvedAnchor] = []
    for anchor in question.anchors:
        event = parse_question(anchor.event, without=question.without)
        entries_only = tuple(SearchSource(source.collection, source.allowed, source.weight) for source in sources[:1])
        best = find(event, entries_only, most=1)
        if best.order and best.covered >= SURE_COVERAGE:
            resolved.append(ResolvedAnchor(anchor.event, anchor.side, -best.order[0][1]))
    return tuple(resolved)


def _entries(source: SearchSource, rows: Column) -> Column:
    return source.collection.documents["entry"][rows]


def _corpus(sources: tuple[SearchSource, ...]) -> CorpusStatistics:
    all_documents = [source.collection.documents for source in sources]
    count = sum(documents.live_count for documents in all_documents)
    return CorpusStatistics(count, sum(documents.term_count for documents in all_documents) / max(count, 1))


def _scored(
    source_number: int, source: SearchSource, ranked: RankedDocuments, reachable: float, least: float
) -> Iterator[tuple[int, int, int, int]]:
    """Sort keys: the score in steps, best first; the time, newest first; the source and the row."""
    documents = source.collection.documents
    score = np.minimum(ranked.score * source.weight / reachable, 1.0)
    near = np.nan_to_num(ranked.cosine) >= LEAST_COSINE
    relevant = np.flatnonzero(((ranked.coverage >= LEAST_COVERAGE) | near) & (score >= least))
    steps = np.round(score[relevant] / _STEP).astype("i8")
    times = documents["time"][ranked.documents[relevant]]
    return zip((-steps).tolist(), (-times).tolist(), [source_number] * len(relevant), relevant.tolist(), strict=True)


def _answers(ranked: RankedDocuments) -> bool:
    """Whether any document is about the question."""
    covered = float(ranked.coverage.max(initial=0.0)) >= BEST_COVERAGE
    return covered or float(np.nan_to_num(ranked.cosine).max(initial=0.0)) >= BEST_COSINE


def _parts(ranked: RankedDocuments, row: int) -> dict[str, float]:
    """Components of the score, in the units of BM25."""
    parts = zip(ranked.names, ranked.parts[row].tolist(), strict=True)
    return {name: round(part, 3) for name, part in parts if round(part, 3)}
