"""Builds the columns and postings of a segment from rows of terms."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from msgspec import Struct

from foundation.text.analysis import term_list
from foundation.text.stopwords import count_content_words, is_weak
from foundation.text.term_codec import split_terms
from memory.cold.changes import TermsRow
from memory.search.column import Column
from memory.search.index.documents import ENTRY_COLUMNS
from memory.search.index.postings import NO_LISTS, PostingLists, term_hash

_SLICE_ROWS = 64  # rows between two rests: about a millisecond's work
DOCUMENT_BITS, COUNT_BITS = 30, 8  # leaves 26 for the term: one uint64 sorts by term, then document

Rest = Callable[[], None]
"""Called between two small pieces of work: background work yields to queries there."""


class BuiltSegment(Struct, frozen=True):
    """Columns of documents in the order of their entries, the names that three of them refer to, and postings."""

    columns: dict[str, Column]
    names: list[str]
    lists: PostingLists


def build(rows: Iterable[TermsRow], rest: Rest) -> BuiltSegment:
    """Builds a segment from one row per entry, in any order."""
    rows = sorted(rows, key=lambda row: row.entry)
    numbers: defaultdict[bytes, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    number_of: Callable[[bytes], int] = numbers.__getitem__
    terms, sizes, counts = array("I"), array("I"), bytearray()
    for batch in _slices(rows, rest):
        for row in batch:
            names, row_counts = split_terms(row.packed)
            terms.extend(map(number_of, names))
            sizes.append(len(names))
            counts += row_counts
    vocabulary = list(numbers)
    of_term = np.frombuffer(terms, "u4") if terms else np.zeros(0, "u4")
    documents = np.repeat(np.arange(len(rows), dtype="u4"), np.frombuffer(sizes, "u4") if sizes else [])
    occurrences = np.frombuffer(bytes(counts), "u1")
    names, columns = _columns(rows, rest)
    columns |= _count_content_words(rows, vocabulary, of_term, documents, occurrences, rest)
    return BuiltSegment(columns, names, _lists(vocabulary, of_term, documents, occurrences, rest))


def _slices(rows: Sequence[TermsRow], rest: Rest) -> Iterator[Sequence[TermsRow]]:
    for start in range(0, len(rows), _SLICE_ROWS):
        yield rows[start : start + _SLICE_ROWS]
        rest()


def _columns(rows: list[TermsRow], rest: Rest) -> tuple[list[str], dict[str, Column]]:
    codes: defaultdict[str, int] = defaultdict()
    codes.default_factory = codes.__len__
    values: list[tuple[int, ...]] = []
    for batch in _slices(rows, rest):
        values += [
            (row.entry, row.conversation, row.time_ms, row.length, codes[row.kind], codes[row.role], codes[row.speaker])
            for row in batch
        ]
    table = np.array(values, "i8").reshape(len(rows), 7)
    names = ("entry", "conversation", "time", "length", "kind", "role", "speaker")
    return list(codes), {name: table[:, column].astype(ENTRY_COLUMNS[name]) for column, name in enumerate(names)}


def _count_content_words(  # noqa: PLR0917 — the postings, a column each
    rows: list[TermsRow], vocabulary: list[bytes], terms: Column, documents: Column, counts: Column, rest: Rest
) -> dict[str, Column]:
    """The columns `says` and `asks`: `count_content_words` of each row, with each term classified once."""
    classified: list[tuple[int, bool]] = []
    for start in range(0, len(vocabulary), _SLICE_ROWS):
        classified += [_classified(term) for term in vocabulary[start : start + _SLICE_ROWS]]
        rest()
    is_content, is_question = np.array(classified, "u1").reshape(len(classified), 2).T
    says = np.bincount(documents, is_content[terms] * counts.astype("f8"), len(rows)).astype("i4")
    asks = np.bincount(documents, is_question[terms], len(rows)) > 0
    by_name = np.fromiter((_content_words_of_name(row.speaker) for row in rows), "i4", len(rows))
    return {"says": np.maximum(says - by_name, 0), "asks": asks.astype("u1")}


@lru_cache(maxsize=1 << 13)
def _classified(term: bytes) -> tuple[int, bool]:
    own = count_content_words((term,), b"\1", "")
    return own.says, own.asks


@lru_cache(maxsize=1 << 10)
def _content_words_of_name(speaker: str) -> int:
    return sum(not is_weak(term) for term in term_list(speaker))


def _lists(vocabulary: list[bytes], terms: Column, documents: Column, counts: Column, rest: Rest) -> PostingLists:
    if not len(terms):
        return NO_LISTS
    hashes = np.fromiter(map(term_hash, vocabulary), "u8", len(vocabulary))
    rest()
    order = np.argsort(hashes)
    ranks = np.empty(len(order), "u8")
    ranks[order] = np.arange(len(order), dtype="u8")
    keys = pack_keys(ranks[terms], documents, counts)
    keys.sort()
    rest()
    in_order = [vocabulary[int(index)] for index in order]
    lengths = np.fromiter(map(len, in_order), "i8", len(in_order))
    return PostingLists(
        text=np.frombuffer(b"".join(in_order), "u1"),
        edges=np.concatenate(([0], np.cumsum(lengths))).astype("u4"),
        hashes=hashes[order],
        starts=np.concatenate(([0], np.cumsum(np.bincount(terms_of(keys), minlength=len(order))))).astype("u4"),
        documents=documents_of(keys),
        counts=counts_of(keys),
    )


def pack_keys(terms: Column, documents: Column, counts: Column) -> Column:
    """Packs term, document and count into one sortable number each (u8)."""
    high = terms.astype("u8") << np.uint64(DOCUMENT_BITS + COUNT_BITS)
    return high | (documents.astype("u8") << np.uint64(COUNT_BITS)) | counts.astype("u8")


def terms_of(keys: Column) -> Column:
    return (keys >> np.uint64(DOCUMENT_BITS + COUNT_BITS)).astype("i8")


def documents_of(keys: Column) -> Column:
    return ((keys >> np.uint64(COUNT_BITS)) & np.uint64((1 << DOCUMENT_BITS) - 1)).astype("i4")


def counts_of(keys: Column) -> Column:
    return (keys & np.uint64((1 << COUNT_BITS) - 1)).astype("u1")
