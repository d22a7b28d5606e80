"""Row of the result list: the passage, then its title, speaker, date, trust level and likelihood."""

from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.text import Text
from textual.dom import DOMNode

from foundation.terminal_text import visible_line
from tui.search.highlight import Spans, highlight_line
from tui.typed_app import theme_colour
from tui.widgets.passage_labels import TRUST_COLOURS, day
from tui.widgets.status import clip

if TYPE_CHECKING:  # loaded when memory is searched
    from agent.services.browse import BrowseRow

MIN_TITLE_CELLS: Final = 10  # cells that a title keeps, however narrow the list
MAX_SPEAKER_CELLS: Final = 16
GAP: Final = " · "
SUPERSEDED: Final = "superseded · "


def row_text(row: "BrowseRow", node: DOMNode, spans: Spans, width: int) -> Text:
    """Two lines of at most `width` cells."""
    muted = theme_colour(node, "muted")
    snippet = highlight_line(row.snippet, spans, f"bold {theme_colour(node, 'accent-ink')}")
    if row.superseded_by:
        snippet.style = muted
    text = Text(end="").append_text(snippet if snippet.plain else Text("(no words)", muted))
    text.truncate(max(width, 10), overflow="ellipsis")
    return text.append("\n").append_text(_about(row, node, width))


def percent(score: float) -> str:
    """`87 %`; "" where nothing was asked."""
    return f"{100 * score:.0f} %" if score > 0 else ""


def source_of(row: "BrowseRow") -> str:
    """The conversation's title, the note's file, the file's name."""
    return visible_line(row.title) or ("a note" if row.kind == "memory" else "untitled")


def _about(row: "BrowseRow", node: DOMNode, width: int) -> Text:
    parts = _tail(row, width)
    title_cells = width - 2 - cell_len(GAP.join(["", *(word for word, _ in parts)]))
    text = Text("  ", theme_colour(node, "muted"))
    if row.superseded_by:
        text.append(SUPERSEDED, theme_colour(node, "warning-ink"))
        title_cells -= len(SUPERSEDED)
    text.append(clip(source_of(row), max(title_cells, MIN_TITLE_CELLS)))
    for word, tone in parts:
        text.append(GAP).append(word, theme_colour(node, tone) if tone else "")
    return text


def _tail(row: "BrowseRow", width: int) -> list[tuple[str, str]]:
    """What follows the title, each with its tone; where there is little room, without what matters least."""
    speaker, duplicates = (
        clip(visible_line(row.who), MAX_SPEAKER_CELLS),
        f"+{len(row.duplicates)} alike" if row.duplicates else "",
    )
    parts = [
        (speaker, ""),
        (day(row.time), ""),
        (row.trust.value, TRUST_COLOURS[row.trust]),
        (percent(row.score), ""),
        (duplicates, ""),
    ]
    removable = [speaker, duplicates, day(row.time)]
    room = width - 2 - min(MIN_TITLE_CELLS, cell_len(source_of(row))) - (len(SUPERSEDED) if row.superseded_by else 0)
    kept_parts = [part for part in parts if part[0]]
    while removable and cell_len(GAP.join(["", *(part for part, _ in kept_parts)])) > room:
        removed = removable.pop(0)
        kept_parts = [part for part in kept_parts if part[0] != removed]
    return kept_parts
