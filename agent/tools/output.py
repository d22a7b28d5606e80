"""The bounded piece of a tool's output that the model sees.

The whole is stored. The model gets unaltered lines of it, with a first line that gives the true counts, the id of the
whole and which lines follow: the beginning, the end, and lines around what looks like an error.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

HEAD_SHARE: Final = 0.45  # of the characters; the end gets as many as the errors leave
ERRORS_SHARE: Final = 0.2
AROUND: Final = 2  # lines shown before and after an error
LONG_AVERAGE: Final = 1_000  # characters a line, from which on characters are shown and not lines
LONGEST_LINE: Final = 2_000  # characters of a line that are shown; the rest of it is counted

_ERROR: Final = re.compile(
    r"\b(?:error|exception|traceback|fatal|panic(?:ked)?|fail(?:ed|ure)|undefined|cannot|denied|not found)\b"
    r"|\w(?:Error|Exception)\b|错误|失败|异常",
    re.IGNORECASE,
)
LONGEST_SUMMARY: Final = 120  # characters


class Span(Struct, frozen=True):
    """Lines from `start` to before `end`, counted from 0."""

    start: int
    end: int


def bounded(whole: str, most: int, entry: str) -> str:
    """`whole` where it has at most `most` characters, else the pieces of it that the model sees, about `most` long."""
    if len(whole) <= most:
        return whole
    lines = text_lines(whole)
    if len(whole) > len(lines) * LONG_AVERAGE:
        return _by_characters(whole, most, entry, len(lines))
    spans = _spans(lines, most)
    return _heading(whole, len(lines), entry, ", ".join(map(_range, spans))) + "\n".join(
        _piece(lines, span) for span in spans
    )


def text_lines(text: str) -> list[str]:
    """The lines with their line ends. A line ends with a line feed alone, as in editors."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _by_characters(whole: str, most: int, entry: str, lines: int) -> str:
    """The first and the last characters of a text of few long lines."""
    head, tail = round(most * 0.7), round(most * 0.3)
    start = len(whole) - tail
    shown = f"characters 1-{head:,} and {start + 1:,}-{len(whole):,}"
    return f"{_heading(whole, lines, entry, shown)}{whole[:head]}\n{whole[start:]}"


def _heading(whole: str, lines: int, entry: str, shown: str) -> str:
    counts = f"{len(whole):,} characters in {lines:,} line{'s' if lines > 1 else ''}"
    return f"[{counts}; the whole is {entry}: recall brings any part of it, or finds in it. Shown: {shown}]\n"


def _spans(lines: Sequence[str], most: int) -> list[Span]:
    """The lines shown, in order, without overlaps."""
    head = _fitting(lines, range(len(lines)), most * HEAD_SHARE) or 1
    errors = [
        Span(max(number - AROUND, head), min(number + AROUND + 1, len(lines)))
        for number in range(head, len(lines))
        if _ERROR.search(lines[number], 0, LONGEST_LINE)
    ]
    left = most - _size(lines, Span(0, head))
    chosen = [Span(0, head)]
    for span in errors:
        size = _size(lines, span)
        if size > most * ERRORS_SHARE or sum(_size(lines, one) for one in chosen[1:]) + size > most * ERRORS_SHARE:
            break
        chosen.append(span)
        left -= size
    tail = _fitting(lines, range(len(lines) - 1, head - 1, -1), left)
    return _merged([*chosen, *([Span(len(lines) - tail, len(lines))] if tail else [])])


def _fitting(lines: Sequence[str], order: Iterable[int], most: float) -> int:
    """How many lines of that order fit."""
    count = 0
    for number in order:
        most -= min(len(lines[number]), LONGEST_LINE)
        if most < 0:
            break
        count += 1
    return count


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: span.start):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


def _size(lines: Sequence[str], span: Span) -> int:
    return sum(min(len(lines[number]), LONGEST_LINE) for number in range(span.start, span.end))


def _range(span: Span) -> str:
    return f"line {span.end}" if span.end == span.start + 1 else f"lines {span.start + 1}-{span.end}"


def _piece(lines: Sequence[str], span: Span) -> str:
    return "".join(_shown_line(lines[number]) for number in range(span.start, span.end))


def _shown_line(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:LONGEST_LINE]}[… {len(line) - LONGEST_LINE:,} more characters in this line]\n"


def short_summary(text: str) -> str:
    """The first line, at most LONGEST_SUMMARY characters of it, for a line about a call."""
    first = text.strip().split("\n", 1)[0]
    shown = first
    if len(first) > LONGEST_SUMMARY:  # at a word's end: half of a key is not recognised as one
        shown = first[:LONGEST_SUMMARY].rsplit(maxsplit=1)[0]
    return shown + ("…" if shown != text.strip() else "")
