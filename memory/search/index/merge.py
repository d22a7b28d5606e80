"""Merge of consecutive segments into one: removed entries are dropped, the others are renumbered by entry.

The postings are read some hundred thousand at a time, term by term in the order of their hashes, so that the merge of a
million entries takes some tens of megabytes.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from memory.search.column import Column
from memory.search.index.builder import Rest, counts_of, documents_of, pack_keys, terms_of
from memory.search.index.documents import ENTRY_COLUMNS, LINKS, NAMED, NONE, Documents
from memory.search.index.postings import NO_POSTING, PostingLists
from memory.search.index.segment import PostingsFooter, PostingsSegment, section_of
from memory.search.segments import SegmentWriter

Writer = SegmentWriter[PostingsFooter]
AT_ONCE = 200_000  # postings: some hundredths of a second
_ROOM, _LEAST_ROOM = 3, 256  # room for a third more rows


def table(segments: Sequence[PostingsSegment]) -> Documents:
    """Document table of consecutive segments. It may change the first segment's columns in place: each table needs
    segments that were opened for it."""
    documents, rest = Documents(), list(segments)
    if rest and all(name in rest[0].columns for name in LINKS):
        first = rest.pop(0)
        alive = np.ones(len(first.columns["entry"]), "u1")
        documents = Documents({**first.columns, "alive": alive}, first.footer.names, first.count)
    touched = [documents.add_rows(segment.rows, segment.footer.names, segment.gone) for segment in rest]
    if touched:
        documents.relink(np.concatenate(touched))
    return documents


def starts_of(segments: Sequence[PostingsSegment]) -> list[int]:
    """The number of each segment's first document in their table."""
    return np.cumsum([0, *(segment.count for segment in segments)])[:-1].tolist()


def merge(segments: Sequence[PostingsSegment], documents: Documents, into: Writer, rest: Rest) -> list[str]:
    """Writes all sections; gives the names that the columns refer to. Raises OSError."""
    living = np.flatnonzero(documents["alive"])
    order = living[np.argsort(documents["entry"][living], kind="stable")]
    numbers = np.full(documents.count, NONE, "i4")
    numbers[order] = np.arange(len(order), dtype="i4")
    rest()
    from_first = segments[0].since == 0
    names = _write_columns(documents, order, numbers, into, rest, with_links=from_first)
    removed = np.zeros(0, "i8")
    if not from_first:
        removed = np.setdiff1d(np.concatenate([segment.gone for segment in segments]), documents["entry"][order])
    into.section("gone", [removed])
    inputs = [
        _Input(segment.lists, numbers[start : start + segment.count])
        for segment, start in zip(segments, starts_of(segments), strict=True)
    ]
    _write_postings(inputs, into, rest)
    return names


