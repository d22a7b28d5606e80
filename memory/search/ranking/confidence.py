"""Likelihood that some hit answers the question.

    logit p = 3.4 coverage − 1.3 unsaid − 1.3 silent + 3.8 unspaced − (5.2 − 4.9 coverage) long
              − 6.7 of_others − 36 lead − 1.1

`coverage` is the largest share of the question's content in one document and the turns around it; `unsaid` the share of
its content that no entry holds, and `silent` 1 where that is all of it (synonyms alone are held); `unspaced` 1 for a
question in a script without spaces, whose terms overlap; `long` from 0 to 1 the length of that document, which holds
terms by chance. Where the question names one speaker: `of_others` is by how much more of the content others say of
themselves (“I”, “my”) in one entry than the named speaker does, and `lead` the lead of other speakers' entries by
score. All without the embedder's part. A logistic regression over answerable and unanswerable questions to stores of 5,
50, 500 and 2,800 entries, with and without speakers' names, and in Chinese; docs/benchmarks.md has the figures.
"""

import math
from collections.abc import Sequence

import numpy as np

from foundation.text.folding import is_unspaced
from memory.search.index.documents import Documents
from memory.search.ranking.bm25 import Collection, RankedDocuments, RankingQuery
from memory.search.ranking.bonuses import OF_ONESELF, SPEAKER, in_first_person
from memory.search.ranking.fields import document_share
from memory.search.ranking.lookup import TermPostings
from memory.search.ranking.novelty import COST

COVERAGE, UNSAID, SILENT, UNSPACED, LONG, LONG_COVERED = 3.39, 1.27, 1.3, 3.75, 5.17, 4.94
OF_OTHERS, LEAD, AGAINST = 6.7, 35.56, 1.15
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
    coverage, length = max(_best_covered(*pair) for pair in zip(collections, ranked, strict=True))
    cosine = max(float(np.nan_to_num(part.cosine).max()) for part in non_empty)
    unsaid = _unsaid_share(postings_by_term)
    if ranking_query.question.is_keywords and coverage >= TOGETHER and not unsaid:
        return 1.0
    if coverage < SPOKEN_OF and cosine >= SURE_COSINE:
        return cosine
    of_others, lead = _other_speakers(ranking_query, collections, ranked)
    unspaced = any(is_unspaced(term.term[:1]) for term in ranking_query.question.content)
    long = float(document_share(np.array(length)))
    logit = COVERAGE * coverage - UNSAID * unsaid - SILENT * (unsaid == 1) + UNSPACED * unspaced - AGAINST
    logit -= (LONG - LONG_COVERED * coverage) * long + OF_OTHERS * of_others + LEAD * lead
    return 1 / (1 + math.exp(-max(logit, -50.0)))


def _best_covered(collection: Collection, ranked: RankedDocuments) -> tuple[float, int]:
    """Coverage and length, in terms, of the document that holds the largest share of the question."""
    if not len(ranked.documents):
        return 0.0, 0
    best = int(ranked.coverage.argmax())
    return float(ranked.coverage[best]), int(collection.documents["length"][ranked.documents[best]])


def _other_speakers(
    ranking_query: RankingQuery, collections: Sequence[Collection], ranked: Sequence[RankedDocuments]
) -> tuple[float, float]:
    """By how much others say more of it of themselves, and lead by score; 0 where the question names no speaker."""
    name = ranking_query.named_speakers.one
    of_others, lead = 0.0, 0.0
    for collection, part in zip(collections, ranked, strict=True):
        documents: Documents = collection.documents
        is_named = documents["speaker"][part.documents] == documents.code(name)
        if not name or not is_named.any() or is_named.all():
            continue
        of_oneself = in_first_person(collection, part.documents)
        own = part.own_coverage * of_oneself
        of_others = max(of_others, float(own[~is_named].max() - own[is_named].max()))
        bonus = (SPEAKER + OF_ONESELF * of_oneself) * (1 - COST * 2 / 3) / part.reachable_by_words
        score = part.by_words - is_named * bonus
        lead = max(lead, float(score[~is_named].max() - score[is_named].max()))
    return of_others, lead


def _unsaid_share(postings_by_term: Sequence[tuple[TermPostings, ...]]) -> float:
    strong = [columns for columns in zip(*postings_by_term, strict=True) if not columns[0].term.weak]
    total = sum(columns[0].idf for columns in strong)
    unsaid = sum(
        columns[0].idf for columns in strong if not any(len(postings.posting.documents) for postings in columns)
    )
    return unsaid / total if total else 0.0
