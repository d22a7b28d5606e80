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

MIN_TITLE_CELLS: Final = 10  # minimum cells of a title in a narrow list
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
    return text.append("\n").append_text(_details(row, node, width))


def percent(score: float) -> str:
    """`87 %`; "" without a query."""
    return f"{100 * score:.0f} %" if score > 0 else ""


def source_of(row: "BrowseRow") -> str:
    """The conversation's title, the note's file, the file's name."""
    return visible_line(row.title) or ("a note" if row.kind == "memory" else "untitled")


def _details(row: "BrowseRow", node: DOMNode, width: int) -> Text:
    parts = _fit_details(row, width)
    title_cells = width - 2 - cell_len(GAP.join(["", *(detail for detail, _ in parts)]))
    text = Text("  ", theme_colour(node, "muted"))
    if row.superseded_by:
        text.append(SUPERSEDED, theme_colour(node, "warning-ink"))
        title_cells -= len(SUPERSEDED)
    text.append(clip(source_of(row), max(title_cells, MIN_TITLE_CELLS)))
    for detail, tone in parts:
        text.append(GAP).append(detail, theme_colour(node, tone) if tone else "")
    return text


def _fit_details(row: "BrowseRow", width: int) -> list[tuple[str, str]]:
    """The details after the title, each with its tone; in a narrow list without the least important ones."""
    speaker = clip(visible_line(row.who), MAX_SPEAKER_CELLS)
    duplicates = f"+{len(row.duplicates)} alike" if row.duplicates else ""
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
        dropped = removable.pop(0)
        kept_parts = [part for part in kept_parts if part[0] != dropped]
    return kept_parts
