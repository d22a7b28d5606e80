"""Colours of a unified difference, and the difference as a text."""

from typing import Final

from rich.text import Text
from textual.dom import DOMNode

from foundation.terminal_text import visible
from tui.typed_app import theme_colour

MAX_CHARS: Final = 400  # shown of a line in a preview


def diff_tone(line: str) -> str:
    """The name of the tone of a line: good, error, accent or ""."""
    return {"+": "good", "-": "error", "@": "accent"}.get(line[:1], "")


def diff_text(diff: str, node: DOMNode, most: int = 0) -> Text:
    """The difference in colours, its first lines where `most` is given; without the names of the files, two lines."""
    lines = diff.splitlines()[2:]
    text = Text(end="")
    for line in lines[: most or None]:
        tone = diff_tone(line)
        shown = visible(line) if len(line) <= MAX_CHARS else f"{visible(line[:MAX_CHARS])}…"
        text.append("\n" if text else "").append(shown, theme_colour(node, f"{tone}-ink") if tone else "")
    if most and len(lines) > most:
        text.append(f"\n… {len(lines) - most:,} more", theme_colour(node, "muted"))
    return text
