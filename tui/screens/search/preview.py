"""What a row says, with the words that were asked for marked, and what was said around it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.text import Text
from textual.dom import DOMNode

from foundation.clock import iso
from foundation.terminal_text import visible
from tui.host import ink
from tui.screens.recall.rows import one_line, when
from tui.screens.search.marking import TAB, Spans, marked
from tui.screens.search.rows import TONES, likelihood

if TYPE_CHECKING:  # loaded when memory is searched
    from agent.browsing import Row
    from agent.seeking import Around, Turn


class Preview(NamedTuple):
    """About the passage; what was said before it; the passage; what was said after it."""

    about: Text
    before: Text
    passage: Text
    after: Text


NO_PREVIEW: Final = Preview(Text(), Text(), Text(), Text())


def preview(row: "Row", node: DOMNode, spans: Spans, near: "Around | None", *, explain: bool = False) -> Preview:
    """`near` is None while what stands around the passage is being read."""
    about = _about(row, near, node)
    if explain:
        _parts(about, row, ink(node, "muted"))
    muted = ink(node, "muted")
    before, after = (_turns(turns, muted) for turns in ((near.before, near.after) if near else ((), ())))
    if before.plain:
        before.append("\n")
    return Preview(about, before, _passage(row, node, spans, near), after)


def _about(row: "Row", near: "Around | None", node: DOMNode) -> Text:
    text = Text().append(one_line(row.citation), ink(node, "accent-ink")).append("\n")
    text.append(row.trust.value, ink(node, TONES[row.trust]))
    told = [f"{likelihood(row.score)} likely" if row.score > 0 else "", row.kind.replace("_", " "), when(row)]
    text.append("".join(f" · {part}" for part in told if part), ink(node, "muted"))
    _twins(text, row, near, node)
    return text


def _passage(row: "Row", node: DOMNode, spans: Spans, near: "Around | None") -> Text:
    """What was found with its words marked, and some of the same passage beside it."""
    accent, muted = ink(node, "accent-ink"), ink(node, "muted")
    text = Text(f"{one_line(row.who)}:\n" if row.who else "", f"bold {accent}".strip())
    shown = Text()
    if near and near.lead:
        shown.append(f"… {_plain(near.lead)}" if row.span[0] > len(near.lead) else _plain(near.lead), muted)
    shown.append_text(marked(row.snippet, spans, f"bold underline {accent}".strip()))
    if near and near.rest:
        shown.append(f"{_plain(near.rest)} …", muted)
    return Text().append_text(text).append_text(shown)


def _twins(text: Text, row: "Row", near: "Around | None", node: DOMNode) -> None:
    """What says otherwise since, and what says the same."""
    if row.superseded_by:
        newer = near.newer if near else None
        told = f"superseded{_since(newer)} by {row.superseded_by}"
        text.append(f"\n{visible(told)}", ink(node, "warning-ink"))
        if newer:
            text.append(f": {one_line(newer.text)}", ink(node, "warning-ink"))
    if row.like:
        count = len(row.like)
        text.append(f"\n{count} more sa{'ys' if count == 1 else 'y'} the same", ink(node, "muted"))
        for turn in near.like if near else ():
            text.append(f"\n  {_named(turn)}", ink(node, "muted"))
        if near and count > len(near.like):
            text.append(f"\n  and {count - len(near.like)} more", ink(node, "muted"))


def _parts(text: Text, row: "Row", muted: str) -> None:
    """What the score is made of, the most first."""
    if not row.parts:
        text.append("\nits score has no parts: nothing was asked" if not row.score else "", muted)
        return
    width = max(map(len, row.parts))
    for name, value in sorted(row.parts.items(), key=lambda part: -abs(part[1])):
        text.append(f"\n  {visible(name).ljust(width)}  {value:8.3f}", muted)


def _turns(turns: "Sequence[Turn]", muted: str) -> Text:
    return Text("\n".join(f"\n{one_line(turn.who)}: {one_line(turn.text)}" for turn in turns), muted)


def _named(turn: "Turn") -> str:
    parts = (one_line(turn.title), one_line(turn.who), iso(turn.time)[:10] if turn.time else "", turn.id)
    return " · ".join(part for part in parts if part)


def _since(newer: "Turn | None") -> str:
    return f" on {iso(newer.time)[:10]}" if newer and newer.time else ""


def _plain(text: str) -> str:
    return visible(text).replace("\t", TAB)
