"""Postings: for each term, the documents that hold it and how often. A snapshot's, which stand, and what came since."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from memory.search.growing import Column, Growing


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


def find(term: bytes, standing: Standing, recent: Recent) -> Posting:
    """All documents with the term, removed ones among them."""
    old, new = standing.find(term), recent.find(term)
    if not len(new.documents):
        return old
    if not len(old.documents):
        return new
    return Posting(np.concatenate((old.documents, new.documents)), np.concatenate((old.counts, new.counts)))
