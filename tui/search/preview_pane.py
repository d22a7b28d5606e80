"""Pane with the preview of a result, scrolled to the first match."""

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from tui.search.preview import Preview, lines_above_match


class PreviewPane(Vertical):
    """Shows a preview; a part without text takes no line."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 — Textual's name
        super().__init__(id=id)
        self._from_top = False

    def compose(self) -> ComposeResult:
        yield Static("", id="search-about", markup=False)
        with VerticalScroll(id="search-around", can_focus=False):
            yield Static("", id="search-before", markup=False)
            yield Static("", id="search-passage", markup=False)
            yield Static("", id="search-after", markup=False)

    def show(self, content: Preview, *, from_top: bool) -> None:
        """`from_top`: does not scroll to the first match; the parts of the score come first."""
        self._from_top = from_top
        for name, text in content._asdict().items():
            part = self.query_one(f"#search-{name}", Static)
            part.display = bool(text.plain)
            part.update(text)
        self.call_after_refresh(self._scroll_to_match)

    def scroll_by(self, lines: int) -> None:
        around = self.query_one("#search-around", VerticalScroll)
        around.scroll_to(y=around.scroll_y + lines, animate=False)

    def _scroll_to_match(self) -> None:
        if not self.is_attached:  # the screen was left meanwhile
            return
        around, passage = self.query_one("#search-around", VerticalScroll), self.query_one("#search-passage", Static)
        lines_above = lines_above_match(passage.content, passage.size.width) if isinstance(passage.content, Text) else 0
        top = passage.virtual_region.y + max(lines_above + 1 - around.size.height, 0)
        around.scroll_to(y=0 if self._from_top else top, animate=False)
