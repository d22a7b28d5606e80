"""A row of the list: what it says, and below it where, who, when, how far to trust it and how likely it is meant."""

from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.text import Text
from textual.dom import DOMNode

from foundation.clock import iso
from foundation.trust import Trust
from tui.host import ink
from tui.screens.recall.rows import one_line
from tui.screens.search.marking import Spans, marked_line
from tui.widgets.status import clipped

if TYPE_CHECKING:  # loaded when memory is searched
    from agent.browsing import Row

TONES: Final = {Trust.EXACT: "good-ink", Trust.VERIFIED: "good-ink", Trust.APPROXIMATE: "warning-ink"}
TITLE: Final = 10  # cells that a title keeps, however narrow the list
WHO: Final = 16
LONGEST_LINE: Final = 400  # characters of a snippet that a row may need


def row_text(row: "Row", node: DOMNode, spans: Spans, width: int) -> Text:
    """Two lines of at most `width` cells."""
    muted = ink(node, "muted")
    said = marked_line(row.snippet, spans, f"bold {ink(node, 'accent-ink')}")
    if row.superseded_by:
        said.style = muted
    text = Text(end="").append_text(said if said.plain else Text("(no words)", muted))
    text.truncate(max(width, 10), overflow="ellipsis")
    return text.append("\n").append_text(_about(row, node, width))


def likelihood(score: float) -> str:
    """`87 %`; "" where nothing was asked."""
    return f"{100 * score:.0f} %" if score > 0 else ""


def day(row: "Row") -> str:
    return iso(row.time)[:10] if row.time else ""


def where(row: "Row") -> str:
    """The conversation's title, the note's file, the file's name."""
    return one_line(row.title) or ("a note" if row.kind == "memory" else "untitled")


def _about(row: "Row", node: DOMNode, width: int) -> Text:
    muted = ink(node, "muted")
    said_by = clipped(one_line(row.who), WHO)
    alike = f"+{len(row.like)} alike" if row.like else ""
    superseded = "superseded" if row.superseded_by else ""
    tail = [part for part in (said_by, day(row), row.trust.value, likelihood(row.score), alike, superseded) if part]
    room = width - 2 - cell_len(" · ".join(["", *tail]))
    text = Text("  ", muted).append(clipped(where(row), max(room, TITLE)))
    for part in tail:
        text.append(" · ").append(part, _tone(part, row, node))
    return text


def _tone(part: str, row: "Row", node: DOMNode) -> str:
    if part == row.trust.value:
        return ink(node, TONES[row.trust])
    return ink(node, "warning-ink") if part == "superseded" else ""
