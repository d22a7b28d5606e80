"""List of suggestions above the prompt: commands after a slash, files after an @."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from rich.cells import cell_len
from rich.text import Text
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget

from foundation.terminal_text import visible
from tui.typed_app import theme_colour

MAX_SHOWN: Final = 8
OTHER_ROWS: Final = 3  # of the screen: the title, and two of the conversation


class Suggestion(Struct, frozen=True):
    """`text` replaces `typed`, the text before the cursor. `sends`: accepting it with Enter also sends the prompt."""

    label: str
    detail: str
    text: str
    typed: str
    sends: bool = False

    def fits(self, before_cursor: str) -> bool:
        """Whether it still matches the prompt, which can change meanwhile. A command must be the whole line."""
        return before_cursor == self.typed if self.typed.startswith("/") else before_cursor.endswith(self.typed)


class Suggestions(Widget):
    """Hidden while empty. The prompt keeps the focus and moves the selection."""

    selected = reactive(0)

    def __init__(self) -> None:
        super().__init__(id="suggestions")
        self.items: tuple[Suggestion, ...] = ()
        self.display = False

    def offer(self, items: Sequence[Suggestion]) -> None:
        """Shows these and selects the first; no items hide the list."""
        if tuple(items) == self.items:
            return
        self.items = tuple(items)
        self.selected = 0
        self.display = bool(items)
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """A row each and one for the count, in what the screen has beside the prompt and the other lines."""
        others = sum(widget.outer_size.height for widget in self.siblings if widget.display)
        room = max(viewport.height - others - OTHER_ROWS, 1)
        return min(len(self.items), room, MAX_SHOWN) + (len(self.items) > MAX_SHOWN < room)

    def current(self, before_cursor: str) -> Suggestion | None:
        """The selected suggestion; hides the list if it no longer matches the prompt."""
        if self.items and not self.items[self.selected].fits(before_cursor):
            self.offer(())
        return self.items[self.selected] if self.items else None

    def move(self, by: int) -> None:
        if self.items:
            self.selected = (self.selected + by) % len(self.items)

    def render(self) -> Text:
        rows = min(self.size.height, MAX_SHOWN)
        first = max(0, min(self.selected - rows // 2, len(self.items) - rows))
        shown = [(_one_line(item.label), _one_line(item.detail)) for item in self.items[first : first + rows]]
        column = min(max((cell_len(name) for name, _ in shown), default=0), max(self.size.width // 2, 12))
        text = Text(no_wrap=True, overflow="ellipsis", end="")
        for number, (name, detail_text) in enumerate(shown, first):
            mark, style = ("❯ ", f"bold {theme_colour(self, 'accent-ink')}") if number == self.selected else ("  ", "")
            label = Text(name)
            label.truncate(column, overflow="ellipsis", pad=True)
            text.append(mark, style).append(label.plain, style)
            detail_width = self.size.width - column - 5
            detail = Text(detail_text)
            detail.truncate(max(detail_width, 0), overflow="ellipsis")
            text.append("  " + detail.plain, theme_colour(self, "muted"))
            if number < first + len(shown) - 1:
                text.append("\n")
        if self.size.height > MAX_SHOWN:
            text.append(f"\n  {self.selected + 1} of {len(self.items)} · ↑ ↓", theme_colour(self, "muted"))
        return text


def _one_line(text: str) -> str:
    return visible(text).replace("\n", "␊").replace("\t", "␉")
