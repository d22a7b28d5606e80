"""Where the question's words stand in a snippet, so that a screen can show why it was found.

marked("Die Fähre: src/ferry_times.py", {"ferri": 4.1})  →  ((15, 20),)
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from foundation.text.analysis import spans, terms_of
from foundation.text.stopwords import is_weak

_PART = re.compile(r"[^\W_]+")

HighlightSpans = tuple[tuple[int, int], ...]
"""Spans of characters, first to last and not touching."""

TermSpan = tuple[tuple[str, ...], int, int]


def marked(snippet: str, worth: Mapping[str, float], found: Iterable[TermSpan] | None = None) -> HighlightSpans:
    """`worth` are the question's terms. Words that say little are marked only where the question has no others.
    `found` are the snippet's `spans`, where they are at hand."""
    wanted = {term for term in worth if not is_weak(term)} or set(worth)
    if not wanted:
        return ()
    return _joined(snippet, (part for one in found or spans(snippet) for part in _within(snippet, one, wanted)))


def _within(snippet: str, found: TermSpan, wanted: set[str]) -> Iterator[tuple[int, int]]:
    """The part of a path, an address or a name with humps that the question asked for; the whole where none is."""
    terms, start, end = found
    if wanted.isdisjoint(terms):
        return
    parts = [match.span() for match in _PART.finditer(snippet, start, end)]
    if len(parts) > 1:
        hit = [(at, to) for at, to in parts if not wanted.isdisjoint(terms_of(snippet[at:to], "word"))]
        if hit:
            yield from hit
            return
    yield start, end


def _joined(snippet: str, parts: Iterator[tuple[int, int]]) -> HighlightSpans:
    """Pairs of characters that overlap, and words with a blank between, are one mark."""
    marks: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if marks and not snippet[marks[-1][1] : start].strip(" "):
            marks[-1] = (marks[-1][0], max(end, marks[-1][1]))
        else:
            marks.append((start, end))
    return tuple(marks)
