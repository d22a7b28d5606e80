"""Ranking: BM25 over an entry and its neighbours, and what the question says of who, when and how many.

    tf′(t, d) = tf(t, d) + Σ wₙ tf(t, neighbour n) + w tf(t, conversation)
    score(d)  = Σ weight(t) · idf(t) · tf′ (k₁ + 1) / (tf′ + k₁ (1 − b + b |d| / average))  + bonuses

After Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): BM25F, with the turns
around an entry for fields. The weights were found on LoCoMo's first five conversations (benchmarks/recall_quality.py).
"""

import math
from typing import NamedTuple, Protocol

import numpy as np
from msgspec import Struct

from memory.search.postings.documents import NONE, Documents
from memory.search.postings.growing import Column
from memory.search.postings.postings import Posting
from memory.search.ranking import bonuses
from memory.search.ranking.bonuses import Bonus
from memory.search.ranking.novelty import telling
from memory.search.ranking.question import Question, Term

K1, B = 0.9, 0.4
PREVIOUS, NEXT, SECOND = 0.3, 0.2, 0.1  # weights of the turn before, the turn after, and the ones beyond
CONVERSATION = 0.02
SHORT = 100  # terms: of a longer neighbour's words so much less bears on what stands beside it
APART = 12 * 3_600_000  # milliseconds: turns further apart than this are of two talks, and no neighbours
_LARGE = 20_000  # documents
_SPARE = 4  # times as many of a conversation are scored in full as are wanted of it
_CANDIDATES = 400  # by their own words alone; their neighbours join them, and all are scored in full


class Collection(Protocol):
    """Documents and where their terms stand."""

    @property
    def documents(self) -> Documents: ...

    def find(self, term: str) -> Posting: ...


class Corpus(Struct, frozen=True):
    """All that is searched together: how many documents, and their average length in terms."""

    documents: int
    average: float


class Allowed(Protocol):
    """Which of some documents may be found."""

    def __call__(self, documents: Documents, some: Column) -> Column: ...


class May(NamedTuple):
    """Which documents may be found, which lend their words to those beside them, and how many of one conversation are
    wanted; 0 for any number."""

    be_found: Allowed
    lend: Allowed
    each: int = 0


class Looked(NamedTuple):
    """A term of the question, where it stands, and what it is worth."""

    term: Term
    posting: Posting
    idf: float


class Ranked(Struct, frozen=True):
    """Scored documents, in no order: a row each. `parts` is a column a term of `looked`, then a column a bonus.

    `reachable` is more than any document can score. `coverage` is the share of the question's content, by the weight of
    its words, that stands in the document or beside it; for bare keywords, in the document itself.
    """

    documents: Column
    score: Column
    reachable: float
    coverage: Column
    looked: tuple[Looked, ...]
    parts: Column
    bonuses: tuple[Bonus, ...]


def look_up(question: Question, collections: tuple[Collection, ...], corpus: Corpus) -> list[tuple[Looked, ...]]:
    """The question's terms in each collection, with what they are worth in all of them together."""
    found = [[collection.find(term.term) for term in question.terms] for collection in collections]
    held = [sum(len(posting.documents) for posting in postings) for postings in zip(*found, strict=True)]
    worth = [idf(count, corpus.documents) for count in held]
    return [tuple(map(Looked, question.terms, postings, worth)) for postings in found]


def idf(held: int, documents: int) -> float:
    """What a term is worth that so many of the documents hold."""
    return math.log1p((max(documents, held) - held + 0.5) / (held + 0.5))


def rank(  # noqa: PLR0917 — all are needed, in the order of the formula
    collection: Collection, question: Question, looked: tuple[Looked, ...], corpus: Corpus, may: May, most: int
) -> Ranked:
    """The best documents of a collection, `most` of them or more, scored in full."""
    documents = collection.documents
    content, topic = set(question.content), set(question.topic)
    chosen = _candidates(documents, [each for each in looked if each.term in content], corpus, may, most)
    counts, own = _counts(documents, chosen, looked, may.lend)
    idfs = np.array([each.idf * (each.term in topic) for each in looked])
    coverage = (counts > 0) @ idfs / max(float(idfs.sum()), 1e-9)
    if question.is_keywords:
        coverage *= _own(chosen, [each.posting for each in looked])
    if not may.each:
        counts = counts + _in_conversation(documents, chosen, looked)
    short = _saturation(documents["length"][chosen], corpus)
    worth = np.array([each.term.weight * each.idf for each in looked])
    parts = worth * counts * (K1 + 1) / (counts + short[:, None])
    more = bonuses.bonuses(collection, question, chosen)
    parts = np.column_stack((parts, *(bonus.weight * bonus.share for bonus in more)))
    reachable = float(worth.sum()) * (K1 + 1) + sum(bonus.weight for bonus in more)
    parts *= telling(documents, chosen, own, question)[:, None]
    return Ranked(chosen, parts.sum(axis=1), reachable, coverage, looked, parts, more)


