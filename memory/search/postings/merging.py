"""Taking what came since into the standing postings: removed documents go, the rest are renumbered by entry."""

import numpy as np

from memory.search.postings.documents import COLUMNS, NONE, Documents
from memory.search.postings.growing import Column
from memory.search.postings.postings import EMPTY, Recent, Standing

_DOCUMENT_BITS, _COUNT_BITS = 30, 8  # leaves 26 for the term: one uint64 sorts by term, then document


def merge(documents: Documents, standing: Standing, recent: Recent) -> tuple[Documents, Standing]:
    """New documents and postings; the old ones are untouched. Linear but for the sort of the postings."""
    order, numbers = _renumbered(documents)
    columns = {name: documents[name][order] for name in COLUMNS}
    for name in ("previous", "following"):
        links = columns[name]
        columns[name] = np.where(links == NONE, NONE, numbers[links]).astype("i4")
    merged = Documents(columns, documents.names)
    return merged, _merged_postings(numbers, standing, recent)


def _renumbered(documents: Documents) -> tuple[Column, Column]:
    """Living documents by entry, and each document's new number (NONE for the removed)."""
    living = np.flatnonzero(documents["alive"])
    order = living[np.argsort(documents["entry"][living], kind="stable")]
    numbers = np.full(documents.count, NONE, "i4")
    numbers[order] = np.arange(len(order), dtype="i4")
    return order, numbers


def _merged_postings(numbers: Column, standing: Standing, recent: Recent) -> Standing:
    old_terms, new_terms = standing.terms(), list(recent.numbers)
    vocabulary = sorted(set(old_terms).union(new_terms))
    places = {term: place for place, term in enumerate(vocabulary)}
    old_places = np.fromiter(map(places.__getitem__, old_terms), "u4", len(old_terms))
    new_places = np.fromiter(map(places.__getitem__, new_terms), "u4", len(new_terms))
    keys = np.concatenate((
        _keys(np.repeat(old_places, np.diff(standing.starts)), numbers[standing.documents], standing.counts),
        _keys(new_places[recent.terms.view], numbers[recent.documents.view], recent.counts.view),
    ))  # fmt: skip
    keys.sort()
    return _from_keys(keys, vocabulary) if len(keys) else EMPTY


def _keys(terms: Column, documents: Column, counts: Column) -> Column:
    """Term, document and count in one number each; none for removed documents."""
    living = documents != NONE
    terms, documents, counts = terms[living], documents[living], counts[living]
    high = terms.astype("u8") << np.uint64(_DOCUMENT_BITS + _COUNT_BITS)
    return high | (documents.astype("u8") << np.uint64(_COUNT_BITS)) | counts.astype("u8")


def _from_keys(keys: Column, vocabulary: list[bytes]) -> Standing:
    terms = (keys >> np.uint64(_DOCUMENT_BITS + _COUNT_BITS)).astype("i8")
    held = np.bincount(terms, minlength=len(vocabulary))
    kept = [term for term, count in zip(vocabulary, held.tolist(), strict=True) if count]
    lengths = np.fromiter(map(len, kept), "i8", len(kept))
    return Standing(
        text=b"".join(kept),
        edges=np.concatenate((np.zeros(1, "i8"), np.cumsum(lengths))),
        starts=np.concatenate((np.zeros(1, "i8"), np.cumsum(held[held > 0]))),
        documents=((keys >> np.uint64(_COUNT_BITS)) & np.uint64((1 << _DOCUMENT_BITS) - 1)).astype("i4"),
        counts=(keys & np.uint64((1 << _COUNT_BITS) - 1)).astype("u1"),
    )
