"""Near-duplicate tests: of two texts at hand, and of many texts by stored sketches.

Both compare shingles, runs of three tokens (Broder, "On the resemblance and containment of documents", 1997). `alike`
takes the words as they are written, since two hits that differ in a form may say different things. A sketch takes the
analyser's terms and is what a database stores of a long text: the 128 least hashes of its shingles (bottom-k). The
share that two sketches have among the least 128 of both estimates their resemblance within about 4 points.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import combinations, islice

from foundation.text.analysis import iter_terms, plain_words

Shingles = frozenset[tuple[str, ...]]
Sketch = frozenset[int]

_RESEMBLANCE = 0.7  # of all shingles of both
_OVERLAP = 0.9  # of the shorter's, where it is long enough to be more than a phrase
_LONG_ENOUGH = 12
_MOST_CHARACTERS = 8000

SKETCH_SIZE = 128
SKETCH_RESEMBLANCE = 0.8
_CANDIDATE_HASHES = 16  # the least of each sketch: texts that are alike share nearly all of them
_MOST_TERMS = 50_000
_MOST_OWNERS = 64  # sketches that share one hash: more of them share a boilerplate line, not a text


def shingles(text: str) -> Shingles:
    """The shingles of the text's first 8,000 characters. A text of fewer than six words is its own one shingle."""
    words = tuple(plain_words(text[:_MOST_CHARACTERS].casefold()))
    if len(words) < 6:
        return frozenset([words])
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def overlap(first: AbstractSet[object], second: AbstractSet[object]) -> float:
    """The overlap coefficient, 0 to 1: the share of the smaller set that the larger one has. 1 for two empty sets."""
    smaller = min(len(first), len(second))
    return len(first & second) / smaller if smaller else float(first == second)


def alike(first: Shingles, second: Shingles, *, within: float = _OVERLAP, shortest: int = _LONG_ENOUGH) -> bool:
    """Whether two texts say the same, or one contains the other.

    The containment test asks for `within` of the smaller's shingles, and counts for texts of at least `shortest`
    shingles: a short phrase may well be part of a text that says something else.
    """
    shared, smaller = len(first & second), min(len(first), len(second))
    if shared >= _RESEMBLANCE * (len(first) + len(second) - shared):
        return True
    return smaller >= shortest and shared >= within * smaller


def sketch(text: str) -> Sketch:
    """The sketch of a text; empty for a text of fewer than three terms."""
    words = list(islice(iter_terms(text), _MOST_TERMS))
    triples = {"\x1f".join(three) for three in zip(words, words[1:], words[2:], strict=False)}
    return frozenset(sorted(map(_hash, triples))[:SKETCH_SIZE])


def _hash(shingle: str) -> int:
    return int.from_bytes(hashlib.blake2b(shingle.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def pack_sketch(hashes: Sketch) -> bytes:
    """The sketch as it is stored: its hashes ascending, 8 bytes each, big-endian."""
    return b"".join(value.to_bytes(8, "big") for value in sorted(hashes))


def unpack_sketch(raw: bytes) -> Sketch:
    """The sketch that was stored so."""
    return frozenset(int.from_bytes(raw[at : at + 8], "big") for at in range(0, len(raw), 8))


def resemblance(first: Sketch, second: Sketch) -> float:
    """The estimated share, 0 to 1, of all shingles of two texts that both have."""
    least = sorted(first | second)[:SKETCH_SIZE]
    return sum(value in first and value in second for value in least) / len(least) if least else 0.0


def near_duplicates(sketches: Mapping[int, Sketch], among: Iterable[int] | None = None) -> list[tuple[int, int]]:
    """The pairs of keys of near-duplicates, the smaller key first; only of the keys `among`, where they are given.

    Compares only pairs that share at least a third of their least 16 hashes.
    """
    keys = sorted(sketches) if among is None else sorted(sketches.keys() & set(among))
    owners: dict[int, list[int]] = {}
    for key in keys:
        for value in sorted(sketches[key])[:_CANDIDATE_HASHES]:
            owners.setdefault(value, []).append(key)
    shared = Counter[tuple[int, int]]()
    for having in owners.values():
        if 1 < len(having) <= _MOST_OWNERS:
            shared.update(combinations(having, 2))
    return [
        (first, second)
        for (first, second), count in sorted(shared.items())
        if count >= min(_CANDIDATE_HASHES, len(sketches[first]), len(sketches[second])) // 3
        and resemblance(sketches[first], sketches[second]) >= SKETCH_RESEMBLANCE
    ]
