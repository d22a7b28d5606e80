"""Hint between the transcript and the prompt that there is new text below."""

from typing import Final

from rich.text import Text
from textual.message import Message
from textual.widget import Widget

from tui.typed_app import theme_colour

LABEL: Final = "↓ new · Ctrl+End"


class NewBelowHint(Widget):
    """Says that something came below. A click goes there."""

    class NewBelowClicked(Message):
        """The person wants to see it."""

    def __init__(self) -> None:
        super().__init__(id="newer")
        self.is_shown = False

    def show(self, *, there: bool) -> None:
        self.is_shown = there
        self.refresh()

    def render(self) -> Text:
        label = LABEL.rjust(self.size.width) if self.is_shown else ""
        return Text(label, f"bold {theme_colour(self, 'accent-ink')}", no_wrap=True, end="")

    def on_click(self) -> None:
        if self.is_shown:
            self.post_message(self.NewBelowClicked())
