"""Stored form of an entry's terms: the sorted terms, a line each, a zero byte, and a count byte per term.

No term holds a line break or a zero byte. Counts stop at 255: BM25 is flat long before.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO

from msgspec import Struct

MOST = 255


class PackedTerms(Struct, frozen=True):
    """An entry's terms as they are stored. `length` counts repeats; `analyser` is the version that found them."""

    packed: bytes
    length: int
    analyser: str = ""


def pack_terms(terms: Iterable[str] | Mapping[str, int], analyser: str = "", tags: Iterable[str] = ()) -> PackedTerms:
    """Packs the terms of one entry, given with repeats or counts, in any order. Tags are not counted in `length`."""
    counts = Counter(terms)
    length = counts.total()
    for tag in tags:
        counts[tag] = 1
    names, numbers = _sorted_run(counts)
    return PackedTerms(names + b"\0" + numbers if counts else b"", length, analyser)


def _sorted_run(counts: Mapping[str, int]) -> tuple[bytes, bytes]:
    names = sorted(counts)
    numbers = bytes([count if (count := counts[name]) < MOST else MOST for name in names])
    return "\n".join(names).encode("utf-8", "surrogatepass"), numbers


class TermRuns:
    """The terms of a long text, piece by piece: what is held beyond so many distinct terms is packed, which takes a
    tenth of the memory, and merged at the end."""

    def __init__(self, most_held: int = 200_000) -> None:
        self._most_held = most_held
        self._held: dict[str, int] = {}
        self._runs: list[tuple[bytes, bytes]] = []
        self._length = 0

    def add(self, counts: Mapping[str, int]) -> None:
        """Adds the terms of a piece."""
        held = self._held
        for term, count in counts.items():
            held[term] = held.get(term, 0) + count
            self._length += count
        if len(held) > self._most_held:
            self._runs.append(_sorted_run(held))
            self._held = {}

    def packed(self, analyser: str = "", tags: Iterable[str] = ()) -> PackedTerms:
        """The same as `pack_terms` for all of them. No term is a tag."""
        last, names, numbers = b"", bytearray(), bytearray()
        runs = [*self._runs, _sorted_run(self._held), _sorted_run(dict.fromkeys(tags, 1))]
        for name, count in heapq.merge(*map(_terms_of_run, runs)):  # bytes of UTF-8 sort as the characters do
            if name == last:
                numbers[-1] = min(numbers[-1] + count, MOST)
                continue
            names += b"\n" + name if numbers else name
            numbers.append(count)
            last = name
        return PackedTerms(bytes(names) + b"\0" + numbers if numbers else b"", self._length, analyser)


def _terms_of_run(run: tuple[bytes, bytes]) -> Iterator[tuple[bytes, int]]:
    names, numbers = run
    return zip((line.rstrip(b"\n") for line in BytesIO(names)), numbers, strict=True)


def split_terms(packed: bytes) -> tuple[list[bytes], bytes]:
    """The terms in UTF-8, and their counts, a byte each."""
    names, _, counts = packed.partition(b"\0")
    listed = names.split(b"\n") if names else []
    return (listed, counts) if len(listed) == len(counts) else ([], b"")  # damaged, or no row of ours: no terms


def unpack_terms(packed: bytes) -> dict[str, int]:
    """The terms with their counts."""
    names, counts = split_terms(packed)
    return {name.decode("utf-8", "surrogatepass"): count for name, count in zip(names, counts, strict=True)}
