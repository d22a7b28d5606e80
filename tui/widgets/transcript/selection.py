"""Selection in the transcript: its highlight, and the text that is copied."""

from collections.abc import Iterable

from rich.cells import cell_len
from rich.style import Style
from textual.selection import Selection
from textual.strip import Strip

from tui.widgets.transcript.items import GUTTER


def painted(strip: Strip, span: tuple[int, int], style: Style) -> Strip:
    """The strip with characters `span` on another background; -1 is its end."""
    text = strip.text
    start, end = span
    end = len(text) if end == -1 else min(end, len(text))
    left, right = cell_len(text[:start]), cell_len(text[:end])
    if left >= right:
        return strip
    before, within, after = strip.crop(0, left), strip.crop(left, right), strip.crop(right, strip.cell_length)
    marked = Strip([segment._replace(style=(segment.style or Style()) + style) for segment in within], right - left)
    return Strip.join([before, marked, after])


def selected_text(lines: Iterable[tuple[int, Strip]], selection: Selection, margin: int) -> str:
    """The selected characters, without the margin, the marks and the spaces that fill lines up."""
    found: list[str] = []
    for number, strip in lines:
        span = selection.get_span(number)
        if span is None:
            continue
        text = strip.text
        end = len(text) if span[1] == -1 else span[1]
        found.append(text[max(span[0], margin + GUTTER) : end].rstrip())
    return "\n".join(found).strip("\n")
