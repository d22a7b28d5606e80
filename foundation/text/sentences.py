"""Sentence boundaries in English, Chinese, Japanese and Korean text.

    "Dr. Ann left at 9:40.” She was late！真的吗？Yes."  →  Dr. Ann left at 9:40.” | She was late！ | 真的吗？ | Yes.

A full-width mark ends a sentence wherever it stands. An ASCII mark ends one only before white space or before a script
without spaces, so that `3.14`, `node.js` and `http://example.org/?q=1` stay whole, and not after an initial or a common
abbreviation. A line break always ends one: lines of lists, logs and transcripts are sentences of their own.
"""

import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from foundation.lazy_pattern import lazy_pattern
from foundation.text.folding import UNSPACED

_CLOSING = "[\"'”’)\\]」』）》】]*+"
_ABBREVIATIONS = r"(?<!\b[A-Z].)(?<!\b(?:Mr|Ms|Dr|St|vs).)(?<!\b(?:Mrs|e\.g|i\.e|etc).)"
_LINE_BREAKS = "\n\r\v\f\x1c-\x1e\x85\u2028\u2029"  # as str.splitlines has them
_MARKS = "[。！？；.!?…]"
_AFTER = rf"(?=[\s{UNSPACED}])"


def _pattern(commas: str) -> re.Pattern[str]:
    """One set of characters stands first: the engine then skips all others, and is five times as fast."""
    return lazy_pattern(
        rf"[{_LINE_BREAKS}。！？；.!?…{commas}](?:(?<=[{_LINE_BREAKS}])[{_LINE_BREAKS}]*+"
        rf"|(?<=[。！？；]){_MARKS}*+{_CLOSING}"
        rf"|(?<=[.!?…]){_ABBREVIATIONS}{_MARKS}*+{_CLOSING}{_AFTER}"
        rf"|(?P<clause>(?<=[,;，、]))(?![{_LINE_BREAKS}]){_AFTER})"
    )


_BOUNDARY = _pattern("")
_CLAUSE = _pattern(",;，、")


_REQUEST = re.compile(
    r"\W*(?:(?:please|can you) )*(?:(?:find|search(?: for)?|look up)(?: me)?|(?:get|give|tell) me"
    r"|(?:show|list) (?:me|us|the|my|our|all|any|every))\b"
    r"|(?!.*了\W*$)\W*(?:请|麻烦|帮我|给我|再|你)*(?:[查找搜](?:一下|下)|查[找询看阅]?|搜索?|检索|列出|找[出到]?)(?![了过])",
    re.IGNORECASE,
)
_VERB = r"(?:is|are|was|were|am|do|does|did|can|could|will|would|shall|should|may|must|has|have|had)(?:n['’]t)?"
_PRONOUN = r"(?:i|we|you|he|she|it|they)\b"
_ASKS = re.compile(
    r"\W*(?:(?:so|and|but|ok|hey|please|tell me|do you know|remind me),? )*(?:(?:(?:who|what|where|when|why|how)['’]s"
    rf"|(?:who|whom|whose|what|where|when|why|how|which)(?: (?!{_PRONOUN})[\w'’-]+){{0,3}}? {_VERB})\b"
    rf"|{_VERB} (?:{_PRONOUN}|(?:my|our|your|the|there)\b))(?!.*[.!]\s*$)"
    r"|(?!.*不知道)[^，,。]*(?:(?:什么|啥|谁|哪[个些里儿种位天年家一次])(?![都也])|多少|几[点岁号]|怎么|如何|为什么|[吗呢]$)"
    r"[^，,。]*$",
    re.IGNORECASE,
)


class Sentence(NamedTuple):
    """A sentence, or a line, without the white space around it; `text[start:end]` of the text it is from."""

    text: str
    start: int
    end: int


def boundaries(text: str, start: int = 0, end: int = sys.maxsize, *, clause: int = 0) -> Iterator[int]:
    """The offsets just behind each sentence and line of `text[start:end]`, ascending.

    The end of the text is no boundary by itself: more may follow. With `clause`, a sentence ends at a comma or a
    semicolon too where it is that many characters long there.
    """
    if not clause:
        yield from (match.end() for match in _BOUNDARY.finditer(text, start, end))
        return
    last = start
    for match in _CLAUSE.finditer(text, start, end):
        if match.lastgroup is None or match.end() - last >= clause:
            last = match.end()
            yield last


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text in their order; none is blank, and none goes over a line break."""
    start = 0
    for end in (*boundaries(text), len(text)):
        piece = text[start:end]
        if bare := piece.strip():
            first = start + len(piece) - len(piece.lstrip())
            yield Sentence(bare, first, first + len(bare))
        start = end


def is_question(sentence: str) -> bool:
    """Whether it ends with a question mark, quotation marks and brackets after it aside."""
    return sentence.rstrip("\"'”’)]」』）》】 \t\n").endswith(("?", "？"))


def request_end(text: str) -> int:
    """The offset behind the words with which a text asks for entries: “Show me the flights”, 查找航班; 0 if none."""
    match = _REQUEST.match(text)
    return match.end() if match else 0


def only_asks(text: str) -> bool:
    """Whether each sentence of a text asks: it ends with a question mark, has the form of a question, or is a request.

    Such a text is no evidence: “What is my dentist called” says nothing of the dentist.
    """
    found = [sentence.text for sentence in sentences(text)]
    return bool(found) and all(_asks(one) or request_end(one) for one in found)


def asks_something(text: str) -> bool:
    """Whether the text begins with a request for entries, or one of its sentences asks."""
    return request_end(text) > 0 or any(_asks(sentence.text) for sentence in sentences(text))


def _asks(sentence: str) -> bool:
    return is_question(sentence) or _ASKS.match(sentence) is not None
