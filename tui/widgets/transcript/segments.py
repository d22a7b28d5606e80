"""Runs of styled text, and their wrapping into lines."""

from collections.abc import Callable, Iterable
from itertools import pairwise

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from foundation.terminal_text import visible

StyledRun = tuple[str, Style]
StyledLine = list[Segment]


def cut(
    runs: Iterable[StyledRun], width: int, breaks: Callable[[str, int], list[int]], *, keep_spaces: bool = False
) -> list[StyledLine]:
    """The runs, made visible, as lines of at most `width` cells; a newline in a run begins another."""
    lines: list[StyledLine] = []
    for paragraph in _paragraphs(runs):
        text = "".join(words for words, _ in paragraph)
        offsets = breaks(text, width)
        if not offsets:
            lines.append([Segment(words, style) for words, style in paragraph])
            continue
        for start, end in pairwise([0, *offsets, len(text)]):
            last = end if keep_spaces or end == len(text) else start + len(text[start:end].rstrip(" "))
            lines.append(_between(paragraph, start, last))
    return lines


def _paragraphs(runs: Iterable[StyledRun]) -> list[list[StyledRun]]:
    found: list[list[StyledRun]] = [[]]
    for words, style in runs:
        first, *rest = visible(words).split("\n")  # Markdown's entities may have hidden something: &#x202E;
        if first:
            found[-1].append((first, style))
        found.extend([(piece, style)] if piece else [] for piece in rest)
    return found


def _between(runs: list[StyledRun], start: int, end: int) -> StyledLine:
    line: StyledLine = []
    at = 0
    for words, style in runs:
        if piece := words[max(start - at, 0) : max(end - at, 0)]:
            line.append(Segment(piece, style))
        at += len(words)
    return line


def cells(line: StyledLine) -> int:
    """How wide the line is, in cells."""
    return sum(cell_len(segment.text) for segment in line)


def indented(lines: Iterable[StyledLine], first: Segment, others: Segment) -> list[StyledLine]:
    """The lines behind a mark."""
    return [[first if number == 0 else others, *line] for number, line in enumerate(lines)]
