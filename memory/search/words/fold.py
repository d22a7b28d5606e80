"""Folding: what looks the same, or is the same but for case, width or an accent, becomes the same."""

import re
import unicodedata

LONGEST = 64
"""Characters of a term: a SHA-256 in hex fits; what is longer is cut."""

_ACCENTS = re.compile("[\u0300-\u036f\u200c\u200d]")


def fold(word: str) -> str:
    """NFKC, case folded, without Latin, Greek and Cyrillic accents: `Ｃafé` → `cafe`, `ﬁle` → `file`, `ｶﾞ` → `ガ`."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", word).casefold()
    if folded.isascii():
        return folded
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", folded))
    return unicodedata.normalize("NFKC", bare)
