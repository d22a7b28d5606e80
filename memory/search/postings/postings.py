"""Postings: for each term, the documents that hold it and how often. A snapshot's, which stand, and what came since."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from memory.search.postings.growing import Column, Growing
from memory.search.words.scripts import is_unspaced


class Posting(NamedTuple):
    """Documents in rising order, and how often each holds the term."""

    documents: Column
    counts: Column


NOWHERE = Posting(np.empty(0, "i4"), np.empty(0, "u1"))


class Standing(Struct, frozen=True):
    """The postings of a snapshot: terms sorted as bytes, one after another in `text`; arrays may be mapped from a file.

    Term i is text[edges[i]:edges[i + 1]] and has documents[starts[i]:starts[i + 1]].
    """

    text: bytes
    edges: Column
    starts: Column
    documents: Column
    counts: Column

    def __len__(self) -> int:
        return len(self.starts) - 1

    def term(self, number: int) -> bytes:
        return self.text[self.edges[number] : self.edges[number + 1]]

    def terms(self) -> list[bytes]:
        edges = self.edges.tolist()
        return [self.text[start:end] for start, end in pairwise(edges)]

    def find(self, term: bytes) -> Posting:
        at = bisect_left(range(len(self)), term, key=self.term)
        if at == len(self) or self.term(at) != term:
            return NOWHERE
        part = slice(int(self.starts[at]), int(self.starts[at + 1]))
        return Posting(self.documents[part], self.counts[part])

    def containing(self, piece: bytes) -> list[Posting]:
        """Of each term that has these bytes in it."""
        found, at = dict[int, None](), self.text.find(piece)
        while at >= 0:
            number = int(np.searchsorted(self.edges, at, side="right")) - 1
            if at + len(piece) <= self.edges[number + 1]:
                found[number] = None
            at = self.text.find(piece, at + 1)
        return [self.at(number) for number in found]

    def at(self, number: int) -> Posting:
        part = slice(int(self.starts[number]), int(self.starts[number + 1]))
        return Posting(self.documents[part], self.counts[part])


EMPTY = Standing(b"", np.zeros(1, "i8"), np.zeros(1, "i8"), NOWHERE.documents, NOWHERE.counts)


class Recent:
    """Postings as they come in, unsorted: a term is found by a scan, so they are few (a snapshot takes them in)."""

    def __init__(self) -> None:
        self.numbers: defaultdict[bytes, int] = defaultdict()
        self.numbers.default_factory = self.numbers.__len__
        self.terms = Growing("u4")
        self.documents = Growing("i4")
        self.counts = Growing("u1")

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
        """Of each term that has these bytes in it."""
        return [self.find(term) for term in self.numbers if piece in term]


def find(term: str, standing: Standing, recent: Recent) -> Posting:
    """All documents with the term, removed ones among them. A character that stands alone is found in its pairs too."""
    if len(term) == 1 and is_unspaced(term):
        return _together([*standing.containing(term.encode()), *recent.containing(term.encode())])
    word = term.encode("utf-8", "surrogatepass")
    old, new = standing.find(word), recent.find(word)
    if not len(new.documents):
        return old
    if not len(old.documents):
        return new
    return Posting(np.concatenate((old.documents, new.documents)), np.concatenate((old.counts, new.counts)))


def _together(postings: list[Posting]) -> Posting:
    """The documents of any of them."""
    if not postings:
        return NOWHERE
    documents, places = np.unique(np.concatenate([each.documents for each in postings]), return_inverse=True)
    counts = np.bincount(places, np.concatenate([each.counts for each in postings]))
    return Posting(documents, np.minimum(counts, 255).astype("u1"))
