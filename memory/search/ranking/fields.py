"""An entry's fields: its own words, those of the turns around it, and those of the whole talk that it stands in."""

from typing import NamedTuple, Protocol

import numpy as np

from memory.search.column import Column
from memory.search.index.documents import APART_MS, NONE, Documents
from memory.search.ranking.lookup import CorpusStatistics, TermPostings, idf, soft_counts
from memory.search.ranking.question import Question

K1, B = 0.35, 0.2
LONG_K1 = 0.6  # of a long passage, where a word's second occurrence says more than in a turn
TURN, DOCUMENT = 50, 350  # terms: what is no longer than the former is a turn, from the latter on a document
PREVIOUS, NEXT, BEFORE, AFTER, FAR = 0.4, 0.2, 0.15, 0.1, 0.1  # of the turns around: −1, +1, −2, +2, −3
SHORT = 100  # terms: of a longer neighbour's words so much less bears on what stands beside it
ALONE = 60  # terms: what is longer needs so much less of what stands around it
TALK, TALK_K, TALK_B = 0.5, 1.0, 0.75

NeighbourColumns = tuple[Column, Column, Column, Column, Column]


def saturation(lengths: Column, corpus: CorpusStatistics, question: Question) -> Column:
    """k₁ (1 − b + b |d| / average), where k₁ grows with the length."""
    k1 = _k1(lengths) if question.uses("lengths") else K1
    return k1 * (1 - B + B / max(corpus.average, 1e-9) * lengths)


def _k1(lengths: Column) -> Column:
    return K1 + (LONG_K1 - K1) * np.clip((lengths - TURN) / (DOCUMENT - TURN), 0.0, 1.0)


def around(documents: Documents, some: Column) -> NeighbourColumns:
    """For each document the turns around it, in the order of the weights; NONE where there is none."""
    before, after = _step(documents, "previous", some), _step(documents, "following", some)
    second = _step(documents, "previous", before)
    return before, after, second, _step(documents, "following", after), _step(documents, "previous", second)


def _step(documents: Documents, links: str, some: Column) -> Column:
    beside, times = documents[links][some], documents["time"]
    is_near = (some != NONE) & (beside != NONE) & (np.abs(times[beside] - times[some]) <= APART_MS)
    return np.where(is_near, beside, NONE)


class DocumentFilter(Protocol):
    """Which of some documents may be found, or may lend their words."""

    def __call__(self, documents: Documents, some: Column) -> Column: ...


class TermCounts(NamedTuple):
    """How often each term stands in each document itself, and there and around it, weighted: a row a document, a
    column a term."""

    own: Column
    all: Column


class NeighbourWeights(NamedTuple):
    """Documents and the turns around them, and how much each of those bears on it."""

    needed: Column  # all of them, once (i4)
    places: Column  # in `needed`: a row a distance, a column a document
    bearing: Column  # the same shape; the first row is the document itself


def lending(
    documents: Documents, chosen: Column, question: Question, lend: DocumentFilter, neighbours: NeighbourColumns
) -> NeighbourWeights:
    """What stands around each of the chosen, and what it lends."""
    weights = np.array([1.0, PREVIOUS, NEXT, BEFORE, AFTER, FAR])
    if not question.uses("neighbours"):
        weights[1:] = 0
    windows = np.stack([chosen, *neighbours])
    needed, places = np.unique(windows, return_inverse=True)
    places = places.reshape(windows.shape)
    bearing = weights[:, None] * np.minimum(1.0, SHORT / np.maximum(documents["length"][windows], 1))
    bearing *= np.minimum(1.0, ALONE / np.maximum(documents["length"][chosen], 1))
    bearing *= (windows != NONE) & lend(documents, needed)[places]
    bearing[0] = 1.0
    return NeighbourWeights(needed.astype("i4"), places, bearing)


def counted(looked: tuple[TermPostings, ...], lent: NeighbourWeights) -> TermCounts:
    """A row a document, a column a term."""
    if not looked:
        nothing = np.zeros((lent.places.shape[1], 0))
        return TermCounts(nothing, nothing)
    held = [soft_counts(each, lent.needed)[lent.places] for each in looked]
    return TermCounts(
        np.column_stack([each[0] for each in held]),
        np.column_stack([(lent.bearing * each).sum(axis=0) for each in held]),
    )


def talk_scores(documents: Documents, chosen: Column, looked: tuple[TermPostings, ...], own: Column) -> Column:
    """What the talk that each document stands in says of these terms: BM25 with the talks for documents.

    `own`: how often each document holds each of them itself. A long document is, so far as it is long, its own talk.
    """
    scores = np.zeros(len(chosen))
    lengths = documents.talk_lengths
    talks = int(np.count_nonzero(lengths))
    if talks < 2 or not len(chosen):
        return scores
    talk, length = documents["talk"], documents["length"][chosen]
    ours = talk[chosen]
    shared = np.minimum(1.0, ALONE / np.maximum(length, 1))
    size = length + shared * (lengths[ours] - length)
    shape = TALK_K * (1 - TALK_B + TALK_B * size / (lengths.sum() / talks))
    for place, each in enumerate(looked):
        held = np.bincount(talk[each.posting.documents], each.posting.counts, len(lengths)).astype("f8")
        for posting, worth in each.kin:
            held += worth * np.bincount(talk[posting.documents], minlength=len(lengths))
        worth = idf(int(np.count_nonzero(held)), talks)
        here = own[:, place] + shared * (held[ours] - own[:, place])
        scores += worth * 2 * here / (here + shape)
    return TALK * scores
