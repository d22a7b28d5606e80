"""Postings: for each term, the documents that hold it and how often. Immutable ones of a segment, and recent ones."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from foundation.text.folding import is_unspaced
from foundation.text.tags import TAG_PREFIX
from memory.search.column import Column, GrowingColumn

_MARK = TAG_PREFIX.encode()
_CACHED_TERMS = 4096  # of a segment: a query looks up some fifty, mostly the same


class Posting(NamedTuple):
    """Documents in rising order, and how often each holds the term."""

    documents: Column
    counts: Column


NO_POSTING = Posting(np.empty(0, "i4"), np.empty(0, "u1"))


class PostingLists(Struct, frozen=True):
    """The postings of a segment as columns, which may be mapped from a file. Terms are sorted by `term_hash`.

    Term i is text[edges[i]:edges[i + 1]], its hash is hashes[i], and it has documents[starts[i]:starts[i + 1]].
    """

    text: Column
    edges: Column
    hashes: Column
    starts: Column
    documents: Column
    counts: Column


NO_LISTS = PostingLists(
    np.zeros(0, "u1"), np.zeros(1, "i8"), np.zeros(0, "u8"), np.zeros(1, "i8"), NO_POSTING.documents, NO_POSTING.counts
)


def term_hash(term: bytes) -> int:
    """64-bit hash, the same on every machine. Two of a million terms collide once in thirty million stores; one of the
    two is not found then."""
    return int.from_bytes(blake2b(term, digest_size=8).digest(), "little")


class SegmentPostings:
    """A segment's postings, whose documents are numbered from `first`."""

    def __init__(self, lists: PostingLists, first: int = 0) -> None:
        self.lists = lists
        self._first = first
        self._find = lru_cache(_CACHED_TERMS)(self._look_up)
        self._find_containing = lru_cache(_CACHED_TERMS)(self._look_up_containing)

    @property
    def count(self) -> int:
        return len(self.lists.documents)

    def find(self, term: bytes) -> Posting:
        index = self._find(term)
        return NO_POSTING if index < 0 else self._at(index)

    def containing(self, piece: bytes) -> list[Posting]:
        """Postings of each word that contains these bytes; marks are skipped."""
        return [self._at(term) for term in self._find_containing(piece)]

    def _look_up_containing(self, piece: bytes) -> list[int]:
        lists = self.lists
        offsets = [match.start() for match in re.finditer(re.escape(piece), lists.text.data)]
        terms = np.unique(np.searchsorted(lists.edges, offsets, side="right") - 1)
        return [term for term in terms.tolist() if piece in (text := self._text(term)) and text[:1] != _MARK]

    def _look_up(self, term: bytes) -> int:
        hashes = self.lists.hashes
        index = int(hashes.searchsorted(np.uint64(term_hash(term))))
        return index if index < len(hashes) and self._text(index) == term else -1

    def _text(self, index: int) -> bytes:
        edges = self.lists.edges
        return self.lists.text[edges[index] : edges[index + 1]].tobytes()

    def _at(self, index: int) -> Posting:
        start, end = int(self.lists.starts[index]), int(self.lists.starts[index + 1])
        documents = self.lists.documents[start:end]
        if self._first:
            documents = documents + np.int32(self._first)
        return Posting(documents, self.lists.counts[start:end])


class RecentPostings:
    """Recent postings, unsorted. A lookup scans all, so they are few: a new segment replaces them."""

    def __init__(self) -> None:
        self.numbers: defaultdict[bytes, int] = defaultdict()
        self.numbers.default_factory = self.numbers.__len__
        self.terms = GrowingColumn("u4")
        self.documents = GrowingColumn("i4")
        self.counts = GrowingColumn("u1")

    @property
    def count(self) -> int:
        return self.terms.count

    def put(self, document: int, terms: list[bytes], counts: bytes) -> None:
        number: Callable[[bytes], int] = self.numbers.__getitem__
        self.terms.extend(np.fromiter(map(number, terms), "u4", len(terms)))
        self.documents.extend(np.full(len(terms), document, "i4"))
        self.counts.extend(np.frombuffer(counts, "u1"))

    def find(self, term: bytes) -> Posting:
        number = self.numbers.get(term)
        if number is None:
            return NO_POSTING
        rows = np.flatnonzero(self.terms.view == number)
        return Posting(self.documents.view[rows], self.counts.view[rows])

    def containing(self, piece: bytes) -> list[Posting]:
        """Postings of each word that contains these bytes; marks are skipped."""
        return [self.find(term) for term in self.numbers if piece in term and term[:1] != _MARK]


def find(term: str, parts: Iterable[SegmentPostings | RecentPostings]) -> Posting:
    """All documents with the term, removed ones included. A single unspaced character matches in its pairs too.

    The documents of each part are numbered above those of the part before.
    """
    if len(term) == 1 and is_unspaced(term):
        return _union([candidate for part in parts for candidate in part.containing(term.encode())])
    word = term.encode("utf-8", "surrogatepass")
    postings = [candidate for part in parts if len((candidate := part.find(word)).documents)]
    if len(postings) < 2:  # a single list, mostly the long one of the first segment, is not copied
        return postings[0] if postings else NO_POSTING
    return Posting(
        np.concatenate([posting.documents for posting in postings]),
        np.concatenate([posting.counts for posting in postings]),
    )


def _union(postings: list[Posting]) -> Posting:
    """Union of the documents, with summed counts."""
    if not postings:
        return NO_POSTING
    documents, inverse = np.unique(np.concatenate([posting.documents for posting in postings]), return_inverse=True)
    counts = np.bincount(inverse, np.concatenate([posting.counts for posting in postings]))
    return Posting(documents, np.minimum(counts, 255).astype("u1"))
