"""Finds lines that moved up or down, so that the terminal can move them instead of drawing them again."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

MIN_TEXT = 4  # characters; shorter lines are alike by chance


class Scroll(NamedTuple):
    """Rows `top` to `bottom`, inclusive, move up by `lines`; down where it is negative."""

    top: int
    bottom: int
    lines: int


def find_scroll(shown: Sequence[str], wanted: Mapping[int, str]) -> Scroll | None:
    """The scroll that saves most rows, if it saves any. `shown` are the texts of all rows on the screen, "" where that
    is not known; `wanted` are those of the rows that change, by row.
    """
    known = _rows_by_text(dict(enumerate(shown)))
    moves = [(row, known[text] - row) for text, row in _rows_by_text(wanted).items() if text in known]
    votes = Counter(by for _, by in moves if by)
    if not votes:
        return None
    lines = votes.most_common(1)[0][0]
    rows = [row for row, by in moves if by == lines]
    first, last = min(rows), max(rows)
    top, bottom = min(first, first + lines), max(last, last + lines)
    region = range(top, bottom + 1)
    if not all(shown[row] for row in region):
        return None
    unscrolled = sum(row in wanted for row in region)
    scrolled = sum(not _would_show(shown, wanted, region, row, lines) for row in region)
    return Scroll(top, bottom, lines) if scrolled < unscrolled else None


def _would_show(shown: Sequence[str], wanted: Mapping[int, str], region: range, row: int, lines: int) -> bool:
    """Whether the row shows the right text after the scroll."""
    return row + lines in region and shown[row + lines] == wanted.get(row, shown[row])


def _rows_by_text(texts: Mapping[int, str]) -> dict[str, int]:
    """The rows of texts that occur once."""
    counts = Counter(texts.values())
    return {text: row for row, text in texts.items() if counts[text] == 1 and len(text.strip()) >= MIN_TEXT}
