"""Likelihood that some hit answers the question.

    p = 1 / (1 + exp(−(1.6 best + 3.0 coverage − 67 other − 1.6 unsaid − 1.1)))

`best` is the best score as a share of its bound; `coverage` the largest share of the question's content in one
document; `other` the lead of other speakers' entries over those of the speaker that the question names; `unsaid` the
share of its content that no entry holds. All without the embedder's part. A logistic regression over LoCoMo's first
five conversations (its adversarial questions, and questions of other conversations) and a person's chats: of a hundred
questions to which it gives 0.8, some 85 have an answer.
"""

import math
from collections.abc import Sequence

import numpy as np

from memory.search.ranking.bm25 import Collection, RankedDocuments, RankingQuery
from memory.search.ranking.bonuses import SPEAKER
from memory.search.ranking.lookup import TermPostings
from memory.search.ranking.novelty import COST

BEST, COVERAGE, OTHER, UNSAID, AGAINST = 1.57, 2.99, 66.65, 1.58, 1.14
TOGETHER = 0.5  # of the keywords, by weight, in one document
SPOKEN_OF, SURE_COSINE = 0.18, 0.5  # below this coverage, from this cosine on, the embedder decides


def likelihood(
    ranking_query: RankingQuery,
    collections: Sequence[Collection],
    postings_by_term: Sequence[tuple[TermPostings, ...]],
    ranked: Sequence[RankedDocuments],
) -> float:
    """From 0 to 1; 1 for keywords most of which are in one document."""
    non_empty = [part for part in ranked if len(part.documents)]
    if not non_empty:
        return 0.0
    coverage = max(float(part.coverage.max()) for part in non_empty)
    cosine = max(float(np.nan_to_num(part.cosine).max()) for part in non_empty)
    unsaid = _unsaid_share(postings_by_term)
    if ranking_query.question.is_keywords and coverage >= TOGETHER and not unsaid:
        return 1.0
    if coverage < SPOKEN_OF and cosine >= SURE_COSINE:
        return cosine
    best = max(float(part.by_words.max()) for part in non_empty)
    other = max(
        0.0,
        *(
            _other_speakers_lead(ranking_query, collection, part)
            for collection, part in zip(collections, ranked, strict=True)
        ),
    )
    logit = BEST * best + COVERAGE * coverage - OTHER * other - UNSAID * unsaid - AGAINST
    return 1 / (1 + math.exp(-max(logit, -50.0)))


def _other_speakers_lead(ranking_query: RankingQuery, collection: Collection, ranked: RankedDocuments) -> float:
    """Lead of other speakers; 0 where the question names no speaker, and below 0 where the named one answers best."""
    if not ranking_query.named_speakers.one or not len(ranked.documents):
        return 0.0
    documents = collection.documents
    is_named = documents["speaker"][ranked.documents] == documents.code(ranking_query.named_speakers.one)
    if not is_named.any() or is_named.all():
        return 0.0
    score = ranked.by_words - is_named * SPEAKER * (1 - COST * 2 / 3) / ranked.reachable_by_words
    return float(score[~is_named].max() - score[is_named].max())


def _unsaid_share(postings_by_term: Sequence[tuple[TermPostings, ...]]) -> float:
    strong = [columns for columns in zip(*postings_by_term, strict=True) if not columns[0].term.weak]
    total = sum(columns[0].idf for columns in strong)
    unsaid = sum(
        columns[0].idf for columns in strong if not any(len(postings.posting.documents) for postings in columns)
    )
    return unsaid / total if total else 0.0
