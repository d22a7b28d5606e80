"""Matched words: their spans in a text, and the text with the spans highlighted, safe for a terminal."""

import re
from collections.abc import Sequence
from typing import Final

from rich.text import Text

from foundation.terminal_text import visible
from foundation.text.analysis import iter_terms, token_spans
from foundation.text.stopwords import is_weak

Spans = Sequence[tuple[int, int]]

CONTEXT_CHARS: Final = 24  # characters shown before the first match, if it is far into a line
TAB: Final = "    "

_BLANKS = re.compile(r"\s+")


def match_spans(text: str, query: str) -> list[tuple[int, int]]:
    """Spans of the words of `query` in the text, compared by their stems; adjacent spans are joined."""
    query_stems = frozenset(iter_terms(query))
    required = frozenset(term for term in query_stems if not is_weak(term)) or query_stems
    matches: list[tuple[int, int]] = []
    for stems, start, end in token_spans(text):
        if required.isdisjoint(stems):
            continue
        if matches and start <= matches[-1][1]:
            matches[-1] = matches[-1][0], max(end, matches[-1][1])
        else:
            matches.append((start, end))
    return matches


def highlight(text: str, spans: Spans, style: str) -> Text:
    """The text, with its lines, and the spans in this style."""
    result = Text()
    for part, is_marked in split_at_spans(text, spans):
        result.append(visible(part).replace("\t", TAB), style if is_marked else None)
    return result


def highlight_line(text: str, spans: Spans, style: str) -> Text:
    """The same as one line, which starts shortly before the first span."""
    begin = _line_start(text, spans)
    result = Text("… " if begin else "", end="")
    for part, is_marked in split_at_spans(text[begin:], [(start - begin, end - begin) for start, end in spans]):
        flat = _BLANKS.sub(" ", visible(part))
        if result.plain.endswith(" ") or not result.plain:
            flat = flat.removeprefix(" ")
        result.append(flat, style if is_marked else None)
    return result


def split_at_spans(text: str, spans: Spans) -> list[tuple[str, bool]]:
    """The text split at the edges of the spans, and whether each part is a span. Spans outside the text are ignored."""
    parts: list[tuple[str, bool]] = []
    end_of_last = 0
    for start, end in sorted(spans):
        if start < end_of_last or end > len(text) or start >= end:
            continue
        parts += [(text[end_of_last:start], False), (text[start:end], True)]
        end_of_last = end
    return [(part, is_marked) for part, is_marked in (*parts, (text[end_of_last:], False)) if part]


def _line_start(text: str, spans: Spans) -> int:
    """Offset of the first character shown: 0, or the start of a word shortly before the first span."""
    first = min((start for start, _ in spans), default=0)
    if first <= 2 * CONTEXT_CHARS:
        return 0
    blank = _BLANKS.search(text, first - CONTEXT_CHARS, first)
    return blank.end() if blank else first - CONTEXT_CHARS // 2
