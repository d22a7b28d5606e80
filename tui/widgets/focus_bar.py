"""The line with the actions of the focused block, in place of the status bar; it has the keys while it is shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget

from tui.typed_app import theme_colour
from tui.widgets.status import GAP, clip

BACK: Final = "Esc prompt"


class FocusBar(Widget, can_focus=True):
    """Posts the actions and the keys; the screen carries them out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Go to the block above", id="block.up", show=False),
        Binding("down", "move(1)", "Go to the block below", id="block.down", show=False),
        Binding("enter", "act('open')", "Open or fold the block", id="block.open", show=False),
        Binding("e", "act('whole')", "Show the whole text", id="block.whole", show=False),
        Binding("c", "act('copy')", "Copy it", id="block.copy", show=False),
        Binding("i", "act('quote')", "Put it into the prompt, folded", id="block.quote", show=False),
        Binding("r", "act('resend')", "Edit your message and send it again", id="block.resend", show=False),
        Binding("b", "act('branch')", "Go on after this turn, on a branch", id="block.branch", show=False),
        Binding("m", "act('bookmark')", "Bookmark the turn, or remove its bookmark", id="block.bookmark", show=False),
        Binding(
            "d",
            "act('delete')",
            "Delete the turn and what follows: says what goes, d again does it",
            id="block.delete",
            show=False,
        ),
        Binding(
            "u",
            "act('undelete')",
            "Take back a deletion, or a model's change",
            id="block.undelete",
            show=False,
        ),
        Binding("escape,ctrl+c", "act('back')", "Go back to the prompt", id="block.back", show=False),
    ]

    @dataclass
    class MoveRequested(Message):
        """To the next target, 1, or the one before, -1."""

        by: int

    @dataclass
    class ActionRequested(Message):
        """An action of the focused block, or `back`."""

        action: str

    @dataclass
    class Typed(Message):
        """A character that is no action."""

        character: str

    class Left(Message):
        """Something else has the keys now."""

    def __init__(self) -> None:
        super().__init__(id="focus-bar")
        self._actions: Sequence[str] = ()
        self.display = False

    def show_actions(self, actions: Sequence[str]) -> None:
        """Shows these: `c copy`. Those that do not fit are left out, the last ones first."""
        self._actions = actions
        self.refresh()

    def render(self) -> Text:
        shown = list(self._actions)
        while len(shown) > 1 and cell_len(GAP.join([*shown, BACK])) > self.size.width:
            shown.pop()
        line = clip(GAP.join([*shown, BACK]), self.size.width)
        return Text(line, theme_colour(self, "accent-ink"), no_wrap=True, end="")

    def on_key(self, event: events.Key) -> None:
        if event.is_printable and event.character and event.key not in self.screen.active_bindings:
            event.stop()
            event.prevent_default()
            self.post_message(self.Typed(event.character))

    def on_blur(self) -> None:
        self.post_message(self.Left())

    def action_move(self, by: int) -> None:
        self.post_message(self.MoveRequested(by))

    def action_act(self, action: str) -> None:
        self.post_message(self.ActionRequested(action))
