"""Near-duplicates among many texts: each has a sketch, and texts that say the same share most of theirs.

A sketch is the least 128 hashes of a text's shingles (bottom-k; Broder 1997): the share that two have in common among
the least 128 of both estimates how much their shingles overlap, within about 4 points.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, islice

from foundation.text.analysis import terms

SIZE = 128
LEAST = 16  # of them, by which texts that may be alike are found
ALIKE = 0.8
_MOST_WORDS = 50_000
_CROWD = 64  # memories that share one hash: more say a boilerplate line, not a twin

Sketch = frozenset[int]


def sketch(text: str) -> Sketch:
    """The sketch of a text; empty for a text of fewer than three words."""
    words = list(islice(terms(text), _MOST_WORDS))
    shingles = {"\x1f".join(three) for three in zip(words, words[1:], words[2:], strict=False)}
    return frozenset(sorted(map(_hashed, shingles))[:SIZE])


def packed(one: Sketch) -> bytes:
    return b"".join(value.to_bytes(8, "big") for value in sorted(one))


def unpacked(raw: bytes) -> Sketch:
    return frozenset(int.from_bytes(raw[at : at + 8], "big") for at in range(0, len(raw), 8))


def likeness(one: Sketch, other: Sketch) -> float:
    """0 to 1: how much of their shingles two texts share."""
    least = sorted(one | other)[:SIZE]
    return sum(value in one and value in other for value in least) / len(least) if least else 0.0


def alike(sketches: Mapping[int, Sketch]) -> list[tuple[int, int]]:
    """The pairs of near-duplicates, the smaller key first. Only those that share many of their least hashes are
    compared: of texts that are alike, the least 16 of each are nearly the same."""
    owners: dict[int, list[int]] = {}
    for key in sorted(sketches):
        for value in sorted(sketches[key])[:LEAST]:
            owners.setdefault(value, []).append(key)
    shared = Counter[tuple[int, int]]()
    for keys in owners.values():
        if 1 < len(keys) <= _CROWD:
            shared.update(combinations(keys, 2))
    return [
        (one, other)
        for (one, other), count in sorted(shared.items())
        if count >= min(LEAST, len(sketches[one]), len(sketches[other])) // 3
        and likeness(sketches[one], sketches[other]) >= ALIKE
    ]


def _hashed(shingle: str) -> int:
    return int.from_bytes(hashlib.blake2b(shingle.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def pairs_among(sketches: Mapping[int, Sketch], seqs: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs of near-duplicates among these alone."""
    return alike({seq: sketches[seq] for seq in seqs if seq in sketches})
