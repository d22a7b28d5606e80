"""Row of the result list: the passage, then its title, speaker, date, trust level and likelihood."""

from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.text import Text
from textual.dom import DOMNode

from foundation.terminal_text import visible_line
from tui.search.highlight import Spans, marked_line
from tui.typed_app import ink
from tui.widgets.passage_labels import TRUST_COLOURS, day
from tui.widgets.status import clipped

if TYPE_CHECKING:  # loaded when memory is searched
    from agent.services.browse import BrowseRow

TITLE: Final = 10  # cells that a title keeps, however narrow the list
WHO: Final = 16
GAP: Final = " · "
SUPERSEDED: Final = "superseded · "


def row_text(row: "BrowseRow", node: DOMNode, spans: Spans, width: int) -> Text:
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


def where(row: "BrowseRow") -> str:
    """The conversation's title, the note's file, the file's name."""
    return visible_line(row.title) or ("a note" if row.kind == "memory" else "untitled")


def _about(row: "BrowseRow", node: DOMNode, width: int) -> Text:
    tail = _tail(row, width)
    room = width - 2 - cell_len(GAP.join(["", *(word for word, _ in tail)]))
    text = Text("  ", ink(node, "muted"))
    if row.superseded_by:
        text.append(SUPERSEDED, ink(node, "warning-ink"))
        room -= len(SUPERSEDED)
    text.append(clipped(where(row), max(room, TITLE)))
    for word, tone in tail:
        text.append(GAP).append(word, ink(node, tone) if tone else "")
    return text


def _tail(row: "BrowseRow", width: int) -> list[tuple[str, str]]:
    """What follows the title, each with its tone; where there is little room, without what matters least."""
    said_by, alike = clipped(visible_line(row.who), WHO), f"+{len(row.duplicates)} alike" if row.duplicates else ""
    words = [
        (said_by, ""),
        (day(row.time), ""),
        (row.trust.value, TRUST_COLOURS[row.trust]),
        (likelihood(row.score), ""),
        (alike, ""),
    ]
    least = [said_by, alike, day(row.time)]
    room = width - 2 - min(TITLE, cell_len(where(row))) - (len(SUPERSEDED) if row.superseded_by else 0)
    shown = [word for word in words if word[0]]
    while least and cell_len(GAP.join(["", *(word for word, _ in shown)])) > room:
        gone = least.pop(0)
        shown = [word for word in shown if word[0] != gone]
    return shown
