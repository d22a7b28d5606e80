"""Folding: what looks the same, or is the same but for case, width or an accent, becomes the same.

Which characters make words, script by script, as ranges for a regular expression's brackets.
"""

import re
import unicodedata
from functools import cache
from importlib.resources import files

from foundation.lazy_pattern import lazy_pattern

LONGEST = 64
"""Characters of a term: a SHA-256 in hex fits; what is longer is cut."""

ACCENTS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u200c\u200d"
"""Accents, points and joiners, which folding leaves out, as ranges for a regular expression's brackets."""
_ACCENTS = lazy_pattern(f"[{ACCENTS}]")
_ALIKE = {
    "ı": "i",
    "ø": "o",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "æ": "ae",
    "œ": "oe",
    "ħ": "h",
    "ى": "ي",
    "ة": "ه",
    "ٱ": "ا",
    "ک": "ك",
    "ی": "ي",
}


def fold(word: str) -> str:
    """NFKC, case folded, without accents and points, Chinese in simplified characters.

    `Ｃafé` → `cafe`, `ﬁle` → `file`, `ｶﾞ` → `ガ`, `Łódź` → `lodz`, 軟體 → 软体, `كِتَاب` → `كتاب`, `٣` → `3`.
    """
    if word.isascii():
        return word.lower()
    folded = lowercase(word)
    if folded.isascii():
        return folded
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", folded))
    composed = unicodedata.normalize("NFKC", bare)
    table, any_of_it = _alike()
    return composed.translate(table) if any_of_it.search(composed) else composed


def lowercase(word: str) -> str:
    """NFKC and case folded, with its accents, as a stemmer takes it."""
    return unicodedata.normalize("NFKC", word).casefold()


@cache
def _alike() -> tuple[dict[int, str], re.Pattern[str]]:
    """Letters that no decomposition brings together, digits, and the simplified character of each traditional one. And
    what finds any of them: most words hold none, and looking is several times faster than translating."""
    table = {ord(letter): other for letter, other in _ALIKE.items()}
    for zero in (0x660, 0x6F0, 0x966, 0x9E6):  # Arabic, Persian, Hindi, Bengali
        table |= {zero + number: str(number) for number in range(10)}
    table |= _simplified()
    return table, re.compile(f"[{''.join(map(chr, table))}]")


@cache
def _simplified() -> dict[int, str]:
    """The simplified character of each traditional one."""
    pairs = files("foundation.text").joinpath("data", "simplified.txt").read_text("utf-8").replace("\n", "")
    return {ord(pairs[at]): pairs[at + 1] for at in range(0, len(pairs), 2)}


HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
SOUTH_EAST_ASIA = "\u0e00-\u0e4e\u0e80-\u0ecd\u1000-\u1049\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer: no spaces either
UNSPACED = HAN + KANA + HANGUL + SOUTH_EAST_ASIA
"""Scripts whose words no space parts (and Hangul, whose endings stick to the word): searched by pairs of characters."""

MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0980-\u09e3\u0a00-\u0a75"
    "\u0a80-\u0ae3\u0b00-\u0b63\u0b80-\u0bcd\u0c00-\u0c63\u0c80-\u0ce3\u0d00-\u0d63\u0d80-\u0df3\u200c\u200d"
)
"""Marks within words, which `\\w` leaves out: accents, Arabic and Hebrew points, the vowels of Indian scripts."""

EMOJI = "\u2600-\u27bf\u2b50\u2b55\U0001f300-\U0001f3fa\U0001f400-\U0001faff"
"""Pictures that are words. Skin tones and joiners are left out: 👩🏽‍💻 is 👩 and 💻."""

_UNSPACED = lazy_pattern(rf"[{UNSPACED}]+")


def is_unspaced(word: str) -> bool:
    """Whether all of it is of a script without spaces."""
    return _UNSPACED.fullmatch(word) is not None
