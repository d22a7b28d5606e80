"""Looking a question's words up: where each stands, where its kindred stand, and what each is worth."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from msgspec import Struct

from foundation.text.synonyms import synonyms_of
from memory.search.column import Column
from memory.search.index.documents import Documents
from memory.search.index.postings import Posting
from memory.search.ranking.question import QueryTerm, Question

KIN = 0.25  # what the nearest word to a word is worth beside it
MOST_KIN, FEW_KIN = 20, 10  # so many are looked up, in a large store the latter
_LARGE = 100_000  # documents


class Collection(Protocol):
    """Documents and where their terms stand."""

    @property
    def documents(self) -> Documents: ...

    def find(self, term: str) -> Posting: ...


class CorpusStatistics(Struct, frozen=True):
    """All that is searched together: how many documents, and their average length in terms."""

    documents: int
    average: float


class RelatedPosting(NamedTuple):
    """Where a kindred word stands, and what it is worth beside the question's own: less than KIN."""

    posting: Posting
    worth: float


class TermPostings(NamedTuple):
    """A term of the question, where it and its kindred stand, and what it is worth by how few documents hold it."""

    term: QueryTerm
    posting: Posting
    kin: tuple[RelatedPosting, ...]
    idf: float


def look_up(
    question: Question, collections: Sequence[Collection], corpus: CorpusStatistics, names: frozenset[str]
) -> list[tuple[TermPostings, ...]]:
    """The question's terms in each collection, with what they are worth in all of them together."""
    columns = [_looked(question, term, collections, corpus, names) for term in question.terms]
    return [tuple(column[place] for column in columns) for place in range(len(collections))]


def _looked(
    question: Question,
    term: QueryTerm,
    collections: Sequence[Collection],
    corpus: CorpusStatistics,
    names: frozenset[str],
) -> list[TermPostings]:
    found = [_of_any(collection, (term.term, *term.also)) for collection in collections]
    held = sum(len(posting.documents) for posting in found)
    near: list[list[RelatedPosting]] = [[] for _ in collections]
    if question.uses("kindred") and not term.weak and not term.dated and term.term not in names:
        near_it = synonyms_of(term.term)[: FEW_KIN if corpus.documents > _LARGE else MOST_KIN]
        kin = [(share, [each.find(name) for each in collections]) for name, share in near_it]
        holding = [sum(len(posting.documents) for posting in postings) for _, postings in kin]
        if not held:  # nobody says it: it is known by its kindred alone
            held = min(sum(holding), corpus.documents)
        worth = idf(held, corpus.documents)
        for (share, postings), count in zip(kin, holding, strict=True):
            beside = KIN * share * min(1.0, idf(count, corpus.documents) / worth)
            for some, posting in zip(near, postings, strict=True):
                if len(posting.documents):
                    some.append(RelatedPosting(posting, beside))
    worth = idf(held, corpus.documents)
    return [TermPostings(term, posting, tuple(some), worth) for posting, some in zip(found, near, strict=True)]


def idf(held: int, documents: int) -> float:
    """What a term is worth that so many of the documents hold."""
    return math.log1p((max(documents, held) - held + 0.5) / (held + 0.5))


def _of_any(collection: Collection, terms: tuple[str, ...]) -> Posting:
    """The documents with any of the terms."""
    found = [collection.find(term) for term in terms]
    found = [posting for posting in found if len(posting.documents)] or found[:1]
    if len(found) == 1:
        return found[0]
    documents, places = np.unique(np.concatenate([each.documents for each in found]), return_inverse=True)
    counts = np.bincount(places, np.concatenate([each.counts for each in found]))
    return Posting(documents, np.minimum(counts, 255).astype("u1"))


def soft_counts(looked: TermPostings, some: Column) -> Column:
    """How often the term stands in each of some documents (i4, in rising order); its kindred count for a part, once."""
    counts = occurrences(looked.posting, some)
    for posting, worth in looked.kin:
        counts += worth * (occurrences(posting, some) > 0)
    return counts


def occurrences(posting: Posting, some: Column) -> Column:
    """How often the term stands in each of some documents, which are in rising order."""
    if not len(posting.documents):
        return np.zeros(len(some))
    at = np.minimum(np.searchsorted(posting.documents, some), len(posting.documents) - 1)
    return np.where(posting.documents[at] == some, posting.counts[at], 0).astype("f8")
