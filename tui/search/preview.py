"""Preview of a search result: the passage with the matched words marked, and its context."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from textual.dom import DOMNode

from foundation.terminal_text import visible, visible_line
from tui.search.highlight import TAB, Spans, marked
from tui.search.rows import likelihood
from tui.typed_app import ink
from tui.widgets.passage_labels import TRUST_COLOURS, day, minute
from tui.widgets.status import clipped

if TYPE_CHECKING:  # loaded when memory is searched
    from agent.services.browse import BrowseRow
    from agent.services.live_search import NearbyTurn, PassageContext


MARKED: Final = "underline"
SAID: Final = 100  # cells of what a newer passage says


class Preview(NamedTuple):
    """About the passage; what was said before it; the passage; what was said after it."""

    about: Text
    before: Text
    passage: Text
    after: Text


NO_PREVIEW: Final = Preview(Text(), Text(), Text(), Text())


def preview(
    row: "BrowseRow", node: DOMNode, spans: Spans, near: "PassageContext | None", *, explain: bool = False
) -> Preview:
    """`near` is None while what stands around the passage is being read. `explain`: the parts of the score first."""
    muted = ink(node, "muted")
    before = _parts(row, muted) if explain else Text()
    after = Text()
    if near:
        before.append_text(_turns(near.before, muted)).append("\n\n" if near.before else "")
        after.append_text(_turns(near.after, muted)).append_text(_twins(row, near, muted))
    return Preview(_about(row, near, node), before, _passage(row, node, spans, near), after)


def lines_to_mark(passage: Text, width: int) -> int:
    """Lines of this width before the one with the first marked word."""
    first = min((span.start for span in passage.spans if MARKED in str(span.style)), default=0)
    return len(passage[:first].wrap(Console(), max(width, 1))) - 1 if first else 0


def _about(row: "BrowseRow", near: "PassageContext | None", node: DOMNode) -> Text:
    text = Text().append(visible_line(row.citation), ink(node, "accent-ink")).append("\n")
    text.append(row.trust.value, ink(node, TRUST_COLOURS[row.trust]))
    told = [f"{likelihood(row.score)} likely" if row.score > 0 else "", row.kind.replace("_", " "), minute(row.time)]
    text.append("".join(f" · {part}" for part in told if part), ink(node, "muted"))
    if row.superseded_by:
        text.append(f"\n{_newer(row, near.newer if near else None)}", ink(node, "warning-ink"))
    if row.duplicates:
        count = len(row.duplicates)
        text.append(f"\n{count} more sa{'ys' if count == 1 else 'y'} the same", ink(node, "muted"))
    return text


def _passage(row: "BrowseRow", node: DOMNode, spans: Spans, near: "PassageContext | None") -> Text:
    """What was found with its words marked, and some of the same passage beside it."""
    accent, muted = ink(node, "accent-ink"), ink(node, "muted")
    text = Text(f"{visible_line(row.who)}:\n" if row.who else "", f"bold {accent}".strip())
    shown = Text()
    if near and near.lead:
        shown.append(f"… {_plain(near.lead)}" if row.span[0] > len(near.lead) else _plain(near.lead), muted)
    shown.append_text(marked(row.snippet, spans, f"bold {MARKED} {accent}".strip()))
    if near and near.rest:
        shown.append(f"{_plain(near.rest)} …", muted)
    return Text().append_text(text).append_text(shown)


def _newer(row: "BrowseRow", newer: "NearbyTurn | None") -> str:
    """What says otherwise since."""
    on = f" on {day(newer.time)}" if newer and newer.time else ""
    words = f": {clipped(visible_line(newer.text), SAID)}" if newer else ""
    return f"superseded{on} by {visible(row.superseded_by)}{words}"


def _twins(row: "BrowseRow", near: "PassageContext", muted: str) -> Text:
    """What says the same, one by one."""
    lines = [f"  {_named(turn)}" for turn in near.duplicates]
    if lines and (more := len(row.duplicates) - len(lines)) > 0:
        lines.append(f"  and {more} more")
    return Text("\n\nThe same is said in\n" + "\n".join(lines) if lines else "", muted)


def _parts(row: "BrowseRow", muted: str) -> Text:
    """What the score is made of, the most first."""
    if not row.parts:
        return Text("its score has no parts: nothing was asked\n\n" if not row.score else "", muted)
    width = max(map(cell_len, map(visible, row.parts)))
    parts = [(visible(name), value) for name, value in sorted(row.parts.items(), key=lambda part: -abs(part[1]))]
    lines = [f"{name}{' ' * (width - cell_len(name))}  {value:8.3f}" for name, value in parts]
    return Text("\n".join(lines) + "\n\n", muted)


def _turns(turns: "Sequence[NearbyTurn]", muted: str) -> Text:
    return Text("\n\n".join(f"{visible_line(turn.who)}: {visible_line(turn.text)}" for turn in turns), muted)


def _named(turn: "NearbyTurn") -> str:
    parts = (visible_line(turn.title), visible_line(turn.who), day(turn.time), turn.id)
    return " · ".join(part for part in parts if part)


def _plain(text: str) -> str:
    return visible(text).replace("\t", TAB)
