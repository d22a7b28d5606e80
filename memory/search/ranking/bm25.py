"""Ranking: BM25 over an entry, the turns around it and the talk that it stands in; what the question says of who, when
and how many; and how near it is in meaning, where an embedder is at hand.

    tf′(t, d) = tf(t, d) + Σ wₙ tf(t, neighbour n)            a kindred word counts for a part of t
    words(d)  = Σ weight(t) · idf(t) · tf′ (k₁ + 1) / (tf′ + k₁(d) (1 − b + b |d| / average))
    score(d)  = (words + talk + bonuses) · telling + vectors

After Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): BM25F, with the turns
around an entry for fields. benchmarks/retrieval.py says what each part brings.
"""

import numpy as np
from msgspec import Struct

from memory.search.column import Column
from memory.search.ranking import bonuses, semantic
from memory.search.ranking.bonuses import Bonus
from memory.search.ranking.candidates import CandidateFilter, candidates, together, with_neighbours
from memory.search.ranking.fields import K1, TALK, DocumentFilter, around, counted, lending, saturation, talk_scores
from memory.search.ranking.lookup import Collection, CorpusStatistics, TermPostings
from memory.search.ranking.novelty import telling
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

NAME = 0.3  # what a speaker's name is worth beside other words: the bonus says whose turn it is
SURE = 0.25  # of a word's count, in full or around: it is covered


class RankingQuery(Struct, frozen=True):
    """A question, whom it names, and when what it is anchored to was (a moment in ms, 0 for none, and the side)."""

    question: Question
    called: NamedSpeakers = NamedSpeakers()
    anchored: tuple[bonuses.ResolvedAnchor, ...] = ()


class RankedDocuments(Struct, frozen=True):
    """Scored documents, in no order: a row each. `parts` is a column a name of `names`.

    `reachable` is more than any document can score. `coverage` is the share of the question's content, by the weight of
    its words, that stands in the document or beside it; for bare keywords, in the document itself.
    """

    documents: Column
    score: Column
    reachable: float
    coverage: Column
    names: tuple[str, ...]
    parts: Column
    cosine: Column  # NaN where there is none
    by_words: Column  # the score without an embedder's part, of what can be reached without it
    reachable_by_words: float


def rank(  # noqa: PLR0917 — all are needed, in the order of the formula
    collection: Collection,
    asking: RankingQuery,
    looked: tuple[TermPostings, ...],
    corpus: CorpusStatistics,
    may: CandidateFilter,
    most: int,
    nearness: Similarity | None = None,
) -> RankedDocuments:
    """The best documents of a collection, `most` of them or more, scored in full."""
    documents, question = collection.documents, asking.question
    chosen = candidates(documents, question, looked, corpus, may, most)
    if nearness is not None and question.uses("vectors"):
        nearest = semantic.nearest(documents, nearness, may, most)
        chosen = together(chosen, with_neighbours(documents, nearest, may))
    neighbours = around(documents, chosen)
    lent = lending(documents, chosen, question, may.lend, neighbours)
    own, counts = counted(looked, lent)
    worth = np.array([_worth(question, asking.called, each) for each in looked])
    parts = worth * counts * (K1 + 1) / (counts + saturation(documents["length"][chosen], corpus, question)[:, None])
    in_talk = np.zeros(len(chosen))
    if question.uses("talk") and not may.each:
        places = [place for place, each in enumerate(looked) if _is_topical(asking, each)]
        in_talk = talk_scores(documents, chosen, tuple(looked[place] for place in places), own[:, places])
    more = bonuses.bonuses(collection, question, asking.called.one, asking.anchored, chosen)
    parts = np.column_stack((parts, in_talk, *(bonus.weight * bonus.share for bonus in more)))
    if question.uses("novelty"):
        parts *= telling(documents, chosen, own, asking.question, asking.called)[:, None]
    cosine = semantic.cosines(documents, nearness, chosen) if nearness is not None else np.full(len(chosen), np.nan)
    near = semantic.worth(documents, nearness, cosine, neighbours, question)
    parts = np.column_stack((parts, near))
    names = (
        *(each.term.term for each in looked),
        "the talk around it",
        *(bonus.name for bonus in more),
        "near in meaning",
    )
    reachable = _reachable(worth, asking, looked, more)
    score = parts.sum(axis=1)
    return RankedDocuments(
        documents=chosen,
        score=score,
        reachable=reachable + (semantic.MOST if nearness is not None else 0.0),
        coverage=_coverage(question, looked, own, counts),
        names=names,
        parts=parts,
        cosine=cosine,
        by_words=(score - near) / max(reachable, 1e-9),
        reachable_by_words=max(reachable, 1e-9),
    )


def _worth(question: Question, called: NamedSpeakers, looked: TermPostings) -> float:
    name = NAME if looked.term.term in called.terms else 1.0
    return question.weight(looked.term) * looked.idf * name


def _is_topical(asking: RankingQuery, looked: TermPostings) -> bool:
    return not looked.term.weak and looked.term.term not in asking.called.terms


def _coverage(question: Question, looked: tuple[TermPostings, ...], own: Column, counts: Column) -> Column:
    topic = set(question.topic)
    idfs = np.array([each.idf * (each.term in topic) for each in looked])
    coverage = np.minimum(counts / SURE, 1.0) @ idfs / max(float(idfs.sum()), 1e-9)
    if not question.is_keywords or not looked:
        return coverage
    literal = (own >= 1).any(axis=1)  # words that are looked up are meant as such: kindred ones stand in only for none
    return coverage * (literal if literal.any() else (own > 0).any(axis=1))


def _reachable(worth: Column, asking: RankingQuery, looked: tuple[TermPostings, ...], more: tuple[Bonus, ...]) -> float:
    """In the units of BM25, without an embedder."""
    words = float(worth.sum()) * (K1 + 1)
    talk = 2 * TALK * sum(each.idf for each in looked if _is_topical(asking, each))
    return words + talk + sum(bonus.weight for bonus in more)
