"""The text of the picker's preview."""

from rich.text import Text
from textual.dom import DOMNode

from foundation.terminal_text import visible, visible_line
from tui.picker.level import PickerPreview
from tui.search.highlight import highlight, match_spans
from tui.typed_app import theme_colour

GAP_MARK = "⋯"


def preview_text(shown: PickerPreview, node: DOMNode) -> tuple[Text, int]:
    """The text, and how many of its lines (unwrapped) stand above the passage that matched."""
    muted, accent = theme_colour(node, "muted"), theme_colour(node, "accent-ink")
    text, above = Text(visible_line(shown.about), muted, end=""), 0
    has_match = any(turn.is_match for turn in shown.turns)
    for turn in shown.turns:
        if turn.is_gap:
            text.append(f"\n\n{GAP_MARK}", muted)
        if turn.is_match:
            above = text.plain.count("\n") + 2
        text.append(f"\n\n{visible_line(turn.who)}", f"bold {accent}".strip())
        text.append(f" · {turn.time.astimezone():%Y-%m-%d %H:%M}\n", muted)
        marks = match_spans(turn.text, shown.query) if shown.query and (turn.is_match or not has_match) else []
        body = highlight(turn.text, marks, f"bold underline {accent}".strip())
        if has_match and not turn.is_match:
            body.style = muted
        text.append_text(body)
    if not shown.about and not shown.turns:
        text.append(visible("nothing to show"), muted)
    return text, above
