"""Strips of the transcript: lines made into strips, spans of them highlighted, and the text of a selection."""

from collections.abc import Iterable

from rich.cells import cell_len
from rich.style import Style
from textual.selection import Selection
from textual.strip import Strip

from tui.widgets.transcript.items import GUTTER
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine


def to_strips(lines: list[StyledLine], width: int, styles: TranscriptStyles) -> list[Strip]:
    """Lines as strips of exactly `width` cells, on the background of the styles."""
    return [Strip(line).adjust_cell_length(width, styles.text) for line in lines]


def highlight_span(strip: Strip, span: tuple[int, int], style: Style) -> Strip:
    """The strip with the characters of `span` in another background; an end of -1 is the end of the line."""
    text = strip.text
    start, end = span
    end = len(text) if end == -1 else min(end, len(text))
    left, right = cell_len(text[:start]), cell_len(text[:end])
    if left >= right:
        return strip
    before, middle, after = strip.crop(0, left), strip.crop(left, right), strip.crop(right, strip.cell_length)
    marked = Strip([segment._replace(style=(segment.style or Style()) + style) for segment in middle], right - left)
    return Strip.join([before, marked, after])


def selected_text(lines: Iterable[tuple[int, Strip]], selection: Selection, margin: int) -> str:
    """The selected text, without the margin, the speaker's marks and trailing spaces."""
    parts: list[str] = []
    for number, strip in lines:
        span = selection.get_span(number)
        if span is None:
            continue
        text = strip.text
        end = len(text) if span[1] == -1 else span[1]
        parts.append(text[max(span[0], margin + GUTTER) : end].rstrip())
    return "\n".join(parts).strip("\n")
