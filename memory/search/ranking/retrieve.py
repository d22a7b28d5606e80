"""From a query to what was found, in order: entries and notes ranked together. Pure: nothing is read but the index."""

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
from memory.search.ranking.question import Question, called, take_apart
from memory.search.vectors.similarity import Similarity

BEST_COVERAGE, LEAST_COVERAGE, SURE_COVERAGE = 0.18, 0.01, 0.6
"""Of a question's content, by weight of its words. Where nothing holds the former, nothing is about the question; what
holds less than the latter is not, whatever else is."""

BEST_COSINE, LEAST_COSINE = 0.4, 0.25
"""The same, where an embedder sees it otherwise."""

_CURATED = 1.1  # a note was written to be found
_WEAK = 0.1  # of a weak word's worth, in a snippet: it decides where nothing else does
_STEP = 1e-3  # scores within it are equal, and the newest goes first


class RankedHit(Struct, frozen=True):
    """Something of source `source`: an entry's seq, or a note's number. `parts` is what its score is made of."""

    source: int
    key: int
    score: float
    parts: dict[str, float]


class RankedHits(Struct, frozen=True):
    """What was found, best first: iterate for as many as are needed. `worth` is each term's worth in a snippet."""

    order: list[tuple[int, int, int, int]] = []  # steps of the score below 0, time below 0, source, row
    keys: tuple[Column, ...] = ()  # a source
    worth: dict[str, float] = {}
    explained: tuple[RankedDocuments, ...] = ()  # a source, where the parts of the scores are wanted
    covered: float = 0.0  # the best's coverage
    likelihood: float = 0.0  # that anything of it answers

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


def all_of(documents: Documents, some: Column) -> Column:
    """Each of them."""
    return np.ones(len(some), bool)


class SearchSource(Struct, frozen=True):
    """A collection to search, which of it may be found, what its documents are worth against others', and which of
    them lend their words to those beside them."""

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
    """What is relevant, best first: at least `most` of each source, where there are. `least` is the least score."""
    if not question.content:
        return RankedHits()
    corpus = _corpus(sources)
    asking = _asking(question, sources)
    looked = look_up(question, [source.collection for source in sources], corpus, asking.called.terms)
    ranked = tuple(
        rank(
            source.collection,
            asking,
            terms,
            corpus,
            CandidateFilter(source.allowed, source.lends, source.each),
            most,
            source.nearness,
        )
        for source, terms in zip(sources, looked, strict=True)
    )
    if not any(_answers(each) for each in ranked):
        return RankedHits()
    reachable = max(each.reachable for each in ranked) or 1.0
    found: list[tuple[int, int, int, int]] = []
    for place, (source, each) in enumerate(zip(sources, ranked, strict=True)):
        found.extend(_scored(place, source, each, reachable, least))
    order = sorted(found)
    return RankedHits(
        order=order,
        keys=tuple(_entries(source, each.documents) for source, each in zip(sources, ranked, strict=True)),
        worth={name: value for each in looked[0] for name, value in _worth(each)},
        explained=ranked if explain else (),
        likelihood=likelihood(asking, [source.collection for source in sources], looked, ranked),
        covered=float(ranked[order[0][2]].coverage[order[0][3]]) if order else 0.0,
    )


def _worth(looked: TermPostings) -> Iterator[tuple[str, float]]:
    """What a term and its kindred are worth in a snippet."""
    yield from (
        (term, looked.idf * (_WEAK if looked.term.weak else 1)) for term in (looked.term.term, *looked.term.also)
    )


class NewestHits(Struct, frozen=True):
    """What may be found at all, newest first: iterate for as many as are needed. A column a property, a row each."""

    sources: Column
    keys: Column
    worth: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[RankedHit]:
        for source, key in zip(self.sources, self.keys, strict=True):
            yield RankedHit(int(source), int(key), 0.0, {})


def newest(sources: tuple[SearchSource, ...]) -> NewestHits:
    """What may be found at all, newest first."""
    keys, times, places = [np.zeros(0, "i8")], [np.zeros(0, "i8")], [np.zeros(0, "i8")]
    for place, source in enumerate(sources):
        documents = source.collection.documents
        some = np.arange(documents.count)
        some = some[source.allowed(documents, some)]
        keys.append(_entries(source, some))
        times.append(documents["time"][some])
        places.append(np.full(len(some), place))
    of_source, key = np.concatenate(places), np.concatenate(keys)
    order = np.argsort(-np.concatenate(times), kind="stable")  # of one time: as they came
    return NewestHits(of_source[order], key[order])


def _asking(question: Question, sources: tuple[SearchSource, ...]) -> RankingQuery:
    """Whom it names, and when what it is anchored to was."""
    said = [term.term for term in question.terms]
    speakers = [name for source in sources for name in source.collection.documents.speakers_named(said)]
    anchored = _anchored(question, sources) if question.anchors and question.uses("dates") else ()
    return RankingQuery(question, called(question, dict.fromkeys(speakers)), anchored)


def _anchored(question: Question, sources: tuple[SearchSource, ...]) -> tuple[ResolvedAnchor, ...]:
    """When those events were: the time of what answers their words best. Only where nearly all of them are found."""
    found: list[ResolvedAnchor] = []
    for anchor in question.anchors:
        event = take_apart(anchor.event, without=question.without)
        plain = tuple(SearchSource(source.collection, source.allowed, source.weight) for source in sources[:1])
        best = find(event, plain, most=1)
        if best.order and best.covered >= SURE_COVERAGE:
            found.append(ResolvedAnchor(anchor.event, anchor.side, -best.order[0][1]))
    return tuple(found)


def _entries(source: SearchSource, some: Column) -> Column:
    return source.collection.documents["entry"][some]


def _corpus(sources: tuple[SearchSource, ...]) -> CorpusStatistics:
    all_documents = [source.collection.documents for source in sources]
    count = sum(documents.live_count for documents in all_documents)
    return CorpusStatistics(count, sum(documents.term_count for documents in all_documents) / max(count, 1))


def _scored(
    place: int, source: SearchSource, ranked: RankedDocuments, reachable: float, least: float
) -> Iterator[tuple[int, int, int, int]]:
    """For sorting: the score in steps, best first; the time, newest first; and which it is."""
    documents = source.collection.documents
    score = np.minimum(ranked.score * source.weight / reachable, 1.0)
    near = np.nan_to_num(ranked.cosine) >= LEAST_COSINE
    relevant = np.flatnonzero(((ranked.coverage >= LEAST_COVERAGE) | near) & (score >= least))
    steps = np.round(score[relevant] / _STEP).astype("i8")
    times = documents["time"][ranked.documents[relevant]]
    return zip((-steps).tolist(), (-times).tolist(), [place] * len(relevant), relevant.tolist(), strict=True)


def _answers(ranked: RankedDocuments) -> bool:
    """Whether anything of it is about the question."""
    covered = float(ranked.coverage.max(initial=0.0)) >= BEST_COVERAGE
    return covered or float(np.nan_to_num(ranked.cosine).max(initial=0.0)) >= BEST_COSINE


def _parts(ranked: RankedDocuments, row: int) -> dict[str, float]:
    """What the score is made of, in the units of BM25."""
    parts = zip(ranked.names, ranked.parts[row].tolist(), strict=True)
    return {name: round(part, 3) for name, part in parts if round(part, 3)}
