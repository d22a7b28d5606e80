"""The line above the transcript: the title of the conversation, and the folder where its workspace is."""

from rich.cells import cell_len
from rich.text import Text
from textual.widget import Widget

from foundation.terminal_text import visible_line
from tui.typed_app import theme_colour
from tui.widgets.status import clip

NEW: str = "New conversation"
UNTITLED: str = "Untitled"
LEAST_TITLE = 20  # cells that the title has before the folder is shown beside it


class TitleLine(Widget):
    """The title at the left, the folder at the right where there is room."""

    def __init__(self, workspace: str) -> None:
        super().__init__(id="title-line")
        self.title = NEW
        self._workspace = visible_line(workspace)

    def show(self, title: str | None) -> None:
        """Shows a conversation's title; None before its first message."""
        shown = NEW if title is None else visible_line(title).strip() or UNTITLED
        if shown != self.title:
            self.title = shown
            self.refresh()

    def render(self) -> Text:
        width = self.size.width
        folder = self._workspace if cell_len(self._workspace) + 2 + LEAST_TITLE <= width else ""
        title = clip(self.title, max(width - cell_len(folder) - 2, 1) if folder else width)
        space = " " * max(width - cell_len(title) - cell_len(folder), 0)
        text = Text(title, f"bold {theme_colour(self, 'accent-ink')}".strip(), no_wrap=True, end="")
        return text.append(space + folder, theme_colour(self, "muted"))
