"""Ranking: BM25 over an entry, the turns around it and its talk; bonuses for the persons, dates and numbers that the
question asks about; and the cosine, where an embedder is set.

    tf′(t, d) = tf(t, d) + Σ wₙ tf(t, neighbour n)            a synonym counts for a part of t
    words(d)  = Σ weight(t) · idf(t) · tf′ (k₁ + 1) / (tf′ + k₁(d) (1 − b + b |d| / average))
    score(d)  = (words + talk + bonuses) · novelty_factors + vectors

After Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): BM25F, with the turns
around an entry for fields. benchmarks/retrieval.py says what each part brings.
"""

import numpy as np
from msgspec import Struct

from memory.search.column import Column
from memory.search.index.documents import NONE, Documents
from memory.search.ranking import bonuses
from memory.search.ranking.bonuses import Bonus
from memory.search.ranking.candidates import CandidateFilter, candidates, union, with_neighbours
from memory.search.ranking.fields import (
    K1,
    TALK,
    DocumentFilter,
    around,
    neighbour_weights,
    saturation,
    talk_scores,
    term_counts,
)
from memory.search.ranking.lookup import Collection, CorpusStatistics, TermPostings
from memory.search.ranking.novelty import novelty_factors
from memory.search.ranking.question import NamedSpeakers, Question
from memory.search.vectors.similarity import Similarity

__all__ = [
    "CandidateFilter",
    "Collection",
    "CorpusStatistics",
    "DocumentFilter",
    "RankedDocuments",
    "RankingQuery",
    "rank",
]

NAME = 0.3  # weight of a speaker's name among the terms: the bonus for the speaker counts it already
SURE = 0.25  # occurrences of a term, in the document or weighted around it: from here on it is covered
COSINE_WEIGHT = 8.0  # of a cosine of 1, in the units of BM25
NEIGHBOUR_COSINE = 0.3  # weight of the turn before and the one after, relative to the entry's own
NEAREST = 200  # candidates by their cosine alone
MAX_COSINE_SCORE = COSINE_WEIGHT * (1 + 2 * NEIGHBOUR_COSINE)


class RankingQuery(Struct, frozen=True):
    """A question, the speakers that it names, and the times of the events that it is anchored to."""

    question: Question
    named_speakers: NamedSpeakers = NamedSpeakers()
    anchored: tuple[bonuses.ResolvedAnchor, ...] = ()


class RankedDocuments(Struct, frozen=True):
    """Scored documents, unordered, one per row. `parts` has a column for each of `names`.

    `reachable` is an upper bound of the score. `coverage` is the share of the question's content, by the weight of its
    terms, that the document or its neighbours hold; for bare keywords, the document itself. `own_coverage` is the share
    that the document itself holds, without the names of speakers.
    """

    documents: Column
    score: Column
    reachable: float
    coverage: Column
    own_coverage: Column
    names: tuple[str, ...]
    parts: Column
    cosine: Column  # NaN where there is none
    by_words: Column  # the score without the embedder's part, as a share of the bound without it
    reachable_by_words: float


def rank(  # noqa: PLR0917 — all are needed, in the order of the formula
    collection: Collection,
    ranking_query: RankingQuery,
    postings_by_term: tuple[TermPostings, ...],
    corpus: CorpusStatistics,
    may: CandidateFilter,
    most: int,
    nearness: Similarity | None = None,
) -> RankedDocuments:
    """Scores the best documents of a collection in full: `most` of them or more."""
    documents, question = collection.documents, ranking_query.question
    chosen = candidates(documents, question, postings_by_term, corpus, may, most)
    if nearness is not None and question.uses("vectors"):
        nearest = nearest_documents(documents, nearness, may, most)
        chosen = union(chosen, with_neighbours(documents, nearest, may))
    neighbours = around(documents, chosen)
    weights = neighbour_weights(documents, chosen, question, may.lend, neighbours)
    own, counts = term_counts(postings_by_term, weights)
    worth = np.array([_term_weight(question, ranking_query.named_speakers, postings) for postings in postings_by_term])
    parts = worth * counts * (K1 + 1) / (counts + saturation(documents["length"][chosen], corpus, question)[:, None])
    in_talk = np.zeros(len(chosen))
    if question.uses("talk") and not may.each:
        topical = [index for index, postings in enumerate(postings_by_term) if _is_topical(ranking_query, postings)]
        in_talk = talk_scores(documents, chosen, tuple(postings_by_term[index] for index in topical), own[:, topical])
    more = bonuses.bonuses(collection, question, ranking_query.named_speakers.one, ranking_query.anchored, chosen)
    parts = np.column_stack((parts, in_talk, *(bonus.weight * bonus.share for bonus in more)))
    if question.uses("novelty"):
        parts *= novelty_factors(documents, chosen, own, ranking_query.question, ranking_query.named_speakers)[:, None]
    cosine = cosines(documents, nearness, chosen) if nearness is not None else np.full(len(chosen), np.nan)
    near = cosine_scores(documents, nearness, cosine, neighbours, question)
    parts = np.column_stack((parts, near))
    names = (
        *(postings.term.term for postings in postings_by_term),
        "the talk around it",
        *(bonus.name for bonus in more),
        "near in meaning",
    )
    reachable = _reachable(worth, ranking_query, postings_by_term, more)
    score = parts.sum(axis=1)
    return RankedDocuments(
        documents=chosen,
        score=score,
        reachable=reachable + (MAX_COSINE_SCORE if nearness is not None else 0.0),
        coverage=_coverage(question, postings_by_term, own, counts),
        own_coverage=_own_coverage(ranking_query, postings_by_term, own),
        names=names,
        parts=parts,
        cosine=cosine,
        by_words=(score - near) / max(reachable, 1e-9),
        reachable_by_words=max(reachable, 1e-9),
    )


