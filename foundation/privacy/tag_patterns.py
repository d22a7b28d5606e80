"""Patterns of the marks that the tag scanner knows, and of their unfinished beginnings."""

import re
from collections.abc import Sequence

from foundation.lazy_pattern import lazy_pattern

_SPACE = r"[ \t\xa0\xad\u2000-\u200d\u202f\u2060\u3000\ufeff]{0,3}"
_LESS = r"(?:[<＜〈⟨﹤]|&lt;|&LT;|&#60;|&#[xX]3[cC];|\\u003[cC]|%3[cC])"
_GREATER = r"(?:[>＞〉⟩﹥]|&gt;|&GT;|&#62;|&#[xX]3[eE];|\\u003[eE]|%3[eE])"
_SLASH = r"(?:[/／]|%2[fF])"
_LETTERS = [f"[{letter}{letter.upper()}{chr(ord(letter) + 0xFEE0)}{chr(ord(letter) + 0xFEC0)}]" for letter in "private"]
_NAME = "".join(_LETTERS)

OPEN = rf"{_LESS}{_SPACE}{_NAME}(?=[\s\u200b\u2060\ufeff]|{_GREATER}|{_SLASH}\s{{0,8}}{_GREATER})"
CLOSE = rf"{_LESS}{_SPACE}{_SLASH}{_SPACE}{_NAME}[\s\u200b\u2060\ufeff]{{0,8}}{_GREATER}"
INJECTED_KINDS = (
    *(
        "agents",
        "attachment",
        "changes",
        "hook",
        "instructions",
        "language",
        "memory",
        "page",
        "pages",
        "recalled",
        "tools",
    ),
    *("skill", "skills", "soul", "summary"),
)
"""What the program puts into a request between tags of its own: `<palimpsest-recalled-bcdfghjk>`."""
OURS = rf"<palimpsest-(?P<name>(?:{'|'.join(INJECTED_KINDS)})(?:-(?P<nonce>[bcdfghjkmnpqrstvwxz]{{8}}))?)(?=[\s>])"
_KEY_GAP = r"(?:[ +]|%20)"
_KEY_KIND = r"(?:[ A-Z0-9+]|%20){0,40}"
_KEY_DASHES = r"(?:----- ?|---- )"
KEY_NAME = rf"{_KEY_GAP}PRIVATE{_KEY_GAP}KEY(?:{_KEY_GAP}BLOCK)?(?:-----| ----)"
KEY = rf"-----BEGIN{_KEY_KIND}{KEY_NAME}|---- BEGIN{_KEY_KIND}{KEY_NAME}|Private-Lines: \d{{1,3}}(?=\s)"
_MARKS = r"(?P<line>\n)|(?P<run>`+)|(?P<tilde>~~~+)"
OUTSIDE = lazy_pattern(rf"{_MARKS}|(?P<open>{OPEN})|(?P<ours>{OURS})|(?P<key>{KEY})")
EVENT = lazy_pattern(rf"{OPEN}|{OURS}|{KEY}")
"""What begins a span that is taken out."""
INSIDE = lazy_pattern(rf"{_MARKS}|(?P<open>{OPEN})|(?P<close>{CLOSE})")
PAIRED = lazy_pattern(rf"(?P<open>{OPEN})|(?P<close>{CLOSE})|(?P<end>{OURS}|\[injected\]|\[private\])")
_TAGGISH = lazy_pattern(rf"[<＜〈⟨﹤]{_SPACE}{_LETTERS[0]}{_LETTERS[1]}|<palimpsest-")
_TAGGISH_ESCAPED = lazy_pattern(rf"{_LESS}{_SPACE}{_LETTERS[0]}{_LETTERS[1]}")
_REST_OF_TAG = rf"(?:[^<>＜＞\n]{{0,80}}?{_GREATER})?"
TAG = lazy_pattern(rf"{CLOSE}|(?<![A-Za-z0-9])(?:{OPEN}){_REST_OF_TAG}")
FIRST_TAG = lazy_pattern(rf"(?:{OPEN}){_REST_OF_TAG}")

_AFTER_A_WORD = lazy_pattern(r"(?:[A-Za-z0-9]|/\*[ \t]{0,2}|\[secret: [a-z0-9-]{1,60}\])\Z")
LONGEST_BEFORE = 80
"""Characters before a tag that have a part in what it is."""
LONGEST_EVENT = 130


