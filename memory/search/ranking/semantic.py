"""The embedder's part of the ranking: the nearest documents, and the cosines of each and of the turns beside it."""

import numpy as np

from memory.search.column import Column
from memory.search.index.documents import NONE, Documents
from memory.search.ranking.candidates import CandidateFilter
from memory.search.ranking.question import Question
from memory.search.vectors.similarity import Similarity

WEIGHT = 8.0  # of a cosine of 1, in the units of BM25
BESIDE = 0.3  # weight of the turn before and the one after, relative to the entry's own
NEAREST = 200  # candidates by their cosine alone
MOST = WEIGHT * (1 + 2 * BESIDE)


def nearest(documents: Documents, nearness: Similarity, may: CandidateFilter, most: int) -> Column:
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


def worth(
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
        return WEIGHT * own
    before, after = (cosines(documents, nearness, neighbour_cosines) for neighbour_cosines in neighbours[:2])
    return WEIGHT * (
        own
        + sum(
            BESIDE * np.where(np.isnan(neighbour_cosines), own, neighbour_cosines)
            for neighbour_cosines in (before, after)
        )
    )
