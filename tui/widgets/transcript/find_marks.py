"""Marks of a text that is looked for, in the lines of a transcript."""

from bisect import bisect_right
from itertools import accumulate
from typing import Final

from rich.style import Style
from textual.strip import Strip

from foundation.text.find import TextFinder
from tui.widgets.transcript.items import TranscriptItem
from tui.widgets.transcript.strips import highlight_span

BLANK: Final = " \u258e"  # before the text of a wrapped line
MAX_KEPT: Final = 400  # items whose spans are kept
MATCH: Final = Style(bold=True, underline=True)
CURRENT: Final = Style(bold=True, reverse=True)

RowSpan = tuple[int, int, int]
"""Start and end in a line, in characters, and the number of the match in its item."""


class FindMarks:
    """Marks every match, and the current one differently."""

    def __init__(self, finder: TextFinder) -> None:
        self.finder = finder
        self.current: tuple[TranscriptItem, int] | None = None  # the item, and the number of the match in it
        self._spans: dict[int, tuple[list[Strip], dict[int, list[RowSpan]]]] = {}  # by the id of the strips

    def spans(self, strips: list[Strip]) -> dict[int, list[RowSpan]]:
        """The spans in the lines of an item, by the line."""
        kept = self._spans.get(id(strips))
        if kept is not None and kept[0] is strips:
            return kept[1]
        if len(self._spans) >= MAX_KEPT:
            self._spans.clear()
        spans = _row_spans(self.finder, strips)
        self._spans[id(strips)] = strips, spans
        return spans

    def row_of(self, strips: list[Strip], number: int) -> int:
        """The line with the match of this number, the last match where there are fewer; 0 where there is none."""
        rows = [row for row, spans in self.spans(strips).items() for _, _, match in spans if match <= number]
        return rows[-1] if rows else 0

    def marked(self, strip: Strip, item: TranscriptItem, strips: list[Strip], row: int) -> Strip:
        """The line with its matches marked."""
        current = self.current[1] if self.current and self.current[0] is item else -1
        last = max((match for spans in self.spans(strips).values() for _, _, match in spans), default=-1)
        for start, end, match in self.spans(strips).get(row, ()):
            style = CURRENT if match == min(current, last) else MATCH
            strip = highlight_span(strip, (start, end), style)
        return strip


def _row_spans(finder: TextFinder, strips: list[Strip]) -> dict[int, list[RowSpan]]:
    texts = [strip.text.rstrip() for strip in strips]
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    found: dict[int, list[RowSpan]] = {}
    for number, (start, end) in enumerate(finder.spans_in_lines("\n".join(texts))):
        for row in range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1)):
            first, last = max(start - starts[row], 0), min(end - starts[row], len(texts[row]))
            first += len(texts[row][first:last]) - len(texts[row][first:last].lstrip(BLANK))
            if first < last:
                found.setdefault(row, []).append((first, last, number))
    return found