def mentions_marks(text: str) -> bool:
    """Whether a tag, a block of ours or a key could stand in the text at all: a quick look."""
    less = "<" in text or (not text.isascii() and any(sign in text for sign in "＜〈⟨﹤"))
    return (
        (less and _TAGGISH.search(text) is not None)
        or "-- BEGIN" in text
        or "--BEGIN" in text
        or "Private-Lines" in text
        or (("&" in text or "%3" in text or "\\u003" in text) and _TAGGISH_ESCAPED.search(text) is not None)
    )


def is_attached(text: str, start: int) -> bool:
    """Whether a tag that begins at `start` stands directly after a letter, a digit, a secret or a comment's `/*`."""
    return start > 0 and _AFTER_A_WORD.search(text, max(0, start - LONGEST_BEFORE), start) is not None


def _begun(word: str, *, least: int = 0) -> str:
    """A pattern for the beginnings of `word`, at least `least` long, itself included."""
    return "(?:" + "|".join(re.escape(word[:length]) for length in range(len(word), max(least, 1) - 1, -1)) + ")"


def _chain(parts: Sequence[tuple[str, str]]) -> str:
    """A pattern for every unfinished beginning of a sequence of (whole, unfinished) patterns."""
    pattern = r"\Z"
    for whole, unfinished in reversed(parts):
        some = rf"(?:{unfinished})\Z|" if unfinished else ""
        pattern = rf"(?:{some}(?:{whole})(?:\Z|{pattern}))"
    return pattern


def _escapes(*words: str) -> str:
    return "|".join(_begun(word[:-1]) for word in words)


_SPACES = (_SPACE, "")
_TAG_PARTS = [
    (_LESS, _escapes("&lt;", "&LT;", "&#60;", "&#x3c;", "&#x3C;", "&#X3c;", "&#X3C;", r"\u003c", "%3c")),
    _SPACES,
    (rf"{_SLASH}?", _escapes("%2f")),
    _SPACES,
    *((letter, "") for letter in _LETTERS),
    (r"[\s\u200b\u2060\ufeff]{0,8}", ""),
    (rf"{_SLASH}?", _escapes("%2f")),
    (r"\s{0,8}", ""),
    (r"(?!)", _escapes("&gt;", "&GT;", "&#62;", "&#x3e;", "&#x3E;", "&#X3e;", "&#X3E;", r"\u003e", "%3e")),
]
UNFINISHED = lazy_pattern(
    rf"(?:{_chain(_TAG_PARTS)}"
    rf"|(?:{_begun('<palimpsest-')}|<palimpsest-[a-z0-9-]{{0,40}})\Z"
    rf"|(?:----- ?|---- )BEGIN(?:[ A-Z0-9+]|%(?:20?)?){{0,70}}-{{0,5}}\Z"
    rf"|(?:{_begun('-----BEGIN')}|{_begun('---- BEGIN')})\Z"
    rf"|(?:{_begun('Private-Lines: ')}|Private-Lines: \d{{0,3}})\Z"
    rf"|(?:{_begun('[private]')}|{_begun('[injected]')})\Z"
    r"|`+\Z|~+\Z)"
)
"""What could still become a mark when more text comes, to the end of the text."""

_HTML = r"</?(?!p(?:ri|al))[a-zA-Z][a-zA-Z0-9]{0,9}(?: [^<>\n]{0,80})?/?>"
_LABEL = r"\[(?!private\]|injected\]|secret: )[^\[\]\n<＜`~]{0,40}\]"
_TICKS = r"(?<!`)`{1,2}(?!`)"
KEY_BODY = lazy_pattern(rf"(?:[^<＜〈⟨﹤\[`~]++|{_HTML}|{_LABEL}|{_TICKS}){{0,2000}}+")
LONGEST_KEY = 32768
LONGEST_KEY_UNIT = 120
KEY_END = lazy_pattern(rf"(?:-----|---- )END{_KEY_KIND}{KEY_NAME}")
PUTTY_END = re.compile(r"Private-MAC: [0-9a-f]{8,64}")
KEY_WORDS = re.compile(r"[A-Za-z0-9+/=]{16}")
KEY_CUT_OFF = lazy_pattern(
    rf"(?:(?:\s|\\[nr]|[\"'+,>|#*]|{_HTML}|{_LABEL}|{_TICKS})*+"
    r"(?:[A-Z][A-Za-z-]{3,20}: [^\n<＜〈⟨﹤\[`~]{0,200}\n|[A-Za-z0-9+/=]{24,}+))++"
)
