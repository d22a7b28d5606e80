"""Fields of an entry: its own terms, those of the turns around it, and those of its whole talk."""

from typing import NamedTuple, Protocol

import numpy as np

from memory.search.column import Column
from memory.search.index.documents import APART_MS, NONE, Documents
from memory.search.ranking.lookup import CorpusStatistics, TermPostings, idf, soft_counts
from memory.search.ranking.question import Question

K1, B = 0.35, 0.2
LONG_K1 = 0.6  # of a long passage, where the second occurrence of a term says more than in a turn
TURN, DOCUMENT = 50, 350  # terms: up to the former an entry counts as a turn, from the latter on as a document
PREVIOUS, NEXT, BEFORE, AFTER, FAR = 0.4, 0.2, 0.15, 0.1, 0.1  # weights of the turns −1, +1, −2, +2, −3
SHORT = 100  # terms: the weight of a longer neighbour falls with its length
ALONE = 60  # terms: the weight of all neighbours falls with the length of a longer entry
TALK, TALK_K, TALK_B = 0.5, 1.0, 0.75

NeighbourColumns = tuple[Column, Column, Column, Column, Column]


def saturation(lengths: Column, corpus: CorpusStatistics, question: Question) -> Column:
    """k₁ (1 − b + b |d| / average), where k₁ grows with the length."""
    k1 = _k1(lengths) if question.uses("lengths") else K1
    return k1 * (1 - B + B / max(corpus.average, 1e-9) * lengths)


def _k1(lengths: Column) -> Column:
    return K1 + (LONG_K1 - K1) * document_share(lengths)


def document_share(lengths: Column) -> Column:
    """From 0 for a turn to 1 for a document."""
    return np.clip((lengths - TURN) / (DOCUMENT - TURN), 0.0, 1.0)


def around(documents: Documents, rows: Column) -> NeighbourColumns:
    """The turns around each document, in the order of the weights; NONE where there is none."""
    before, after = _step(documents, "previous", rows), _step(documents, "following", rows)
    second = _step(documents, "previous", before)
    return before, after, second, _step(documents, "following", after), _step(documents, "previous", second)


def _step(documents: Documents, links: str, rows: Column) -> Column:
    neighbours, times = documents[links][rows], documents["time"]
    is_near = (rows != NONE) & (neighbours != NONE) & (np.abs(times[neighbours] - times[rows]) <= APART_MS)
    return np.where(is_near, neighbours, NONE)


class DocumentFilter(Protocol):
    """Selects documents: those that may be found, or whose terms count for their neighbours."""

    def __call__(self, documents: Documents, rows: Column) -> Column: ...


class TermCounts(NamedTuple):
    """Occurrences of each term in each document itself, and weighted in it and around it: a row per document, a column
    per term."""

    own: Column
    all: Column


class NeighbourWeights(NamedTuple):
    """Documents and the turns around them, with the weight of each turn."""

    needed: Column  # all of them, once (i4)
    places: Column  # in `needed`: a row a distance, a column a document
    bearing: Column  # the same shape; the first row is the document itself


def neighbour_weights(
    documents: Documents, chosen: Column, question: Question, lend: DocumentFilter, neighbours: NeighbourColumns
) -> NeighbourWeights:
    """Weights of the turns around each candidate."""
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


def term_counts(postings_by_term: tuple[TermPostings, ...], lent: NeighbourWeights) -> TermCounts:
    """Counts of the terms: a row per document, a column per term."""
    if not postings_by_term:
        empty = np.zeros((lent.places.shape[1], 0))
        return TermCounts(empty, empty)
    counts_by_term = [soft_counts(counts, lent.needed)[lent.places] for counts in postings_by_term]
    return TermCounts(
        np.column_stack([counts[0] for counts in counts_by_term]),
        np.column_stack([(lent.bearing * counts).sum(axis=0) for counts in counts_by_term]),
    )


def talk_scores(
    documents: Documents, chosen: Column, postings_by_term: tuple[TermPostings, ...], own: Column
) -> Column:
    """Score of each document's talk for these terms: BM25 with the talks for documents.

    `own`: how often each document holds each term itself. The longer a document, the more it counts as its own talk.
    """
    scores = np.zeros(len(chosen))
    lengths = documents.talk_lengths
    talks = int(np.count_nonzero(lengths))
    if talks < 2 or not len(chosen):
        return scores
    talk, length = documents["talk"], documents["length"][chosen]
    talk_of_candidate = talk[chosen]
    shared = np.minimum(1.0, ALONE / np.maximum(length, 1))
    size = length + shared * (lengths[talk_of_candidate] - length)
    shape = TALK_K * (1 - TALK_B + TALK_B * size / (lengths.sum() / talks))
    for index, term_postings in enumerate(postings_by_term):
        counts = np.bincount(talk[term_postings.posting.documents], term_postings.posting.counts, len(lengths)).astype(
            "f8"
        )
        for posting, weight in term_postings.synonyms:
            counts += weight * np.bincount(talk[posting.documents], minlength=len(lengths))
        weight = idf(int(np.count_nonzero(counts)), talks)
        count = own[:, index] + shared * (counts[talk_of_candidate] - own[:, index])
        scores += weight * 2 * count / (count + shape)
    return TALK * scores
