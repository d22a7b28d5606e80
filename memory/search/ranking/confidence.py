"""How likely it is that anything found answers the question.

    p = 1 / (1 + exp(−(1.6 best + 3.0 coverage − 67 other − 1.6 unsaid − 1.1)))

`best` is the best score, of what could be reached; `coverage` the most of the question's content in one place; `other`
by how much somebody else's words answer better than those of the one whom the question names; `unsaid` the share of its
content that nobody ever said. All without an embedder's part. A logistic regression over LoCoMo's first five
conversations (its adversarial questions, and questions of other conversations) and a person's chats: of a hundred
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
TOGETHER = 0.5  # of the words that are looked up, by weight
SPOKEN_OF, SURE_COSINE = 0.18, 0.5  # where hardly a word of it was said, an embedder that sees an answer is believed


def likelihood(
    asking: RankingQuery,
    collections: Sequence[Collection],
    looked: Sequence[tuple[TermPostings, ...]],
    ranked: Sequence[RankedDocuments],
) -> float:
    """From 0 to 1; for words that are looked up, and stand in one place for the most part, 1."""
    found = [each for each in ranked if len(each.documents)]
    if not found:
        return 0.0
    coverage = max(float(each.coverage.max()) for each in found)
    cosine = max(float(np.nan_to_num(each.cosine).max()) for each in found)
    unsaid = _unsaid(looked)
    if asking.question.is_keywords and coverage >= TOGETHER and not unsaid:
        return 1.0
    if coverage < SPOKEN_OF and cosine >= SURE_COSINE:
        return cosine
    best = max(float(each.by_words.max()) for each in found)
    other = max(0.0, *(_other(asking, collection, each) for collection, each in zip(collections, ranked, strict=True)))
    worth = BEST * best + COVERAGE * coverage - OTHER * other - UNSAID * unsaid - AGAINST
    return 1 / (1 + math.exp(-max(worth, -50.0)))


def _other(asking: RankingQuery, collection: Collection, ranked: RankedDocuments) -> float:
    """0 where the question names nobody, or whom it names answers best."""
    if not asking.called.one or not len(ranked.documents):
        return 0.0
    documents = collection.documents
    theirs = documents["speaker"][ranked.documents] == documents.code(asking.called.one)
    if not theirs.any() or theirs.all():
        return 0.0
    score = ranked.by_words - theirs * SPEAKER * (1 - COST * 2 / 3) / ranked.reachable_by_words
    return float(score[~theirs].max() - score[theirs].max())


def _unsaid(looked: Sequence[tuple[TermPostings, ...]]) -> float:
    strong = [columns for columns in zip(*looked, strict=True) if not columns[0].term.weak]
    total = sum(columns[0].idf for columns in strong)
    unsaid = sum(columns[0].idf for columns in strong if not any(len(each.posting.documents) for each in columns))
    return unsaid / total if total else 0.0
