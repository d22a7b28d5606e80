"""Keys of the picker."""

from typing import Final

from textual.binding import Binding, BindingType


def _key(keys: str, action: str, sentence: str, name: str) -> Binding:
    """A key that goes before those of the field that is typed in."""
    return Binding(keys, action, sentence, id=f"picker.{name}", show=False, priority=True)


PICKER_KEYS: Final[list[BindingType]] = [
    _key("escape", "leave", "Leave the field, empty the query, go back", "leave"),
    _key("ctrl+c", "close", "Close the picker", "close"),
    _key("enter", "take", "Resume the conversation, go to the turn; fold a day", "take"),
    _key("up", "move(-1)", "Up", "up"),
    _key("down", "move(1)", "Down", "down"),
    _key("pageup", "move(-10)", "Page up", "page_up"),
    _key("pagedown", "move(10)", "Page down", "page_down"),
    _key("ctrl+home", "move(-1000000)", "First row", "first"),
    _key("ctrl+end", "move(1000000)", "Last row", "last"),
    _key("right", "into", "The turns of the conversation; unfold a day", "into"),
    _key("left", "out", "Back to the conversations; fold a day", "out"),
    _key("tab", "fold", "Fold or unfold the day", "fold"),
    _key("ctrl+r", "name", "Rename the conversation, label the turn", "name"),
    _key("ctrl+e", "export", "Export the conversation to a file", "export"),
    _key("ctrl+d", "delete", "Delete the conversation", "delete"),
    _key("ctrl+o", "hidden", "Show or hide -p conversations, or hidden turns", "hidden"),
    _key("ctrl+b", "branch", "Rewrite the message, on a branch", "branch"),
    _key("ctrl+t", "compare", "Mark a turn, then compare its branch with another", "compare"),
    _key("ctrl+x", "prune", "Hide the turn, or show it again", "prune"),
    _key("ctrl+up,shift+up", "scroll_preview(-3)", "Scroll the preview up", "preview_up"),
    _key("ctrl+down,shift+down", "scroll_preview(3)", "Scroll the preview down", "preview_down"),
]
LIST_ACTIONS: Final = frozenset(
    {
        *("move", "into", "out", "fold", "name", "export", "delete", "hidden", "branch", "compare", "prune"),
        "scroll_preview",
    }
)
"""Actions that belong to the list, and not to a field that is edited."""
