"""Single-line query field. Pasted text is made visible and put on one line."""

from typing import Final

from textual import events
from textual.widgets import Input

from foundation.terminal_text import visible, visible_line
from tui.widgets.own_bindings import run_own_binding

MAX_PASTED_CHARS: Final = 2_000  # characters of what is pasted: more is no question


class QueryInput(Input):
    """An Input; Textual's own would hand an escape in a pasted or a given text on to the terminal, and lose the
    order of fast keys.
    """

    def validate_value(self, value: str) -> str:
        """Whatever sets the value: a question handed over, a suggestion, a test."""
        return visible(value).replace("\n", " ")

    async def _on_key(self, event: events.Key) -> None:
        if await run_own_binding(self, event.key):
            event.stop()
            event.prevent_default()
        else:
            await super()._on_key(event)

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        line = visible_line(event.text[: 2 * MAX_PASTED_CHARS])[:MAX_PASTED_CHARS]
        if self.selection.is_empty:
            self.insert_text_at_cursor(line)
        else:
            self.replace(line, *self.selection)
