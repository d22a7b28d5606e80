"""Text with line numbers; doubtful lines and the referenced ones are marked."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec import Struct
from rich.segment import Segment

from foundation.terminal_text import visible
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine, breaks, cut, indented

LINES: Final = 40  # lines of text a piece
LONGEST: Final = 4_000  # characters of a line a piece: a line may be a megabyte
DOUBT: Final = "?"
POINTED: Final = "▸"


class NumberedLine(Struct, frozen=True):
    """A line of the text, or a part of a long one: then `number` is 0."""

    number: int
    text: str
    doubtful: bool = False
    pointed: bool = False


class NumberedLines(Struct, frozen=True):
    """Some lines of a passage. `digits` is how wide the numbers are."""

    rows: tuple[NumberedLine, ...]
    digits: int

    @property
    def text(self) -> str:
        return "\n".join(row.text for row in self.rows)

    def lines(self, width: int, look: TranscriptStyles) -> list[StyledLine]:
        found: list[StyledLine] = []
        gutter = self.digits + 3
        for row in self.rows:
            number = str(row.number) if row.number else ""
            sign = (DOUBT if row.doubtful else POINTED if row.pointed else " ") if row.number else " "
            mark = f"{sign}{number.rjust(self.digits)}  "
            style = look.warning if row.doubtful else look.accent if row.pointed else look.muted
            inked = look.warning if row.doubtful else look.text
            rows = cut([(visible(row.text).expandtabs(4), inked)], max(width - gutter, 10), breaks, keep_spaces=True)
            found += indented(rows, Segment(mark, style), Segment(" " * gutter, look.text))
        return found


def numbered(
    text: str, doubt: frozenset[int] = frozenset(), pointed: frozenset[int] = frozenset()
) -> list[NumberedLines]:
    """The whole text in pieces, each small enough to be made between two frames. `doubt` and `pointed` are numbers of
    lines, from 1."""
    texts = text.split("\n")
    digits = len(str(len(texts)))
    rows, pieces = _rows(texts, doubt, pointed), list[NumberedLines]()
    while some := tuple(_some(rows)):
        pieces.append(NumberedLines(some, digits))
    return pieces


def _rows(texts: list[str], doubt: frozenset[int], pointed: frozenset[int]) -> Iterator[NumberedLine]:
    for number, text in enumerate(texts, 1):
        parts = [text[at : at + LONGEST] for at in range(0, len(text), LONGEST)] or [""]
        for index, part in enumerate(parts):
            yield NumberedLine(0 if index else number, part, number in doubt, number in pointed)


def _some(rows: Iterator[NumberedLine]) -> Iterator[NumberedLine]:
    """The next rows: at most LINES, and not much more than LONGEST characters."""
    room = LONGEST
    for row in islice(rows, LINES):
        yield row
        room -= len(row.text)
        if room <= 0:
            return
