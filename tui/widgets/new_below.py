"""Hint between the transcript and the prompt that there is new text below."""

from typing import Final

from rich.text import Text
from textual.message import Message
from textual.widget import Widget

from tui.typed_app import ink

LABEL: Final = "↓ new · Ctrl+End"


class NewBelowHint(Widget):
    """Says that something came below. A click goes there."""

    class NewBelowClicked(Message):
        """The person wants to see it."""

    def __init__(self) -> None:
        super().__init__(id="newer")
        self.there = False

    def tell(self, *, there: bool) -> None:
        self.there = there
        self.refresh()

    def render(self) -> Text:
        label = LABEL.rjust(self.size.width) if self.there else ""
        return Text(label, f"bold {ink(self, 'accent-ink')}", no_wrap=True, end="")

    def on_click(self) -> None:
        if self.there:
            self.post_message(self.NewBelowClicked())
