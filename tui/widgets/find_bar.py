"""The find bar at the foot of the chat: a field, the number of the match, and what the keys do."""

from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from foundation.terminal_text import visible
from tui.widgets.query_input import QueryInput

_KEYS: Final = "↓ next · ↑ previous · Tab stay here · {}Esc back"


class FindBar(Vertical):
    """Posts what is typed and the keys; the screen carries them out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,f3,enter", "step(1)", "Go to the next match", id="find.next", show=False),
        Binding("up,shift+f3", "step(-1)", "Go to the previous match", id="find.previous", show=False),
        Binding("ctrl+shift+f", "screen.find", "Search everywhere", id="find.everywhere", show=False),
        Binding("tab,shift+tab", "leave(True)", "Stay here", id="find.stay", show=False),
        Binding("escape", "leave(False)", "Go back to where you were", id="find.back", show=False),
    ]

    @dataclass
    class QueryChanged(Message):
        query: str

    @dataclass
    class StepRequested(Message):
        """To the next match, 1, or the one before, -1."""

        by: int

    @dataclass
    class Closed(Message):
        """`stays`: the transcript stays where it is. `is_blur`: something else has the keys now."""

        stays: bool
        is_blur: bool = False

    def __init__(self) -> None:
        super().__init__(id="find-bar")
        self._field = QueryInput(placeholder="find in this conversation", id="find-query", compact=True)
        self._count = Static("", id="find-count", markup=False)
        self.display = False

    def compose(self) -> ComposeResult:
        with Horizontal(id="find-line"):
            yield Static("find", id="find-mark", markup=False)
            yield self._field
            yield self._count
        yield Static(_KEYS.format(""), id="find-keys", markup=False)

    @property
    def query_text(self) -> str:
        return self._field.value

    def open(self) -> None:
        """Shows the bar with its last query, selected, and gives it the keys."""
        self.display = True
        self._field.cursor_blink = False
        self._field.focus()
        self._field.action_select_all()

    def name_key(self, everywhere: str) -> None:
        """Names the key that looks for it everywhere, which a person may have changed; "" where there is none."""
        keys = _KEYS.format(f"{everywhere} everywhere · " if everywhere else "")
        self.query_one("#find-keys", Static).update(visible(keys))

    def show_count(self, text: str) -> None:
        self._count.update(Text(visible(text), no_wrap=True, overflow="ellipsis"))

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.QueryChanged(event.value))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_step(1)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    def on_descendant_blur(self) -> None:
        self.post_message(self.Closed(stays=True, is_blur=True))

    def action_step(self, by: int) -> None:
        self.post_message(self.StepRequested(by))

    def action_leave(self, stays: bool) -> None:
        self.post_message(self.Closed(stays))
