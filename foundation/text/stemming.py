"""English stems, by the Snowball project's second Porter algorithm ("English", snowballstem.org).

It gives what the package snowballstemmer gives (a test compares them), which other languages are stemmed with. English
has its own copy because every start needs it: importing the package takes 0.20 s of CPU, as it loads all its languages,
and it stems a word in 38 µs where this takes 3. Stems are stored: a change here raises `analysis.ANALYSER`.
"""

import re
from functools import cache, lru_cache

from foundation.text.word_forms import IRREGULAR, spellings, with_z

_VOWELS = "aeiouy"
_VOWEL_SET = frozenset(_VOWELS)
_DOUBLES = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
_REGION = re.compile(r"[aeiouy][^aeiouy]")
_LONG_PREFIXES = ("gener", "commun", "arsen", "past", "univers", "later", "emerg", "organ", "inter")
_SHORT_END = re.compile(r"(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy]|^past)$")
_STAYS = frozenset(
    {"sky", "news", "howe", "atlas", "cosmos", "bias", "andes"}
    | {"inning", "outing", "canning", "herring", "earring", "evening", "proceed", "exceed", "succeed"}
)
_SPECIAL = {
    "skis": "ski",
    "skies": "sky",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",
}
# Longest first within a step; the text is Snowball's table of step 2 and step 3.
_STEP_2 = (
    ("ization", "ize"),
    ("ational", "ate"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("iveness", "ive"),
    ("tional", "tion"),
    ("biliti", "ble"),
    ("lessli", "less"),
    ("entli", "ent"),
    ("ation", "ate"),
    ("alism", "al"),
    ("aliti", "al"),
    ("ousli", "ous"),
    ("iviti", "ive"),
    ("fulli", "ful"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("abli", "able"),
    ("izer", "ize"),
    ("ator", "ate"),
    ("alli", "al"),
    ("bli", "ble"),
)
_STEP_3 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("alize", "al"),
    ("icate", "ic"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
)
_STEP_4 = (
    "ement",
    "ance",
    "ence",
    "able",
    "ible",
    "ment",
    "ant",
    "ent",
    "ism",
    "ate",
    "iti",
    "ous",
    "ive",
    "ize",
    "al",
    "er",
    "ic",
)
_ENDS_1B = ("ingly", "edly", "ing", "ed")
_ENDS_2 = tuple(ending for ending, _ in _STEP_2)  # one call of `endswith` for most words, which have none of them
_ENDS_3 = tuple(ending for ending, _ in _STEP_3)


@lru_cache(maxsize=1 << 13)  # identifiers share their parts
def stem(word: str) -> str:
    """The stem of a word in small letters a–z: `deciding`, `decides` → `decid`; `went` → `go`; `colours` → `color`."""
    stemmed = bare_stem(with_z(IRREGULAR.get(word, word)))
    return _spellings().get(stemmed, stemmed)


@cache
def _spellings() -> dict[str, str]:
    """From a stem to that of the same word as it is written elsewhere."""
    rows = [[bare_stem(IRREGULAR.get(word, word)) for word in row] for row in spellings()]
    return {other: first for first, *others in rows for other in others if other != first}


def bare_stem(word: str) -> str:
    """The stem by the published algorithm alone."""
    if len(word) <= 2 or word in _STAYS:
        return word
    if word in _SPECIAL:
        return _SPECIAL[word]
    word = _marked(word)
    first, second = _regions(word)
    word = _step_1a(word)
    if word in _STAYS:
        return word
    word = _step_1c(_step_1b(word, first))
    word = _step_3(_step_2(word, first), first, second)
    return _step_5(_step_4(word, second), first, second).replace("Y", "y")


def _marked(word: str) -> str:
    """A `y` that sounds as a consonant becomes `Y`."""
    if "y" not in word:
        return word
    if word[0] == "y":
        word = "Y" + word[1:]
    return re.sub(r"(?<=[aeiouy])y", "Y", word)


def _regions(word: str) -> tuple[int, int]:
    """Where the regions R1 and R2 begin: each after the first consonant that follows a vowel."""
    if word.startswith(_LONG_PREFIXES):
        first = next(len(prefix) for prefix in _LONG_PREFIXES if word.startswith(prefix))
    else:
        match = _REGION.search(word)
        first = match.end() if match else len(word)
    match = _REGION.search(word, first)
    return first, match.end() if match else len(word)


def _has_vowel(part: str) -> bool:
    return not _VOWEL_SET.isdisjoint(part)


def _is_short(word: str, first: int) -> bool:
    return first >= len(word) and _SHORT_END.search(word) is not None


def _step_1a(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith(("us", "ss")):
        return word
    if word.endswith("s") and _has_vowel(word[:-2]):
        return word[:-1]
    return word


def _step_1b(word: str, first: int) -> str:
    if word.endswith(("eed", "eedly")):
        cut = word.rindex("eed")
        return word[:cut] + "ee" if cut >= first else word
    for ending in _ENDS_1B if word.endswith(_ENDS_1B) else ():
        if not word.endswith(ending):
            continue
        rest = word[: -len(ending)]
        if ending == "ing" and len(rest) == 2 and rest[1] in "yY" and rest[0] not in _VOWELS:
            return rest[0] + "ie"  # dying → die, lying → lie
        return _mended(rest, first) if _has_vowel(rest) else word
    return word


def _mended(rest: str, first: int) -> str:
    """Restores the stem after -ed or -ing was removed: `hop` of hopping, `hope` of hoping."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if rest.endswith(_DOUBLES):
        return rest if len(rest) == 3 and rest[0] in "aeo" else rest[:-1]
    return rest + "e" if _is_short(rest, first) else rest


def _step_1c(word: str) -> str:
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        return word[:-1] + "i"
    return word


def _step_2(word: str, first: int) -> str:
    for ending, instead in _STEP_2 if word.endswith(_ENDS_2) else ():
        if word.endswith(ending):
            cut = len(word) - len(ending)
            return word[:cut] + instead if cut >= first else word
    if word.endswith("ogist") and len(word) - 5 >= first:
        return word[:-3]
    if word.endswith("ogi") and len(word) - 3 >= first and word[-4:-3] == "l":
        return word[:-1]
    if word.endswith("li") and len(word) - 2 >= first and word[-3] in "cdeghkmnrt":
        return word[:-2]
    return word


def _step_3(word: str, first: int, second: int) -> str:
    for ending, instead in _STEP_3 if word.endswith(_ENDS_3) else ():
        if word.endswith(ending):
            cut = len(word) - len(ending)
            return word[:cut] + instead if cut >= first else word
    if word.endswith("ative") and len(word) - 5 >= second:
        return word[:-5]
    return word


def _step_4(word: str, second: int) -> str:
    for ending in _STEP_4 if word.endswith(_STEP_4) else ():
        if word.endswith(ending):
            cut = len(word) - len(ending)
            return word[:cut] if cut >= second else word
    if word.endswith("ion") and len(word) - 3 >= second and word[-4:-3] in ("s", "t"):
        return word[:-3]
    return word


def _step_5(word: str, first: int, second: int) -> str:
    cut = len(word) - 1
    if word.endswith("e") and (cut >= second or (cut >= first and not _SHORT_END.search(word[:-1]))):
        return word[:-1]
    if word.endswith("ll") and cut >= second:
        return word[:-1]
    return word
