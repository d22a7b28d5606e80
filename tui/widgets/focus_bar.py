"""The actions of the focused block, in place of the status bar; has the keys while it is shown.

Actions that do not fit on one line go on on the next ones. Where that is too many lines, the last actions give way to
the key of the list that has them all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from tui.typed_app import app_of, theme_colour
from tui.widgets.status import GAP, clip

BACK: Final = "Esc prompt"
MORE: Final = "F1 more"
MOST_ROWS: Final = 3
LOW_SCREEN: Final = 14  # rows: below, the bar takes one


def action_rows(actions: Sequence[str], width: int, most: int) -> list[str]:
    """The actions on `most` rows at most. At least the first one is shown, and the way back."""
    rows = _filled([*actions, BACK], width)
    shown = list(actions)
    while len(rows) > most and len(shown) > 1:
        shown.pop()
        rows = _filled([*shown, MORE, BACK], width)
    if len(rows) > most:
        rows = [GAP.join([*shown, BACK])]
    return [clip(row, width) for row in rows]


def _filled(words: Sequence[str], width: int) -> list[str]:
    rows: list[str] = []
    for word in words:
        if rows and cell_len(longer := f"{rows[-1]}{GAP}{word}") <= width:
            rows[-1] = longer
        else:
            rows.append(word)
    return rows


class FocusBar(Widget, can_focus=True):
    """Posts the actions and the keys; the screen carries them out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Go to the block above", id="block.up", show=False),
        Binding("down", "move(1)", "Go to the block below", id="block.down", show=False),
        Binding("enter", "act('open')", "Open or fold the block", id="block.open", show=False),
        Binding("e", "act('whole')", "Show the whole text", id="block.whole", show=False),
        Binding("c", "act('copy')", "Copy it", id="block.copy", show=False),
        Binding("i", "act('quote')", "Insert it into the prompt, folded", id="block.quote", show=False),
        Binding("r", "act('resend')", "Edit your message and send it again", id="block.resend", show=False),
        Binding("b", "act('branch')", "Continue after this turn, on a branch", id="block.branch", show=False),
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
            "Undo a deletion, or a model's change",
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

    class Left(Message):
        """Something else has the keys now."""

    def __init__(self) -> None:
        super().__init__(id="focus-bar")
        self._actions: Sequence[str] = ()
        self._shown_width: int = 0
        self._rows = 1  # the most since it has the keys, at this width
        self._keys: list[tuple[str, str]] = []  # that came together, with their characters
        self.type_text: Callable[[str], None] | None = None  # goes back to the prompt with the text
        self.display = False

    def show_actions(self, actions: Sequence[str]) -> None:
        """Shows these: `c copy`."""
        self._actions = actions
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as the actions take. It grows from one block to the next and does not shrink, so that the
        prompt above it stays in its row."""
        most = MOST_ROWS if viewport.height >= LOW_SCREEN else 1
        self._rows = min(max(self._rows, len(action_rows(self._actions, width, most))), most)
        return self._rows

    def render(self) -> Text:
        rows = action_rows(self._actions, self.size.width, max(self.size.height, 1))
        return Text("\n".join(rows), theme_colour(self, "accent-ink"), no_wrap=True, end="")

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

    def on_resize(self) -> None:
        if self.size.width != self._shown_width:
            self._shown_width, self._rows = self.size.width, 1
            self.refresh(layout=True)

    def on_blur(self) -> None:
        self._rows = 1
        self.post_message(self.Left())

    def action_move(self, by: int) -> None:
        self.post_message(self.MoveRequested(by))

    def action_act(self, action: str) -> None:
        self.post_message(self.ActionRequested(action))
