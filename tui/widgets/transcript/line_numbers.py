"""Text with line numbers; doubtful lines, referenced lines and words that were searched for are marked."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct
from rich.segment import Segment
from rich.style import Style

from foundation.terminal_text import visible
from tui.widgets.diff import diff_tone
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine, StyledRun, indent, line_breaks, wrap_runs

MAX_LINES: Final = 40  # lines of an item
MAX_CHARS: Final = 4_000  # characters of a part of a line: a line can have a megabyte
FIRST_ITEMS, MORE_ITEMS = 100, 2_000  # of a text that is shown in pieces
TAB: Final = "    "
DOUBT_MARK: Final = "?"
TARGET_MARK: Final = "▸"


class NumberedLine(Struct, frozen=True):
    """A line of the text, or a part of a long line: all parts but the first have the `number` 0."""

    number: int
    text: str
    is_doubtful: bool = False
    is_target: bool = False
    marks: tuple[tuple[int, int], ...] = ()  # spans of the text


class NumberedLines(Struct, frozen=True):
    """An item of numbered lines. `digits` is the width of the numbers; `is_diff` colours what was added and removed."""

    rows: tuple[NumberedLine, ...]
    digits: int
    is_diff: bool = False

    @property
    def text(self) -> str:
        return "\n".join(row.text for row in self.rows)

    def lines(self, width: int, styles: TranscriptStyles) -> list[StyledLine]:
        lines: list[StyledLine] = []
        gutter = self.digits + 3
        for row in self.rows:
            number = str(row.number) if row.number else ""
            sign = (DOUBT_MARK if row.is_doubtful else TARGET_MARK if row.is_target else " ") if row.number else " "
            mark = f"{sign}{number.rjust(self.digits)}  "
            style = styles.warning if row.is_doubtful else styles.accent if row.is_target else styles.muted
            text_style = styles.warning if row.is_doubtful else self._text_style(row, styles)
            rows = wrap_runs(_runs(row, text_style, styles), max(width - gutter, 10), line_breaks, keep_spaces=True)
            lines += indent(rows, Segment(mark, style), Segment(" " * gutter, styles.text))
        return lines

    def _text_style(self, row: NumberedLine, styles: TranscriptStyles) -> Style:
        tone = diff_tone(row.text) if self.is_diff else ""
        return getattr(styles, tone) if tone else styles.text


def numbered_items(
    text: str,
    doubtful_lines: frozenset[int] = frozenset(),
    targets: frozenset[int] = frozenset(),
    *,
    marks: Sequence[tuple[int, int]] = (),
    is_diff: bool = False,
) -> list[NumberedLines]:
    """The text as items, each small enough to be rendered between two frames.

    `doubtful_lines` and `targets` (the lines that a reference names) are line numbers, from 1; `marks` are spans of the
    text, in order.
    """
    return list(_items(text, doubtful_lines, targets, marks, is_diff=is_diff))


def numbered_pieces(
    text: str, *, marks: Sequence[tuple[int, int]] = (), is_diff: bool = False
) -> Iterator[list[NumberedLines]]:
    """The same in pieces, so that the first lines of a very long text are there at once. Blocks at each."""
    items = _items(text, frozenset(), frozenset(), marks, is_diff=is_diff)
    size = FIRST_ITEMS
    while piece := list(islice(items, size)):
        yield piece
        size = MORE_ITEMS


def _items(
    text: str,
    doubtful_lines: frozenset[int],
    targets: frozenset[int],
    marks: Sequence[tuple[int, int]],
    *,
    is_diff: bool,
) -> Iterator[NumberedLines]:
    texts = text.split("\n")
    if len(texts) > 1 and not texts[-1]:
        texts.pop()  # as an editor counts: a newline at the end begins no further line
    digits = len(str(len(texts)))
    rows = _rows(texts, doubtful_lines, targets, marks)
    return (NumberedLines(chunk, digits, is_diff) for chunk in _chunks(rows))


def item_of_line(items: Sequence[NumberedLines], number: int) -> NumberedLines | None:
    """The item with the line of this number; a line with a mark is the first of its item."""
    return next((item for item in items if any(row.number == number for row in item.rows)), None)


def _runs(row: NumberedLine, style: Style, styles: TranscriptStyles) -> list[StyledRun]:
    """The line's text, with the marked spans in another style."""
    runs: list[StyledRun] = []
    end = 0
    for first, last in row.marks:
        runs += [(row.text[end:first], style), (row.text[first:last], style + styles.mark)]
        end = last
    runs.append((row.text[end:], style))
    return [(visible(part).replace("\t", TAB), part_style) for part, part_style in runs if part] or [("", style)]


def _rows(
    texts: list[str], doubtful_lines: frozenset[int], targets: frozenset[int], marks: Sequence[tuple[int, int]]
) -> Iterator[NumberedLine]:
    begin = 0  # of the part, in the whole text
    starts = [start for start, _ in marks]
    for number, text in enumerate(texts, 1):
        parts = [text[start : start + MAX_CHARS] for start in range(0, len(text), MAX_CHARS)] or [""]
        for index, part in enumerate(parts):
            near = marks[max(bisect_left(starts, begin) - 1, 0) : bisect_left(starts, begin + len(part))]
            inside = ((max(first - begin, 0), min(last - begin, len(part))) for first, last in near)
            spans = tuple((first, last) for first, last in inside if first < last)
            yield NumberedLine(0 if index else number, part, number in doubtful_lines, number in targets, spans)
            begin += len(part)
        begin += 1


def _chunks(rows: Iterator[NumberedLine]) -> Iterator[tuple[NumberedLine, ...]]:
    """The rows of each item: at most MAX_LINES, and about MAX_CHARS characters. A row with a mark begins one."""
    chunk: list[NumberedLine] = []
    chars = 0
    for row in rows:
        if chunk and (len(chunk) >= MAX_LINES or chars >= MAX_CHARS or (row.marks and row.number)):
            yield tuple(chunk)
            chunk, chars = [], 0
        chunk.append(row)
        chars += len(row.text)
    if chunk:
        yield tuple(chunk)