def _term_weight(question: Question, named_speakers: NamedSpeakers, postings: TermPostings) -> float:
    name = NAME if postings.term.term in named_speakers.terms else 1.0
    return question.weight(postings.term) * postings.idf * name


def _is_topical(ranking_query: RankingQuery, postings: TermPostings) -> bool:
    return not postings.term.weak and postings.term.term not in ranking_query.named_speakers.terms


def _coverage(question: Question, postings_by_term: tuple[TermPostings, ...], own: Column, counts: Column) -> Column:
    idfs = _topic_weights(question, postings_by_term)
    coverage = np.minimum(counts / SURE, 1.0) @ idfs / max(float(idfs.sum()), 1e-9)
    if not question.is_keywords or not postings_by_term:
        return coverage
    literal = (own >= 1).any(axis=1)  # keywords are meant literally: synonyms count only where no document holds one
    return coverage * (literal if literal.any() else (own > 0).any(axis=1))


def _own_coverage(ranking_query: RankingQuery, postings_by_term: tuple[TermPostings, ...], own: Column) -> Column:
    is_name = [postings.term.term in ranking_query.named_speakers.terms for postings in postings_by_term]
    idfs = _topic_weights(ranking_query.question, postings_by_term) * ~np.array(is_name, bool)
    return np.minimum(own, 1.0) @ idfs / max(float(idfs.sum()), 1e-9)


def _topic_weights(question: Question, postings_by_term: tuple[TermPostings, ...]) -> Column:
    """Each term's weight in what an answer must be about; 0 for the others."""
    topic = set(question.topic)
    return np.array([postings.idf * (postings.term in topic) for postings in postings_by_term], "f8")


def _reachable(
    worth: Column,
    ranking_query: RankingQuery,
    postings_by_term: tuple[TermPostings, ...],
    extra_bonuses: tuple[Bonus, ...],
) -> float:
    """Upper bound of the score, in the units of BM25, without an embedder."""
    words = float(worth.sum()) * (K1 + 1)
    talk = 2 * TALK * sum(postings.idf for postings in postings_by_term if _is_topical(ranking_query, postings))
    return words + talk + sum(bonus.weight for bonus in extra_bonuses)


def nearest_documents(documents: Documents, nearness: Similarity, may: CandidateFilter, most: int) -> Column:
    """The documents nearest to the question, of those that pass the filter (i4, ascending)."""

    def allowed(entries: Column) -> Column:
        rows = documents.rows_of(entries)
        is_found = rows != NONE
        is_found[is_found] = may.be_found(documents, rows[is_found])
        return is_found

    entries, _ = nearness.nearest(max(NEAREST, most), allowed)
    rows = documents.rows_of(entries)
    return np.sort(rows[rows != NONE]).astype("i4")


def cosines(documents: Documents, nearness: Similarity, rows: Column) -> Column:
    """Cosine of each document; NaN where it has no vector, or is NONE."""
    values = np.full(len(rows), np.nan)
    real = np.flatnonzero(rows != NONE)
    values[real] = nearness.of(documents["entry"][rows[real]])
    return values


def cosine_scores(
    documents: Documents,
    nearness: Similarity | None,
    cosine: Column,
    neighbours: tuple[Column, ...],
    question: Question,
) -> Column:
    """The embedder's part of the score, in the units of BM25. A document without a vector gets the average."""
    if nearness is None or not question.uses("vectors") or np.isnan(cosine).all():
        return np.zeros(len(cosine))
    own = np.where(np.isnan(cosine), np.nanmean(cosine), cosine)
    if not question.uses("vectors-beside"):
        return COSINE_WEIGHT * own
    before, after = (cosines(documents, nearness, neighbour_cosines) for neighbour_cosines in neighbours[:2])
    return COSINE_WEIGHT * (
        own
        + sum(
            NEIGHBOUR_COSINE * np.where(np.isnan(neighbour_cosines), own, neighbour_cosines)
            for neighbour_cosines in (before, after)
        )
    )
