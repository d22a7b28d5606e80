"""A row of the list, and its preview, as text for a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.text import Text
from textual.dom import DOMNode

from foundation.clock import iso
from foundation.terminal_text import visible
from foundation.trust import Trust
from tui.typed_app import ink

if TYPE_CHECKING:  # loaded when memory is looked into
    from agent.services.browse import Row

NEAR: Final = 32  # characters before the words that were asked for
_TONES: Final = {Trust.EXACT: "good-ink", Trust.VERIFIED: "good-ink", Trust.APPROXIMATE: "warning-ink"}


def listed(row: "Row", node: DOMNode, words: Sequence[str] = ()) -> Text:
    """Two lines: what it says, from near the words that were asked for; how far to trust it, when, who and where."""
    text = Text(_near(one_line(row.snippet), words) or "(no words)", end="")
    told = " · ".join(part for part in (when(row), one_line(row.who), one_line(row.title)) if part)
    text.append("\n  ")
    text.append(row.trust.value, ink(node, _TONES[row.trust]))
    return text.append(f" · {told}" if told else "", ink(node, "muted"))


def preview(row: "Row", node: DOMNode) -> Text:
    """The citation and what was found of the passage."""
    text = Text().append(one_line(row.citation), ink(node, "accent-ink"))
    text.append("\n").append(f"{row.trust.value}", ink(node, _TONES[row.trust]))
    if row.time is not None:
        text.append(f" · {when(row)}", ink(node, "muted"))
    return text.append("\n\n").append(visible(row.snippet).expandtabs(4))


def when(row: "Row") -> str:
    """`2026-03-14 09:26`; "" where that is not known."""
    return iso(row.time)[:16].replace("T", " ") if row.time else ""


def _near(line: str, words: Sequence[str]) -> str:
    """The line from a little before the first of the words, where that stands far into it."""
    small = line.casefold()
    found = [at for word in words if (at := small.find(word.casefold())) >= 0]
    first = min(found, default=0)
    if first <= NEAR:
        return line
    begin = line.rfind(" ", 0, first - NEAR // 2) + 1 or first - NEAR // 2
    return f"… {line[max(begin, first - NEAR) :]}"


def one_line(text: str) -> str:
    return " ".join(visible(text).split())
