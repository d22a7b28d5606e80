"""Segments that follow one another become one: what was removed goes, the rest is numbered by entry.

The postings go through memory some hundred thousand at a time, term by term in the order of their hashes, so that a
million entries are merged in some tens of megabytes.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from memory.search.column import Column
from memory.search.index.builder import Rest, counts_of, documents_of, keyed, terms_of
from memory.search.index.documents import LINKS, NAMED, NONE, TOLD, Documents
from memory.search.index.postings import NOWHERE, PostingLists
from memory.search.index.segment import PostingsFooter, PostingsSegment, section_of
from memory.search.segments import SegmentWriter

Writer = SegmentWriter[PostingsFooter]
AT_ONCE = 200_000  # postings: some hundredths of a second
_ROOM, _LEAST_ROOM = 3, 256  # a third more rows than there are find place beside them


def table(segments: Sequence[PostingsSegment]) -> Documents:
    """The documents of segments that follow one another. Those of the first may be changed in place: each table needs
    segments that were opened for it."""
    documents, rest = Documents(), list(segments)
    if rest and all(name in rest[0].columns for name in LINKS):
        first = rest.pop(0)
        alive = np.ones(len(first.columns["entry"]), "u1")
        documents = Documents({**first.columns, "alive": alive}, first.footer.names, first.count)
    touched = [documents.take_in(one.rows, one.footer.names, one.gone) for one in rest]
    if touched:
        documents.relink(np.concatenate(touched))
    return documents


def starts_of(segments: Sequence[PostingsSegment]) -> list[int]:
    """The number of each segment's first document in their table."""
    return np.cumsum([0, *(one.count for one in segments)])[:-1].tolist()


def merge(segments: Sequence[PostingsSegment], documents: Documents, into: Writer, rest: Rest) -> list[str]:
    """Writes all sections; gives the names that the columns speak of. Raises OSError."""
    living = np.flatnonzero(documents["alive"])
    order = living[np.argsort(documents["entry"][living], kind="stable")]
    numbers = np.full(documents.count, NONE, "i4")
    numbers[order] = np.arange(len(order), dtype="i4")
    rest()
    from_first = segments[0].since == 0
    names = _write_columns(documents, order, numbers, into, rest, with_links=from_first)
    gone = np.zeros(0, "i8")
    if not from_first:
        gone = np.setdiff1d(np.concatenate([one.gone for one in segments]), documents["entry"][order])
    into.section("gone", [gone])
    inputs = [
        _Input(one.lists, numbers[start : start + one.count])
        for one, start in zip(segments, starts_of(segments), strict=True)
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
    for name in TOLD:
        column = documents[name][order]
        into.section(section_of(name), [codes[column] if name in NAMED else column], room=room)
        rest()
    for name in ("previous", "following") if with_links else ():
        links = documents[name][order]
        into.section(section_of(name), [np.where(links == NONE, NONE, numbers[links])], room=room)
        rest()
    if with_links:
        into.section(section_of("talk"), [_in_order(documents["talk"][order])], room=room)
    return [documents.names[code] for code in used.tolist()]


def _in_order(talks: Column) -> Column:
    """Numbered anew, as they first come."""
    _, firsts, places = np.unique(talks, return_index=True, return_inverse=True)
    numbers = np.empty(len(firsts), "i4")
    numbers[np.argsort(firsts)] = np.arange(len(firsts), dtype="i4")
    return numbers[places]


class _Input(Struct, frozen=True):
    """A segment's postings, and the new number of each of its documents, NONE for the removed."""

    lists: PostingLists
    numbers: Column


def _write_postings(inputs: list[_Input], into: Writer, rest: Rest) -> None:
    """Documents go to the file as they come; the other columns, a fifth of the size, when all are known."""
    parts: list[PostingLists] = []

    def documents() -> Iterator[Column]:
        for low, high in _blocks(inputs):
            if part := _merged(inputs, low, high):
                yield part.documents
                parts.append(
                    PostingLists(part.text, part.edges, part.hashes, part.starts, NOWHERE.documents, part.counts)
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
    largest = max((each.lists for each in inputs), key=lambda lists: len(lists.documents))
    together = sum(len(each.lists.documents) for each in inputs)
    step = max(1, AT_ONCE * len(largest.documents) // max(together, 1))  # all others have their share in a block
    steps = np.arange(step, len(largest.documents), step, dtype="u4")
    bounds = np.unique(largest.hashes[largest.starts.searchsorted(steps) - 1]).tolist()
    yield from zip([0, *bounds], [*bounds, 1 << 64], strict=True)


def _merged(inputs: list[_Input], low: int, high: int) -> PostingLists | None:
    """The postings of terms with hashes from `low` up to below `high`; None where nothing of them lives."""
    cuts = [_cut(each, low, high) for each in inputs]
    hashes, sources = np.unique(np.concatenate([cut.lists.hashes for cut in cuts]), return_index=True)
    keys = np.concatenate([_keys(cut, hashes) for cut in cuts])
    keys.sort(kind="stable")  # the inputs' are in order each: a merge of some runs
    held = np.bincount(terms_of(keys), minlength=len(hashes))
    kept = held > 0
    if not len(keys):
        return None
    text, edges = _gathered([cut.lists for cut in cuts], sources[kept])
    return PostingLists(
        text=text,
        edges=edges,
        hashes=hashes[kept],
        starts=np.concatenate(([0], np.cumsum(held[kept]))),
        documents=documents_of(keys),
        counts=counts_of(keys),
    )


def _cut(one: _Input, low: int, high: int) -> _Input:
    lists = one.lists
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
    return _Input(part, one.numbers)


def _keys(cut: _Input, hashes: Column) -> Column:
    lists = cut.lists
    terms = np.repeat(np.searchsorted(hashes, lists.hashes), np.diff(lists.starts))
    documents = cut.numbers[lists.documents]
    living = documents != NONE
    if living.all():
        return keyed(terms, documents, lists.counts)
    return keyed(terms[living], documents[living], lists.counts[living])


def _gathered(several: list[PostingLists], places: Column) -> tuple[Column, Column]:
    """The texts of some terms, and their edges; `places` count through the terms of all of them."""
    lengths = np.concatenate([np.diff(one.edges) for one in several])
    offsets = np.cumsum([0, *(len(one.text) for one in several)])
    begins = np.concatenate([one.edges[:-1] + offset for one, offset in zip(several, offsets, strict=False)])[places]
    edges = np.concatenate(([0], np.cumsum(lengths[places])))
    characters: Column = np.arange(int(edges[-1])) + np.repeat(begins - edges[:-1], lengths[places])
    return np.concatenate([one.text for one in several])[characters], edges
