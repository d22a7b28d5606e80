"""What an entry tells beyond the question: one that only asks it again, or only names its subject, is no answer.

    score × (1 − COST · repeats)        repeats(d) = 1 / (1 + new words(d) / few)

An entry that asks nothing is judged so only where the question asks: a quotation that is looked up is found by the
entry that says just that. An entry with none of the question's words is known by its neighbours alone, and counts as
repeating over half.
"""

import numpy as np

from memory.search.column import Column
from memory.search.index.documents import Documents
from memory.search.ranking.question import NamedSpeakers, Question

COST, COST_ASKING = 0.45, 0.65  # the share of the score that an entry loses which tells nothing new; that only asks
FEW_ASKING, FEW_SAYING = 2.0, 0.25  # new words that halve the cost, for an entry with a question word and for others
SILENT = 0.6


def telling(documents: Documents, chosen: Column, held: Column, question: Question, called: NamedSpeakers) -> Column:
    """What each document's score is multiplied by. `held`: how often it holds each of the question's terms itself."""
    content = set(question.content)
    said = held @ np.array([term in content for term in question.terms], "f8")
    new = np.maximum(documents["says"][chosen] - said + _names(documents, chosen, question, called), 0)
    asks = documents["asks"][chosen] == 1
    repeats = np.where(asks, 1 / (1 + new / FEW_ASKING), question.asks / (1 + new / FEW_SAYING))
    cost = np.where(asks & (said > 0), COST_ASKING, COST)
    return 1 - cost * np.where(said > 0, repeats, SILENT)


def _names(documents: Documents, chosen: Column, question: Question, called: NamedSpeakers) -> Column:
    """How many of the question's words each document holds as its speaker's name: `says` does not count them."""
    if not called.one:
        return np.zeros(len(chosen))
    held = sum(term.term in called.terms for term in question.content)
    return held * (documents["speaker"][chosen] == documents.code(called.one))