def _write_columns(
    documents: Documents,
    order: Column,
    numbers: Column,
    into: Writer,
    rest: Rest,
    *,
    with_links: bool,
) -> list[str]:
    room = max(_LEAST_ROOM, len(order) // _ROOM) if with_links else 0
    used = np.unique(np.concatenate([documents[name][order] for name in NAMED]))
    codes = np.full(len(documents.names), NONE, "i4")
    codes[used] = np.arange(len(used))
    for name in ENTRY_COLUMNS:
        column = documents[name][order]
        into.section(section_of(name), [codes[column] if name in NAMED else column], room=room)
        rest()
    for name in ("previous", "following") if with_links else ():
        links = documents[name][order]
        into.section(section_of(name), [np.where(links == NONE, NONE, numbers[links])], room=room)
        rest()
    if with_links:
        into.section(section_of("talk"), [_renumbered(documents["talk"][order])], room=room)
    return [documents.names[code] for code in used.tolist()]


def _renumbered(talks: Column) -> Column:
    """Talks renumbered in the order of their first document."""
    _, first_indices, inverse = np.unique(talks, return_index=True, return_inverse=True)
    numbers = np.empty(len(first_indices), "i4")
    numbers[np.argsort(first_indices)] = np.arange(len(first_indices), dtype="i4")
    return numbers[inverse]


class _Input(Struct, frozen=True):
    """A segment's postings, and the new number of each of its documents, NONE for the removed."""

    lists: PostingLists
    numbers: Column


def _write_postings(inputs: list[_Input], into: Writer, rest: Rest) -> None:
    """Writes documents as they are merged; the other columns, a fifth of the size, at the end."""
    parts: list[PostingLists] = []

    def documents() -> Iterator[Column]:
        for low, high in _blocks(inputs):
            if part := _merged(inputs, low, high):
                yield part.documents
                parts.append(
                    PostingLists(part.text, part.edges, part.hashes, part.starts, NO_POSTING.documents, part.counts)
                )
            rest()

    into.section("documents", documents())
    into.section("counts", (part.counts for part in parts))
    into.section("hashes", (part.hashes for part in parts))
    into.section("text", (part.text for part in parts))
    zero = np.zeros(1, "i8")
    into.section("edges", [np.cumsum(np.concatenate([zero, *(np.diff(part.edges) for part in parts)]))])
    into.section("starts", [np.cumsum(np.concatenate([zero, *(np.diff(part.starts) for part in parts)]))])


def _blocks(inputs: list[_Input]) -> Iterator[tuple[int, int]]:
    """Ranges of hashes, low and high, that hold about `AT_ONCE` postings; more where one term has more."""
    largest = max((part.lists for part in inputs), key=lambda lists: len(lists.documents))
    total = sum(len(part.lists.documents) for part in inputs)
    step = max(1, AT_ONCE * len(largest.documents) // max(total, 1))  # a block has a share of every input
    steps = np.arange(step, len(largest.documents), step, dtype="u4")
    bounds = np.unique(largest.hashes[largest.starts.searchsorted(steps) - 1]).tolist()
    yield from zip([0, *bounds], [*bounds, 1 << 64], strict=True)


def _merged(inputs: list[_Input], low: int, high: int) -> PostingLists | None:
    """Postings of the terms with hashes in [low, high); None where none of their documents is alive."""
    cuts = [_cut(each, low, high) for each in inputs]
    hashes, sources = np.unique(np.concatenate([cut.lists.hashes for cut in cuts]), return_index=True)
    keys = np.concatenate([_keys(cut, hashes) for cut in cuts])
    keys.sort(kind="stable")  # the inputs' are in order each: a merge of some runs
    counts = np.bincount(terms_of(keys), minlength=len(hashes))
    is_used = counts > 0
    if not len(keys):
        return None
    text, edges = _gathered([cut.lists for cut in cuts], sources[is_used])
    return PostingLists(
        text=text,
        edges=edges,
        hashes=hashes[is_used],
        starts=np.concatenate(([0], np.cumsum(counts[is_used]))),
        documents=documents_of(keys),
        counts=counts_of(keys),
    )


def _cut(whole: _Input, low: int, high: int) -> _Input:
    lists = whole.lists
    first = int(lists.hashes.searchsorted(np.uint64(low)))
    last = len(lists.hashes) if high > 2**64 - 1 else int(lists.hashes.searchsorted(np.uint64(high)))
    edges, starts = lists.edges[first : last + 1], lists.starts[first : last + 1]
    part = PostingLists(
        text=lists.text[edges[0] : edges[-1]],
        edges=edges.astype("i8") - int(edges[0]),
        hashes=lists.hashes[first:last],
        starts=starts.astype("i8") - int(starts[0]),
        documents=lists.documents[starts[0] : starts[-1]],
        counts=lists.counts[starts[0] : starts[-1]],
    )
    return _Input(part, whole.numbers)


def _keys(cut: _Input, hashes: Column) -> Column:
    lists = cut.lists
    terms = np.repeat(np.searchsorted(hashes, lists.hashes), np.diff(lists.starts))
    documents = cut.numbers[lists.documents]
    living = documents != NONE
    if living.all():
        return pack_keys(terms, documents, lists.counts)
    return pack_keys(terms[living], documents[living], lists.counts[living])


def _gathered(parts: list[PostingLists], indices: Column) -> tuple[Column, Column]:
    """Texts of the selected terms, and their edges; `indices` count through the terms of all parts."""
    lengths = np.concatenate([np.diff(part.edges) for part in parts])
    offsets = np.cumsum([0, *(len(part.text) for part in parts)])
    begins = np.concatenate([part.edges[:-1] + offset for part, offset in zip(parts, offsets, strict=False)])[indices]
    edges = np.concatenate(([0], np.cumsum(lengths[indices])))
    characters: Column = np.arange(int(edges[-1])) + np.repeat(begins - edges[:-1], lengths[indices])
    return np.concatenate([part.text for part in parts])[characters], edges
