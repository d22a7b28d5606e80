"""The line with the actions of the focused block, in place of the status bar; it has the keys while it is shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget

from tui.typed_app import app_of, theme_colour
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
        Binding("u", "act('undelete')", "Take back what was taken out", id="block.undelete", show=False),
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

    class Left(Message):
        """Something else has the keys now."""

    def __init__(self) -> None:
        super().__init__(id="focus-bar")
        self._actions: Sequence[str] = ()
        self._keys: list[tuple[str, str]] = []  # that came together, with their characters
        self.type_text: Callable[[str], None] | None = None  # goes back to the prompt with the text
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
        """Collects the printable keys of one read: several are text, whatever each of them does alone."""
        if event.is_printable and event.character:
            event.stop()
            event.prevent_default()
            if not self.display and self.type_text is not None:  # it came before the prompt had the keys again
                self.type_text(event.character)
                return
            self._keys.append((event.key, event.character))
            if len(self._keys) == 1:  # behind the keys that the app has, and then behind those that came here
                app_of(self).call_later(self.call_later, self._take_keys)

    async def _take_keys(self) -> None:
        keys, self._keys = self._keys, []
        binding = self.screen.active_bindings.get(keys[0][0]) if len(keys) == 1 and self.display else None
        if binding is not None:
            await app_of(self).run_action(binding.binding.action, binding.node)
        elif self.type_text is not None:
            self.type_text("".join(character for _, character in keys))

    def on_blur(self) -> None:
        self.post_message(self.Left())

    def action_move(self, by: int) -> None:
        self.post_message(self.MoveRequested(by))

    def action_act(self, action: str) -> None:
        self.post_message(self.ActionRequested(action))
