"""Preview of a search result: the passage with the matched words marked, and its context."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from textual.dom import DOMNode

from agent.services.recall import describe
from foundation.terminal_text import visible, visible_line
from tui.search.highlight import TAB, Spans, highlight
from tui.search.rows import percent
from tui.typed_app import theme_colour
from tui.widgets.passage_labels import TRUST_COLOURS, day, minute
from tui.widgets.status import clip

if TYPE_CHECKING:  # loaded when memory is searched
    from agent.services.browse import BrowseRow
    from agent.services.live_search import NearbyTurn, PassageContext


MARK_STYLE: Final = "underline"
NEWER_CELLS: Final = 100  # cells of the quoted newer passage


class Preview(NamedTuple):
    """Parts of the preview: the header, the turns before the passage, the passage, the turns after it."""

    about: Text
    before: Text
    passage: Text
    after: Text


NO_PREVIEW: Final = Preview(Text(), Text(), Text(), Text())


def preview(
    row: "BrowseRow", node: DOMNode, spans: Spans, context: "PassageContext | None", *, explain: bool = False
) -> Preview:
    """The preview of a row. `context` is None while it is loading. `explain`: shows the parts of the score first."""
    muted = theme_colour(node, "muted")
    before = _score_parts(row, muted) if explain else Text()
    after = Text()
    if context:
        before.append_text(_turns(context.before, muted)).append("\n\n" if context.before else "")
        after.append_text(_turns(context.after, muted)).append_text(_duplicates(row, context, muted))
    return Preview(_about(row, context, node), before, _passage(row, node, spans, context), after)


def lines_above_match(passage: Text, width: int) -> int:
    """Number of lines of this width before the one with the first match."""
    first = min((span.start for span in passage.spans if MARK_STYLE in str(span.style)), default=0)
    return len(passage[:first].wrap(Console(), max(width, 1))) - 1 if first else 0


def _about(row: "BrowseRow", context: "PassageContext | None", node: DOMNode) -> Text:
    text = Text().append(visible_line(row.citation), theme_colour(node, "accent-ink")).append("\n")
    trust = describe(row.passage) if row.passage else row.trust.value
    text.append(visible(trust), theme_colour(node, TRUST_COLOURS[row.trust]))
    details = [f"{percent(row.score)} likely" if row.score > 0 else "", row.kind.replace("_", " "), minute(row.time)]
    text.append("".join(f" · {part}" for part in details if part), theme_colour(node, "muted"))
    if row.superseded_by:
        text.append(f"\n{_superseded_line(row, context.newer if context else None)}", theme_colour(node, "warning-ink"))
    if row.duplicates:
        count = len(row.duplicates)
        text.append(f"\n{count} duplicate{'' if count == 1 else 's'}", theme_colour(node, "muted"))
    return text


def _passage(row: "BrowseRow", node: DOMNode, spans: Spans, context: "PassageContext | None") -> Text:
    """The snippet with its matches highlighted, and the text of the passage around it."""
    accent, muted = theme_colour(node, "accent-ink"), theme_colour(node, "muted")
    text = Text(f"{visible_line(row.who)}:\n" if row.who else "", f"bold {accent}".strip())
    body = Text()
    if context and context.lead:
        body.append(_visible_text(context.lead), muted)
    elif row.span[0]:  # the text before it is being read, or cannot be
        body.append("… ", muted)
    body.append_text(highlight(row.snippet, spans, f"bold {MARK_STYLE} {accent}".strip()))
    if context and context.rest:
        body.append(_visible_text(context.rest), muted)
    return Text().append_text(text).append_text(body)


def _superseded_line(row: "BrowseRow", newer: "NearbyTurn | None") -> str:
    """The newer passage that supersedes this one."""
    date = f" on {day(newer.time)}" if newer and newer.time else ""
    quote = f": {clip(visible_line(newer.text), NEWER_CELLS)}" if newer else ""
    return f"superseded{date} by {visible(row.superseded_by)}{quote}"


def _duplicates(row: "BrowseRow", context: "PassageContext", muted: str) -> Text:
    """The list of passages with the same content."""
    lines = [f"  {_turn_label(turn)}" for turn in context.duplicates]
    if lines and (more := len(row.duplicates) - len(lines)) > 0:
        lines.append(f"  and {more} more")
    return Text("\n\nDuplicates in\n" + "\n".join(lines) if lines else "", muted)


def _score_parts(row: "BrowseRow", muted: str) -> Text:
    """The parts of the score, largest first."""
    if not row.parts:
        return Text("no score: there is no query\n\n" if not row.score else "", muted)
    width = max(map(cell_len, map(visible, row.parts)))
    parts = [(visible(name), value) for name, value in sorted(row.parts.items(), key=lambda part: -abs(part[1]))]
    lines = [f"{name}{' ' * (width - cell_len(name))}  {value:8.3f}" for name, value in parts]
    return Text("\n".join(lines) + "\n\n", muted)


def _turns(turns: "Sequence[NearbyTurn]", muted: str) -> Text:
    return Text("\n\n".join(f"{visible_line(turn.who)}: {visible_line(turn.text)}" for turn in turns), muted)


def _turn_label(turn: "NearbyTurn") -> str:
    parts = (visible_line(turn.title), visible_line(turn.who), day(turn.time), turn.id)
    return " · ".join(part for part in parts if part)


def _visible_text(text: str) -> str:
    return visible(text).replace("\t", TAB)
