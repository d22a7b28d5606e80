"""Words that are more than a word: `snake_case`, `camelCase`, paths, versions, hashes, addresses, contractions."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from foundation.text.folding import LONGEST, fold

_JOINT = r".\-/\\:@'’+&~,_?=#%;()*!$"
_JOINTS = re.compile(f"[{_JOINT}]+")
_PART = re.compile(f"[^{_JOINT}]+")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\WA-Za-z\d_]+")
_CONTRACTION = re.compile(r"n['’]t$|['’](?:s|re|ve|ll|d|m)?$", re.IGNORECASE)
_VERSION = re.compile(r"[vV]?(\d+(?:\.\d+)+)")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)", re.IGNORECASE)
_HASH = re.compile(r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,}", re.IGNORECASE)
_OTHER_SCRIPT = re.compile(r"[^\x00-\x7f\u00aa-\u024f]+")  # its vowels may be marks, which are no letters to Python
_LONGEST_WHOLE = 128  # a longer path or address is found by its parts
_MOST_NUMBERS = 12  # a longer row of numbers is no version; a thousand of them would be as many wholes
_MOST_HUMPS = 8  # a run of letters and digits with more is no name but a code

IdentifierParts = tuple[list[str], list[str]]
"""What stands whole (kept as it is) and what it is made of (stemmed where it is English), folded."""


def parts_of(token: str, folded: Callable[[str], str] = fold) -> IdentifierParts:
    """`getHTTPResponse` → whole `gethttpresponse`, parts `get http response`. A plain word is its own only part.

    `folded` folds the parts: a stemmer of another language needs their accents.
    """
    if token.isalpha() and (token.islower() or token.istitle() or token.isupper()):
        return [], [folded(token)]
    if "://" in token:
        return _address(token)
    if "'" in token or "’" in token:
        token = _CONTRACTION.sub("", token)
    if (match := _VERSION.fullmatch(token)) and len(numbers := match[1].split(".")) <= _MOST_NUMBERS:
        return [".".join(numbers[:length]) for length in range(2, len(numbers) + 1)], []
    if _THOUSANDS.fullmatch(token):
        return [], [token.replace(",", "")]
    return _joined(token, folded)


def _address(token: str) -> IdentifierParts:
    bare = token.split("://", 1)[1].removeprefix("www.").rstrip("/")
    host = bare.split("/", 1)[0]
    _, parts = _joined(bare)
    return [fold(name) for name in dict.fromkeys((bare, host)) if len(name) <= _LONGEST_WHOLE], parts


def _joined(token: str, folded: Callable[[str], str] = fold) -> IdentifierParts:
    if len(token) > _LONGEST_WHOLE:  # found by its parts alone, each once: a token may be megabytes of them
        parts = list(dict.fromkeys(match[0] for match in _PART.finditer(token)))
    else:
        parts = [part for part in _JOINTS.split(token) if part]
    split = [hump for part in parts for hump in (_humps if len(part) <= LONGEST else _humps.__wrapped__)(part)]
    wholes = [fold(joined) for joined in _wholes(token, parts, split)]
    return wholes, [folded(part)[:LONGEST] for part in split]


def _wholes(token: str, parts: list[str], split: list[str]) -> list[str]:
    alone = set(split)
    if len(parts) < 2:
        return [] if split == parts or _ORDINAL.fullmatch(token) else parts
    if len(token) > _LONGEST_WHOLE or "," in token:
        return [part for part in parts if part not in alone]
    if all(part.isalpha() for part in parts) and "_" not in token:
        joint = _JOINTS.findall(token)
        if set(joint) == {"-"}:
            return ["".join(parts)] if len(parts) == 2 else []  # e-mail is email
        if set(joint) <= {"'", "’", "/", "&", "+", "~"} and len(parts) == 2:
            return []  # and/or
    return [token, *(part for part in parts if part not in alone)]


@lru_cache(maxsize=1 << 13)  # identifiers share their parts
def _humps(part: str) -> Sequence[str]:
    """`HTTPResponse2` → HTTP, Response, 2. Hashes, ordinals and codes stay as they are, and so do other scripts."""
    if _OTHER_SCRIPT.fullmatch(part):
        return [part]
    if part.isdigit() or (part.isalpha() and (part.islower() or part.isupper() or part.istitle())):
        return [part]
    if match := _ORDINAL.fullmatch(part):
        return [match[1]]
    if _HASH.fullmatch(part):
        return [part]
    humps = [hump for hump in _HUMPS.findall(part) if len(hump) > 1 or hump.isdigit()]
    return humps if 0 < len(humps) <= _MOST_HUMPS else [part]
