"""Folding: what looks the same, or is the same but for case, width or an accent, becomes the same."""

import re
import unicodedata
from functools import cache
from importlib.resources import files

LONGEST = 64
"""Characters of a term: a SHA-256 in hex fits; what is longer is cut."""

_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u200c\u200d]")
_ALIKE = {
    "ı": "i", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h",
    "ى": "ي", "ة": "ه", "ٱ": "ا", "ک": "ك", "ی": "ي",
}  # fmt: skip


def fold(word: str) -> str:
    """NFKC, case folded, without accents and points, Chinese in simplified characters.

    `Ｃafé` → `cafe`, `ﬁle` → `file`, `ｶﾞ` → `ガ`, `Łódź` → `lodz`, 軟體 → 软体, `كِتَاب` → `كتاب`, `٣` → `3`.
    """
    if word.isascii():
        return word.lower()
    folded = lowered(word)
    if folded.isascii():
        return folded
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", folded))
    composed = unicodedata.normalize("NFKC", bare)
    table, any_of_it = _alike()
    return composed.translate(table) if any_of_it.search(composed) else composed


def lowered(word: str) -> str:
    """NFKC and case folded, with its accents, as a stemmer takes it."""
    return unicodedata.normalize("NFKC", word).casefold()


@cache
def _alike() -> tuple[dict[int, str], re.Pattern[str]]:
    """Letters that no decomposition brings together, digits, and the simplified character of each traditional one. And
    what finds any of them: most words hold none, and looking is several times faster than translating."""
    table = {ord(letter): other for letter, other in _ALIKE.items()}
    for zero in (0x660, 0x6F0, 0x966, 0x9E6):  # Arabic, Persian, Hindi, Bengali
        table |= {zero + number: str(number) for number in range(10)}
    pairs = files("memory.search.words").joinpath("data", "simplified.txt").read_text("utf-8").replace("\n", "")
    table |= {ord(pairs[at]): pairs[at + 1] for at in range(0, len(pairs), 2)}
    return table, re.compile(f"[{''.join(map(chr, table))}]")
