"""Lookup of a question's terms: their postings, those of their synonyms, and their weights."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from msgspec import Struct

from foundation.text.folding import is_unspaced
from foundation.text.stopwords import is_weak
from foundation.text.synonyms import Synonym, synonyms_of
from memory.search.column import Column
from memory.search.index.documents import Documents
from memory.search.index.postings import Posting
from memory.search.ranking.question import QueryTerm, Question

SYNONYM_WEIGHT = 0.25  # weight of the nearest synonym of a term
MAX_SYNONYMS, MAX_SYNONYMS_IN_LARGE_STORE = 20, 10  # synonyms that are looked up; the latter in a large store
_LARGE = 100_000  # documents
_HALF = 0.5  # likeness of a pair of characters to each of the two, where no document holds the pair
BACKGROUND = 100  # documents without the term, added to the store: in a new store a term of one entry is rare too


class Collection(Protocol):
    """Documents and their postings."""

    @property
    def documents(self) -> Documents: ...

    def find(self, term: str) -> Posting: ...


class CorpusStatistics(Struct, frozen=True):
    """Number of documents in all collections of a search, and their average length in terms."""

    documents: int
    average: float


class SynonymPosting(NamedTuple):
    """Postings of a synonym, and its weight relative to the question's own term: less than SYNONYM_WEIGHT."""

    posting: Posting
    weight: float


class TermPostings(NamedTuple):
    """A term of the question, its postings and those of its synonyms, and its inverse document frequency."""

    term: QueryTerm
    posting: Posting
    synonyms: tuple[SynonymPosting, ...]
    idf: float


def look_up(
    question: Question, collections: Sequence[Collection], corpus: CorpusStatistics, names: frozenset[str]
) -> list[tuple[TermPostings, ...]]:
    """Looks the question's terms up in each collection; their weights are those of all collections together."""
    columns = [_term_postings(question, term, collections, corpus, names) for term in question.terms]
    return [tuple(column[index] for column in columns) for index in range(len(collections))]


def _term_postings(
    question: Question,
    term: QueryTerm,
    collections: Sequence[Collection],
    corpus: CorpusStatistics,
    names: frozenset[str],
) -> list[TermPostings]:
    documents = corpus.documents + BACKGROUND
    postings_by_collection = [_of_any(collection, (term.term, *term.also)) for collection in collections]
    held = sum(len(posting.documents) for posting in postings_by_collection)
    synonyms_by_collection: list[list[SynonymPosting]] = [[] for _ in collections]
    if question.uses("synonyms") and not term.weak and not term.dated and term.term not in names:
        synonyms = (*synonyms_of(term.term), *(() if held else _characters(term.term)))
        synonyms = synonyms[: MAX_SYNONYMS_IN_LARGE_STORE if corpus.documents > _LARGE else MAX_SYNONYMS]
        synonym_postings = [(share, [source.find(name) for source in collections]) for name, share in synonyms]
        holding = [sum(len(posting.documents) for posting in by_collection) for _, by_collection in synonym_postings]
        if not held:  # no document holds it: its synonyms alone count
            held = min(sum(holding), corpus.documents)
        weight_of_term = idf(held, documents)
        for (share, by_collection), count in zip(synonym_postings, holding, strict=True):
            weight = SYNONYM_WEIGHT * share * min(1.0, idf(count, documents) / weight_of_term)
            for synonyms_here, posting in zip(synonyms_by_collection, by_collection, strict=True):
                if len(posting.documents):
                    synonyms_here.append(SynonymPosting(posting, weight))
    weight_of_term = idf(held, documents)
    return [
        TermPostings(term, posting, tuple(synonyms_here), weight_of_term)
        for posting, synonyms_here in zip(postings_by_collection, synonyms_by_collection, strict=True)
    ]


def _characters(term: str) -> tuple[Synonym, ...]:
    """The characters of a Chinese pair: 柜子 is found in 储物柜."""
    is_pair = len(term) == 2 and is_unspaced(term)
    return tuple(Synonym(character, _HALF) for character in term if not is_weak(character)) if is_pair else ()


def idf(held: int, documents: int) -> float:
    """Inverse document frequency of a term that `held` of the documents hold."""
    return math.log1p((max(documents, held) - held + 0.5) / (held + 0.5))


def _of_any(collection: Collection, terms: tuple[str, ...]) -> Posting:
    """Union of the documents with any of the terms."""
    postings = [collection.find(term) for term in terms]
    postings = [posting for posting in postings if len(posting.documents)] or postings[:1]
    if len(postings) == 1:
        return postings[0]
    documents, inverse = np.unique(
        np.concatenate([posting_of.documents for posting_of in postings]), return_inverse=True
    )
    counts = np.bincount(inverse, np.concatenate([posting_of.counts for posting_of in postings]))
    return Posting(documents, np.minimum(counts, 255).astype("u1"))


def soft_counts(term_postings: TermPostings, documents: Column) -> Column:
    """Occurrences of the term in each document (i4, ascending); a synonym counts for a part, once."""
    counts = occurrences(term_postings.posting, documents)
    for posting, weight in term_postings.synonyms:
        counts += weight * (occurrences(posting, documents) > 0)
    return counts


def occurrences(posting: Posting, documents: Column) -> Column:
    """Occurrences of the term in each of the documents, which are ascending."""
    if not len(posting.documents):
        return np.zeros(len(documents))
    indices = np.minimum(np.searchsorted(posting.documents, documents), len(posting.documents) - 1)
    return np.where(posting.documents[indices] == documents, posting.counts[indices], 0).astype("f8")
