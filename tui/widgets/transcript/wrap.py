"""Wraps runs of styled text into lines of terminal cells.

Lines break at spaces, and between characters of scripts without spaces.
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


def breaks(text: str, width: int) -> list[int]:
    """The offsets at which new lines begin (0 left out). No line is wider than `width` cells, but for trailing
    spaces, which hang. `text` holds no newline.
    """
    if width < 2 or cell_len(text) <= width:
        return []
    found: list[int] = []
    used = 0  # cells since the line began
    start = 0
    chance, chance_used = 0, 0  # the last place where it may break, and the cells before it
    before, before_wide = "", False
    for at, end, cells in _graphemes(text):
        what = text[at:end]
        if what == " ":
            used += 1
            chance, chance_used = end, used
        else:
            wide = cells > 1
            if (wide or before_wide) and what not in _NO_START and before not in _NO_END:
                chance, chance_used = at, used
            if used + cells > width and at > start:
                if chance <= start:
                    chance, chance_used = at, used
                found.append(chance)
                start = chance
                used -= chance_used
                chance_used = 0
                if used + cells > width and at > start:
                    found.append(at)
                    start, used = at, 0
            used += cells
            before_wide = wide
        before = what
    return found


def fold(text: str, width: int) -> list[int]:
    """Like `breaks`, at the edge alone: for code, where a space is not a place to rest."""
    if width < 2 or cell_len(text) <= width:
        return []
    found: list[int] = []
    used = 0
    for at, _, cells in _graphemes(text):
        if used + cells > width:
            found.append(at)
            used = 0
        used += cells
    return found


def _graphemes(text: str) -> Iterator[tuple[int, int, int]]:
    """Where each begins and ends, and its cells. Of joiners that a text begins with, Rich's own count takes what it
    shows behind them for nothing."""
    for at, end, cells in split_graphemes(text)[0]:
        yield at, end, cells or cell_len(text[at:end])
