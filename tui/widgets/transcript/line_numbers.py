"""Text with line numbers; doubtful lines and referenced lines are marked."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec import Struct
from rich.segment import Segment

from foundation.terminal_text import visible
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine, indent, line_breaks, wrap_runs

MAX_LINES: Final = 40  # lines of an item
MAX_CHARS: Final = 4_000  # characters of a part of a line: a line can have a megabyte
DOUBT_MARK: Final = "?"
TARGET_MARK: Final = "▸"


class NumberedLine(Struct, frozen=True):
    """A line of the text, or a part of a long line: all parts but the first have the `number` 0."""

    number: int
    text: str
    is_doubtful: bool = False
    is_target: bool = False


class NumberedLines(Struct, frozen=True):
    """An item of numbered lines. `digits` is the width of the numbers."""

    rows: tuple[NumberedLine, ...]
    digits: int

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
            text_style = styles.warning if row.is_doubtful else styles.text
            rows = wrap_runs(
                [(visible(row.text).expandtabs(4), text_style)], max(width - gutter, 10), line_breaks, keep_spaces=True
            )
            lines += indent(rows, Segment(mark, style), Segment(" " * gutter, styles.text))
        return lines


def numbered_items(
    text: str, doubtful_lines: frozenset[int] = frozenset(), targets: frozenset[int] = frozenset()
) -> list[NumberedLines]:
    """The text as items, each small enough to be rendered between two frames.

    `doubtful_lines` and `targets` (the lines that a reference names) are line numbers, from 1.
    """
    texts = text.split("\n")
    digits = len(str(len(texts)))
    rows, items = _rows(texts, doubtful_lines, targets), list[NumberedLines]()
    while chunk := tuple(_next_rows(rows)):
        items.append(NumberedLines(chunk, digits))
    return items


def _rows(texts: list[str], doubtful_lines: frozenset[int], targets: frozenset[int]) -> Iterator[NumberedLine]:
    for number, text in enumerate(texts, 1):
        parts = [text[start : start + MAX_CHARS] for start in range(0, len(text), MAX_CHARS)] or [""]
        for index, part in enumerate(parts):
            yield NumberedLine(0 if index else number, part, number in doubtful_lines, number in targets)


def _next_rows(rows: Iterator[NumberedLine]) -> Iterator[NumberedLine]:
    """The next rows: at most MAX_LINES, and about MAX_CHARS characters."""
    room = MAX_CHARS
    for row in islice(rows, MAX_LINES):
        yield row
        room -= len(row.text)
        if room <= 0:
            return
