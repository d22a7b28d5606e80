"""Novelty: an entry that only repeats the question, or only names its subject, is no answer.

    score × (1 − COST · repeats)        repeats(d) = 1 / (1 + new words(d) / few)

The cost applies to an entry without a question word only where the query is a question: a quotation is searched for the
entry that holds just it. An entry with none of the question's terms matched by its neighbours alone, and counts as
repeating over half.
"""

import numpy as np

from memory.search.column import Column
from memory.search.index.documents import Documents
from memory.search.ranking.question import NamedSpeakers, Question

COST, COST_ASKING = 0.45, 0.65  # share of the score that an entry without new terms loses; one that only asks
FEW_ASKING, FEW_SAYING = 2.0, 0.25  # new terms that halve the cost, for an entry with a question word and for others
SILENT = 0.6


def novelty_factors(
    documents: Documents, chosen: Column, held: Column, question: Question, named_speakers: NamedSpeakers
) -> Column:
    """Factor of each document's score. `held`: how often it holds each of the question's terms itself."""
    content = set(question.content)
    repeated = held @ np.array([term in content for term in question.terms], "f8")
    new_terms = np.maximum(
        documents["says"][chosen] - repeated + _names(documents, chosen, question, named_speakers), 0
    )
    asks = documents["asks"][chosen] == 1
    repeats = np.where(asks, 1 / (1 + new_terms / FEW_ASKING), question.asks / (1 + new_terms / FEW_SAYING))
    cost = np.where(asks & (repeated > 0), COST_ASKING, COST)
    return 1 - cost * np.where(repeated > 0, repeats, SILENT)


def _names(documents: Documents, chosen: Column, question: Question, named_speakers: NamedSpeakers) -> Column:
    """Number of the question's terms that are each document's speaker's name: `says` does not count them."""
    if not named_speakers.one:
        return np.zeros(len(chosen))
    held = sum(term.term in named_speakers.terms for term in question.content)
    return held * (documents["speaker"][chosen] == documents.code(named_speakers.one))
