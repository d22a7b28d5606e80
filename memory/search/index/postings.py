"""Postings: for each term, the documents that hold it and how often. A segment's, which stand, and what came since."""

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
_REMEMBERED = 4096  # terms of a segment: a question asks for some fifty, mostly the same


class Posting(NamedTuple):
    """Documents in rising order, and how often each holds the term."""

    documents: Column
    counts: Column


NOWHERE = Posting(np.empty(0, "i4"), np.empty(0, "u1"))


class PostingLists(Struct, frozen=True):
    """The postings of a segment as columns, which may be mapped from a file. Terms are sorted by `hashed`.

    Term i is text[edges[i]:edges[i + 1]], its hash is hashes[i], and it has documents[starts[i]:starts[i + 1]].
    """

    text: Column
    edges: Column
    hashes: Column
    starts: Column
    documents: Column
    counts: Column


NO_LISTS = PostingLists(
    np.zeros(0, "u1"), np.zeros(1, "i8"), np.zeros(0, "u8"), np.zeros(1, "i8"), NOWHERE.documents, NOWHERE.counts
)


def hashed(term: bytes) -> int:
    """Sixty-four bits, the same on every machine. Two of a million terms share theirs once in thirty million stores;
    one of the two is not found then."""
    return int.from_bytes(blake2b(term, digest_size=8).digest(), "little")


class SegmentPostings:
    """A segment's postings, whose documents are numbered from `first`."""

    def __init__(self, lists: PostingLists, first: int = 0) -> None:
        self.lists = lists
        self._first = first
        self._find = lru_cache(_REMEMBERED)(self._look_up)

    def find(self, term: bytes) -> Posting:
        at = self._find(term)
        return NOWHERE if at < 0 else self._at(at)

    def containing(self, piece: bytes) -> list[Posting]:
        """Of each word's term that has these bytes in it."""
        lists = self.lists
        places = [found.start() for found in re.finditer(re.escape(piece), lists.text.data)]
        terms = np.unique(np.searchsorted(lists.edges, places, side="right") - 1)
        return [self._at(term) for term in terms.tolist() if piece in (text := self._text(term)) and text[:1] != _MARK]

    def _look_up(self, term: bytes) -> int:
        hashes = self.lists.hashes
        at = int(hashes.searchsorted(np.uint64(hashed(term))))
        return at if at < len(hashes) and self._text(at) == term else -1

    def _text(self, at: int) -> bytes:
        edges = self.lists.edges
        return self.lists.text[edges[at] : edges[at + 1]].tobytes()

    def _at(self, at: int) -> Posting:
        start, end = int(self.lists.starts[at]), int(self.lists.starts[at + 1])
        documents = self.lists.documents[start:end]
        if self._first:
            documents = documents + np.int32(self._first)
        return Posting(documents, self.lists.counts[start:end])


class RecentPostings:
    """Postings as they come in, unsorted: a term is found by a scan, so they are few (a segment takes them in)."""

    def __init__(self) -> None:
        self.numbers: defaultdict[bytes, int] = defaultdict()
        self.numbers.default_factory = self.numbers.__len__
        self.terms = GrowingColumn("u4")
        self.documents = GrowingColumn("i4")
        self.counts = GrowingColumn("u1")

    def put(self, document: int, terms: list[bytes], counts: bytes) -> None:
        number: Callable[[bytes], int] = self.numbers.__getitem__
        self.terms.extend(np.fromiter(map(number, terms), "u4", len(terms)))
        self.documents.extend(np.full(len(terms), document, "i4"))
        self.counts.extend(np.frombuffer(counts, "u1"))

    def find(self, term: bytes) -> Posting:
        number = self.numbers.get(term)
        if number is None:
            return NOWHERE
        here = np.flatnonzero(self.terms.view == number)
        return Posting(self.documents.view[here], self.counts.view[here])

    def containing(self, piece: bytes) -> list[Posting]:
        """Of each word's term that has these bytes in it."""
        return [self.find(term) for term in self.numbers if piece in term and term[:1] != _MARK]


def find(term: str, parts: Iterable[SegmentPostings | RecentPostings]) -> Posting:
    """All documents with the term, removed ones among them. A character that stands alone is found in its pairs too.

    The documents of each part are numbered above those of the one before.
    """
    if len(term) == 1 and is_unspaced(term):
        return _together([posting for part in parts for posting in part.containing(term.encode())])
    word = term.encode("utf-8", "surrogatepass")
    found = [posting for part in parts if len((posting := part.find(word)).documents)]
    if len(found) < 2:  # the long list of the first segment is not copied where nothing joins it
        return found[0] if found else NOWHERE
    return Posting(np.concatenate([each.documents for each in found]), np.concatenate([each.counts for each in found]))


def _together(postings: list[Posting]) -> Posting:
    """The documents of any of them."""
    if not postings:
        return NOWHERE
    documents, places = np.unique(np.concatenate([each.documents for each in postings]), return_inverse=True)
    counts = np.bincount(places, np.concatenate([each.counts for each in postings]))
    return Posting(documents, np.minimum(counts, 255).astype("u1"))
