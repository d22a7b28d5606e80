"""Stored form of an entry's terms: the sorted terms, a line each, a zero byte, and a count byte per term.

No term holds a line break or a zero byte. Counts stop at 255: BM25 is flat long before.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

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
    names = sorted(counts)
    numbers = bytes([count if (count := counts[name]) < MOST else MOST for name in names])
    packed = "\n".join(names).encode("utf-8", "surrogatepass") + b"\0" + numbers if names else b""
    return PackedTerms(packed, length, analyser)


def split_terms(packed: bytes) -> tuple[list[bytes], bytes]:
    """The terms in UTF-8, and their counts, a byte each."""
    names, _, counts = packed.partition(b"\0")
    listed = names.split(b"\n") if names else []
    return (listed, counts) if len(listed) == len(counts) else ([], b"")  # damaged, or no row of ours: no terms


def unpack_terms(packed: bytes) -> dict[str, int]:
    """The terms with their counts."""
    names, counts = split_terms(packed)
    return {name.decode("utf-8", "surrogatepass"): count for name, count in zip(names, counts, strict=True)}
