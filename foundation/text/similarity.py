"""Near-duplicates: passages that share most of their shingles (runs of three words) say the same.

After Broder, "On the resemblance and containment of documents" (1997).
"""

import re

from foundation.text.folding import UNSPACED

Shingles = frozenset[tuple[str, ...]]

_ALIKE = 0.7  # of all shingles of both
_WITHIN = 0.9  # of the shorter's, where it is long enough to be more than a phrase
_LONG_ENOUGH = 12
_MOST_CHARACTERS = 8000
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_]+")


def shingles(text: str) -> Shingles:
    """A short text is its own one shingle."""
    words = tuple(_WORD.findall(text[:_MOST_CHARACTERS].casefold()))
    if len(words) < 6:
        return frozenset([words])
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def alike(one: Shingles, other: Shingles) -> bool:
    """Whether two texts say the same, or one says all that the other does."""
    shared, shorter = len(one & other), min(len(one), len(other))
    if shared >= _ALIKE * (len(one) + len(other) - shared):
        return True
    return shorter >= _LONG_ENOUGH and shared >= _WITHIN * shorter
