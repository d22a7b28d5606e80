"""What an entry tells beyond the question: one that only asks it again, or only names its subject, is no answer.

    score × (1 − COST · repeats)        repeats(d) = 1 / (1 + new words(d) / few)

An entry that asks nothing is judged so only where the question asks: a quotation that is looked up is found by the
entry that says just that. An entry with none of the question's words is known by its neighbours alone, and counts as
repeating half. The weights were found on LoCoMo's first five conversations.
"""

import numpy as np

from memory.search.postings.documents import Documents
from memory.search.postings.growing import Column
from memory.search.ranking.question import Question, named
from memory.search.words.analyse import words

COST = 0.6  # the share of the score that an entry loses which tells nothing new
FEW_ASKING, FEW_SAYING = 2.0, 0.5  # new words that halve the cost, for an entry with a question word and for others
SILENT = 0.5


def telling(documents: Documents, chosen: Column, held: Column, question: Question) -> Column:
    """What each document's score is multiplied by. `held`: how often it holds each of the question's terms itself."""
    content = set(question.content)
    said = held @ np.array([term in content for term in question.terms], "f8")
    new = np.maximum(documents["says"][chosen] - said + _names(documents, chosen, question), 0)
    asks = documents["asks"][chosen] == 1
    repeats = np.where(asks, 1 / (1 + new / FEW_ASKING), question.asks / (1 + new / FEW_SAYING))
    return 1 - COST * np.where(said > 0, repeats, SILENT)


def _names(documents: Documents, chosen: Column, question: Question) -> Column:
    """How many of the question's words each document holds as its speaker's name: `says` does not count them."""
    speaker = named(question, documents.speakers)
    asked = {term.term for term in question.content}
    held = sum(word in asked for word in words(speaker)) if speaker else 0
    return held * (documents["speaker"][chosen] == documents.code(speaker))
