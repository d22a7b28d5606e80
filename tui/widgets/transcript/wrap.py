"""Wraps runs of styled text into lines of terminal cells.

Lines break at spaces, and between characters of scripts without spaces. A path that is wider than a line breaks after a
slash.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from rich.cells import cell_len, split_graphemes
from rich.segment import Segment
from rich.style import Style

from foundation.terminal_text import visible

StyledRun = tuple[str, Style]
StyledLine = list[Segment]

_NO_START = frozenset("、。，．・：；？！）］｝〉》」』】〕〗’”…ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.;:?!)]}%")
_NO_END = frozenset("（［｛〈《「『【〔〖‘“([{")


def wrap_runs(
    runs: Iterable[StyledRun], width: int, breaks: Callable[[str, int], list[int]], *, keep_spaces: bool = False
) -> list[StyledLine]:
    """The runs, made visible, as lines of at most `width` cells; a newline in a run starts a line.

    `breaks` is `line_breaks` or `code_breaks`. Trailing spaces are cut off, unless `keep_spaces`.
    """
    lines: list[StyledLine] = []
    for paragraph in _paragraphs(runs):
        text = "".join(text for text, _ in paragraph)
        offsets = breaks(text, width)
        if not offsets:
            lines.append([Segment(text, style) for text, style in paragraph])
            continue
        for start, end in pairwise([0, *offsets, len(text)]):
            stop = end if keep_spaces or end == len(text) else start + len(text[start:end].rstrip(" "))
            lines.append(_slice(paragraph, start, stop))
    return lines


def _paragraphs(runs: Iterable[StyledRun]) -> list[list[StyledRun]]:
    paragraphs: list[list[StyledRun]] = [[]]
    for text, style in runs:
        first, *rest = visible(text).split("\n")  # an entity of Markdown can hide a control character: &#x202E;
        if first:
            paragraphs[-1].append((first, style))
        paragraphs.extend([(part, style)] if part else [] for part in rest)
    return paragraphs


def _slice(runs: list[StyledRun], start: int, end: int) -> StyledLine:
    line: StyledLine = []
    offset = 0
    for text, style in runs:
        if part := text[max(start - offset, 0) : max(end - offset, 0)]:
            line.append(Segment(part, style))
        offset += len(text)
    return line


def line_width(line: StyledLine) -> int:
    """The width of the line in cells."""
    return sum(cell_len(segment.text) for segment in line)


def indent(lines: Iterable[StyledLine], first: Segment, others: Segment) -> list[StyledLine]:
    """The lines with `first` before the first one and `others` before the rest."""
    return [[first if number == 0 else others, *line] for number, line in enumerate(lines)]


def line_breaks(text: str, width: int) -> list[int]:
    """Offsets at which new lines start (0 left out), for `text` without newlines.

    No line is wider than `width` cells, except for trailing spaces, which hang.
    """
    if width < 2 or cell_len(text) <= width:
        return []
    offsets: list[int] = []
    used = 0  # cells of the current line
    line_start = 0
    candidate, candidate_used = 0, 0  # the last allowed break, and the cells before it
    slash, slash_used = 0, 0  # after the last slash, and the cells before that
    previous, previous_wide = "", False
    for start, end, cells in _graphemes(text):
        grapheme = text[start:end]
        if grapheme == " ":
            used += 1
            if text[end : end + 1] != "%":  # “47 %” stays together
                candidate, candidate_used = end, used
        else:
            wide = cells > 1
            if (wide or previous_wide) and grapheme not in _NO_START and previous not in _NO_END:
                candidate, candidate_used = start, used
            if used + cells > width and start > line_start:
                if candidate <= line_start:
                    candidate, candidate_used = (slash, slash_used) if slash > line_start else (start, used)
                offsets.append(candidate)
                line_start = candidate
                used -= candidate_used
                slash_used -= candidate_used
                candidate_used = 0
                if used + cells > width and start > line_start:
                    offsets.append(start)
                    line_start, used = start, 0
            used += cells
            previous_wide = wide
            if grapheme == "/":
                slash, slash_used = end, used
        previous = grapheme
    return offsets


def code_breaks(text: str, width: int) -> list[int]:
    """Like `line_breaks`, for code: after a space, which counts, or at the right edge where the line has none behind
    its indentation."""
    if width < 2 or cell_len(text) <= width:
        return []
    offsets: list[int] = []
    used = 0
    candidate, candidate_used = 0, 0  # after the last space within the line, and the cells before that
    begun = False  # whether the line has more than blanks
    for start, end, cells in _graphemes(text):
        if used + cells > width:
            offset, kept = (candidate, used - candidate_used) if candidate else (start, 0)
            offsets.append(offset)
            used, candidate = kept, 0
            if used + cells > width:
                offsets.append(start)
                used = 0
            begun = True
        used += cells
        if text[start:end] != " ":
            begun = True
        elif begun:
            candidate, candidate_used = end, used
    return offsets


def _graphemes(text: str) -> Iterator[tuple[int, int, int]]:
    """Start, end and cells of each grapheme. Rich counts 0 cells for joiners at the start of a text, which it draws."""
    for start, end, cells in split_graphemes(text)[0]:
        yield start, end, cells or cell_len(text[start:end])
