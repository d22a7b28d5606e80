"""What an embedder adds: documents near the question in meaning, and how near each is, and the turns beside it."""

import numpy as np

from memory.search.column import Column
from memory.search.index.documents import NONE, Documents
from memory.search.ranking.candidates import CandidateFilter
from memory.search.ranking.question import Question
from memory.search.vectors.similarity import Similarity

WEIGHT = 8.0  # what a cosine of 1 is worth, in the units of BM25
BESIDE = 0.3  # what the turn before and the one after are worth beside the entry's own
NEAREST = 200  # looked at by their meaning alone
MOST = WEIGHT * (1 + 2 * BESIDE)


def nearest(documents: Documents, nearness: Similarity, may: CandidateFilter, most: int) -> Column:
    """The documents nearest to the question, of those that may be found (i4, in rising order)."""

    def allowed(entries: Column) -> Column:
        rows = documents.rows_of(entries)
        found = rows != NONE
        found[found] = may.be_found(documents, rows[found])
        return found

    entries, _ = nearness.nearest(max(NEAREST, most), allowed)
    rows = documents.rows_of(entries)
    return np.sort(rows[rows != NONE]).astype("i4")


def cosines(documents: Documents, nearness: Similarity, some: Column) -> Column:
    """Of each document; NaN where it has no vector, or is none."""
    found = np.full(len(some), np.nan)
    real = np.flatnonzero(some != NONE)
    found[real] = nearness.of(documents["entry"][some[real]])
    return found


def worth(
    documents: Documents,
    nearness: Similarity | None,
    cosine: Column,
    neighbours: tuple[Column, ...],
    question: Question,
) -> Column:
    """In the units of BM25. What has no vector yet is worth what the others are on average."""
    if nearness is None or not question.uses("vectors") or np.isnan(cosine).all():
        return np.zeros(len(cosine))
    own = np.where(np.isnan(cosine), np.nanmean(cosine), cosine)
    if not question.uses("vectors-beside"):
        return WEIGHT * own
    before, after = (cosines(documents, nearness, beside) for beside in neighbours[:2])
    return WEIGHT * (own + sum(BESIDE * np.where(np.isnan(beside), own, beside) for beside in (before, after)))
