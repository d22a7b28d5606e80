"""From text to the terms that it is found by.

    "Sarah went to src/http_client.py"  →  sarah go to src/http_client.py src http_client http client py

English is stemmed, with its irregular verbs; case, width and accents fold; scripts without spaces give pairs of
characters (a character that stands alone gives itself); identifiers, paths, versions, hashes and addresses stay whole
and are split as well. What is stored was made by one ANALYSER: a change of what this gives must raise it.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from memory.search.words.fold import LONGEST, fold
from memory.search.words.identifiers import parts_of
from memory.search.words.marks import marks
from memory.search.words.packing import Terms, pack, unpack
from memory.search.words.scripts import MARKS, UNSPACED
from memory.search.words.stem import stem

__all__ = ["ANALYSER", "Terms", "analyse", "spans", "terms", "terms_of", "unpack", "version", "words"]

ANALYSER = 2

_LETTER = rf"(?:[^\W{UNSPACED}]|[{MARKS}])"
TOKEN = re.compile(
    rf"(?P<unspaced>[{UNSPACED}]+)"
    r"|(?P<address>(?:https?|ftp|file)://[^\s\x00-\x1f<>\"'`|{}\[\]）】」，。；]+[^\s<>\"'`|{}\[\]）】」，。；.,;:!?)])"
    rf"|(?P<language>\b[A-Za-z](?:\+\+|\#)(?!\w))"
    rf"|(?P<word>{_LETTER}+(?:(?:::|[.\-/\\:@'’+&~,]){_LETTER}+)*)"
)
"""A token of a text as it stands. `unspaced` is a run without spaces; `word` may have joints within."""


def analyse(text: str, speaker: str = "", meta: Mapping[str, Any] | None = None) -> Terms:
    """The terms of a text and of who said it, and what it is marked with: by `meta`, and by what stands in the text."""
    words = terms(f"{speaker}\n{text}" if speaker else text)
    return pack(words, version(), marks(text, speaker, meta))


def version() -> str:
    """What found the terms, as it stands in their rows: the number ANALYSER."""
    return str(ANALYSER)


def words(text: str) -> list[str]:
    """The terms, in order, with repeats."""
    return list(terms(text))


def terms(text: str) -> Iterator[str]:
    """The same, as they come."""
    for found in TOKEN.finditer(text):
        yield from terms_of(found[0], found.lastgroup or "word")


def spans(text: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Each token's terms and where it stands. A run without spaces comes a character at a time, with its pair."""
    for found in TOKEN.finditer(text):
        start, end = found.span()
        if found.lastgroup != "unspaced" or end - start < 2:
            yield terms_of(found[0], found.lastgroup or "word"), start, end
            continue
        for at in range(start, end - 1):
            yield terms_of(text[at : at + 2], "unspaced"), at, at + 2


def terms_of(token: str, kind: str) -> tuple[str, ...]:
    """The terms of one token."""
    match kind:
        case "unspaced":
            return _pairs(fold(token))
        case "language":
            return (fold(token),)
        case _ if len(token) <= LONGEST:
            return _word_terms(token)
        case _:
            return _parted(token)


def _parted(token: str) -> tuple[str, ...]:
    whole, parts = parts_of(token)
    return tuple(dict.fromkeys(term for term in (*map(_word, whole), *map(_word, parts)) if term))


_word_terms = lru_cache(maxsize=1 << 16)(_parted)
"""The same words come again and again: analysing is several times faster so."""


def _pairs(run: str) -> tuple[str, ...]:
    return tuple(run[at : at + 2] for at in range(len(run) - 1)) if len(run) > 1 else (run,)


def _word(word: str) -> str:
    """A folded word's term: its stem where it is plain English letters, a number without leading zeros."""
    if word.isascii():
        if word.isalpha():
            return stem(word)[:LONGEST]
        if word.isdigit() and len(word) <= 2:
            return word.lstrip("0") or "0"
    return word[:LONGEST]