def _candidates(documents: Documents, content: list[Looked], corpus: Corpus, may: May, most: int) -> Column:
    """The best by their own words, and their neighbours."""
    plain = np.zeros(documents.count, "f4")
    for _, posting, worth in _telling(content, documents.count):
        where, counts = posting
        short = _saturation(documents["length"][where], corpus)
        plain[where] += worth * counts / (counts + short)
    matching = np.flatnonzero(plain)
    matching = matching[may.be_found(documents, matching)]
    if may.each:
        matching = matching[_first_of_each(documents["conversation"][matching], plain[matching], _SPARE * may.each)]
    best = matching[_highest(plain[matching], max(_CANDIDATES, most))]
    around = np.unique(np.concatenate([best, *_around(documents, best)]))
    around = around[around != NONE]
    return around[may.be_found(documents, around)]


def _first_of_each(groups: Column, scores: Column, most: int) -> Column:
    """Where the highest of each group stand, so many of it, in rising order: no group crowds out the others."""
    order = np.lexsort((-scores, groups))
    sorted_groups = groups[order]
    starts = np.searchsorted(sorted_groups, sorted_groups)
    return np.sort(order[np.arange(len(order)) - starts < most])


def _saturation(lengths: Column, corpus: Corpus) -> Column:
    """k₁ (1 − b + b |d| / average)."""
    return K1 * (1 - B) + (K1 * B / max(corpus.average, 1e-9)) * lengths


def _telling(content: list[Looked], documents: int) -> list[Looked]:
    """In a large store the terms that less than a quarter of it holds, where there are such: the others (the name of
    who speaks, mostly) choose nobody, and their postings are long. All of them count in the full score."""
    rare = [each for each in content if 0 < len(each.posting.documents) < documents / 4]
    return rare if rare and documents > _LARGE else content


def _highest(scores: Column, most: int) -> Column:
    """Where the highest stand, `most` of them or some more. (`argpartition` is slow where many are equal.)"""
    if len(scores) <= most:
        return np.arange(len(scores))
    sample = np.sort(scores[:: max(1, len(scores) // 4096)])
    wanted = int(len(sample) * (1 - 2 * most / len(scores)))
    enough = np.flatnonzero(scores >= sample[max(wanted, 0)])
    if len(enough) < most:
        enough = np.arange(len(scores))
    return enough[np.argsort(-scores[enough], kind="stable")[:most]]


def _around(documents: Documents, some: Column) -> tuple[Column, Column, Column, Column]:
    """For each document the one before, the one after, and the ones beyond; NONE where there is none."""
    before, after = _step(documents, "previous", some), _step(documents, "following", some)
    return before, after, _step(documents, "previous", before), _step(documents, "following", after)


def _step(documents: Documents, links: str, some: Column) -> Column:
    beside, times = documents[links][some], documents["time"]
    is_near = (some != NONE) & (beside != NONE) & (np.abs(times[beside] - times[some]) <= APART)
    return np.where(is_near, beside, NONE)


def _counts(documents: Documents, chosen: Column, looked: tuple[Looked, ...], lends: Allowed) -> tuple[Column, Column]:
    """Each term in each document and around it, weighted: a row a document, a column a term. And the same in the
    document alone."""
    weights = np.array([1.0, PREVIOUS, NEXT, SECOND, SECOND])
    windows = np.stack([chosen, *_around(documents, chosen)])
    needed, places = np.unique(windows, return_inverse=True)
    places = places.reshape(windows.shape)
    bearing = weights[:, None] * np.minimum(1.0, SHORT / np.maximum(documents["length"][windows], 1))
    bearing *= lends(documents, needed)[places]
    bearing[0] = 1.0
    held = [occurrences(posting, needed)[places] for _, posting, _ in looked]
    if not held:
        return np.zeros((len(chosen), 0)), np.zeros((len(chosen), 0))
    return np.column_stack([(bearing * each).sum(axis=0) for each in held]), np.column_stack([each[0] for each in held])


def _own(chosen: Column, postings: list[Posting]) -> Column:
    """1 where the document itself holds one of the terms."""
    return np.logical_or.reduce([occurrences(posting, chosen) > 0 for posting in postings]).astype("f8")


def occurrences(posting: Posting, some: Column) -> Column:
    """How often the term stands in each of some documents, which are in rising order."""
    if not len(posting.documents):
        return np.zeros(len(some))
    at = np.minimum(np.searchsorted(posting.documents, some), len(posting.documents) - 1)
    return np.where(posting.documents[at] == some, posting.counts[at], 0).astype("f8")


def _in_conversation(documents: Documents, chosen: Column, looked: tuple[Looked, ...]) -> Column:
    """What a term's occurrences in the whole conversation add; nothing for words that say little."""
    everywhere = documents["conversation"]
    added = np.zeros((len(chosen), len(looked)))
    for place, (term, posting, _) in enumerate(looked):
        if not term.weak and len(posting.documents) and len(chosen):
            held = np.bincount(everywhere[posting.documents], posting.counts, int(everywhere[chosen].max()) + 1)
            added[:, place] = CONVERSATION * held[everywhere[chosen]]
    return added
