"""Passage screen: a whole passage with its source and trust level; for a note, its file."""

import asyncio
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from agent.services.browse import BrowseRow, full_passage
from agent.services.live_search import NoteInFile, note_in_file
from agent.services.recall import describe, hidden_characters_notice
from foundation.errors import PalimpsestError
from foundation.terminal_text import visible, visible_line
from foundation.trust import Trust
from tui.internal_errors import in_thread
from tui.passages.page_screen import show_pages, view_page
from tui.themes.themed_screen import ThemedScreen
from tui.typed_app import app_of, theme_colour
from tui.widgets.transcript.items import ErrorItem, MutedLine
from tui.widgets.transcript.line_numbers import NumberedLines, item_of_line, numbered_items
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:
    from memory.memory import Memory
    from memory.recalled_passage import RecalledPassage

SCROLL_KEYS: Final = "↑ ↓ scroll"
TAKE_KEYS: Final = "i cite · c copy · Esc back"


class PassageScreen(ThemedScreen[str | None]):
    """Gives the citation if it should go into the prompt, else None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,ctrl+c", "leave", "Back", id="passage.leave", show=False),
        Binding("p", "page", "The page as a picture", id="passage.page", show=False),
        Binding("o", "viewer", "The page in the system's viewer", id="passage.viewer", show=False),
        Binding("i,enter", "cite", "Cite it in the prompt", id="passage.cite", show=False),
        Binding("c", "copy", "Copy the passage", id="passage.copy", show=False),
        Binding("up,k", "scroll_by(-1)", "A line up", id="passage.up", show=False),
        Binding("down,j", "scroll_by(1)", "A line down", id="passage.down", show=False),
        Binding("pageup,b", "scroll_page(-1)", "A page up", id="passage.page_up", show=False),
        Binding("pagedown,space", "scroll_page(1)", "A page down", id="passage.page_down", show=False),
        Binding("home,g", "to_end(False)", "To the start", id="passage.begin", show=False),
        Binding("end,G", "to_end(True)", "To the end", id="passage.end", show=False),
    ]

    def __init__(self, memory: "Memory", row: BrowseRow, pictures: str = "auto") -> None:
        super().__init__()
        self._memory = memory
        self._row = row
        self._pictures = pictures
        self._passage: RecalledPassage | None = None
        self._text = Transcript(id="passage")

    def compose(self) -> ComposeResult:
        with Vertical(classes="room"):
            yield Static(Text(visible_line(self._row.citation)), classes="room-title", markup=False)
            yield Static("reading …", id="passage-about", markup=False)
            yield self._text
            yield Static(f"{SCROLL_KEYS} · {TAKE_KEYS}", classes="room-keys", markup=False)

    def on_mount(self) -> None:
        self._read()

    @work
    async def _read(self) -> None:
        try:
            self._passage = passage = await in_thread(full_passage, self._memory, self._row)
        except PalimpsestError as error:
            self._set_header(Text("it cannot be shown", theme_colour(self, "error-ink")))
            self._text.add(ErrorItem(error.title, error.message, error.hint))
            if self._row.snippet:
                self._text.add(MutedLine("The search result:", gap=True), MutedLine(self._row.snippet, tone="text"))
            return
        self._set_header(self._description(passage))
        marks = marks_in_passage(self._row, passage.text)
        items = await asyncio.to_thread(numbered_items, passage.text, frozenset(passage.doubt), marks=marks)
        self._text.replace_items(items)
        if marks and (hit := item_of_line(items, passage.text.count("\n", 0, marks[0][0]) + 1)) is not None:
            self._text.scroll_to_item(hit, has_more=False)
        if passage.pages:
            self.query_one(".room-keys", Static).update(f"{SCROLL_KEYS} · p page · o viewer · {TAKE_KEYS}")

    def _set_header(self, text: Text) -> None:
        self.query_one("#passage-about", Static).update(text)

    def _description(self, passage: "RecalledPassage") -> Text:
        trust_colour = theme_colour(self, "warning-ink" if passage.trust is Trust.APPROXIMATE else "good-ink")
        trust, _, reading = describe(passage).partition(",")
        lines = passage.text.count("\n") + 1
        size = f"{lines:,} line{'s' if lines != 1 else ''}, {len(passage.text):,} characters"
        other_pages = [page for page in passage.pages if page not in str(passage.citation)]
        on_pages = f" · on {', '.join(other_pages[:2])}" if other_pages else ""
        more = f" and {len(other_pages) - 2} more" if len(other_pages) > 2 else ""
        text = Text(trust, trust_colour)
        text.append(visible(f",{reading} · {size}{on_pages}{more}"), theme_colour(self, "muted"))
        for sentence in (*passage.warnings, *filter(None, [hidden_characters_notice(passage)])):
            text.append(f"\n{visible_line(sentence)}", theme_colour(self, "warning-ink"))
        return text

    def draw_colours(self) -> None:
        if self._passage is not None:
            self._set_header(self._description(self._passage))

    # Keys

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_cite(self) -> None:
        self.dismiss(self._row.citation if self._passage is None else str(self._passage.citation))

    def action_copy(self) -> None:
        if self._passage is not None:
            app_of(self).copy_to_clipboard(self._passage.text)
            self.notify(f"Copied {len(self._passage.text):,} characters.", timeout=3)

    def action_page(self) -> None:
        if self._passage is not None:
            self._show_page(self._passage)

    @work(exclusive=True, group="page")
    async def _show_page(self, passage: "RecalledPassage") -> None:
        await show_pages(self, self._memory, passage, self._row.snippet, self._pictures)

    def action_viewer(self) -> None:
        if pages := self._pages():
            self._open_in_viewer(pages[0])

    @work(exclusive=True, group="viewer")
    async def _open_in_viewer(self, page: str) -> None:
        await view_page(self, self._memory, page)

    def _pages(self) -> tuple[str, ...]:
        pages = self._passage.pages if self._passage else ()
        if not pages and self._passage:
            self.notify("This passage is stored as text and has no page.", timeout=4)
        return pages

    def action_scroll_by(self, by: int) -> None:
        self._text.scroll_to(y=self._text.scroll_y + by, animate=False)

    def action_scroll_page(self, by: int) -> None:
        self._text.scroll_to(y=self._text.scroll_y + by * max(self._text.size.height - 2, 1), animate=False)

    def action_to_end(self, last: bool) -> None:
        if last:
            self._text.follow_end()
        else:
            self._text.scroll_to(y=0, animate=False)


def marks_in_passage(row: BrowseRow, text: str) -> list[tuple[int, int]]:
    """The words of a row's query in its passage, or else the part of the passage that was recalled; in order."""
    start = row.span[0] if text[row.span[0] : row.span[1]] == row.snippet else text.find(row.snippet)
    if start < 0 or not row.snippet:
        return []
    if row.marks:
        return [(start + first, start + last) for first, last in sorted(row.marks) if last <= len(row.snippet)]
    return [] if row.snippet == text or row.passage is not None else [(start, start + len(row.snippet))]


class NoteScreen(PassageScreen):
    """Gives the citation if it should go into the prompt, else None."""

    def __init__(self, memory: "Memory", row: BrowseRow) -> None:
        super().__init__(memory, row)

    @work
    async def _read(self) -> None:
        try:
            self._passage = await in_thread(full_passage, self._memory, self._row)
            note_file = await in_thread(note_in_file, self._memory, self._row)
        except PalimpsestError as error:
            self._set_header(Text("it cannot be shown", theme_colour(self, "error-ink")))
            self._text.add(ErrorItem(error.title, error.message, error.hint))
            return
        lines = (
            f"line {note_file.first}"
            if note_file.first == note_file.last
            else f"lines {note_file.first}–{note_file.last}"
        )
        self._set_header(Text(visible(f"{note_file.path} · {lines}"), theme_colour(self, "muted")))
        before, first, after = await asyncio.to_thread(_split_at_note, note_file)
        self._text.replace_items([*before, first, *after])
        self._text.scroll_to_item(first, has_more=False)
        self.query_one(".room-keys", Static).update(f"{SCROLL_KEYS} · {TAKE_KEYS}")


def _split_at_note(note_file: NoteInFile) -> tuple[list[NumberedLines], NumberedLines, list[NumberedLines]]:
    """The lines of the file before the note, the item that starts with its first line, and the items after it."""
    items = numbered_items(note_file.text, targets=frozenset(range(note_file.first, note_file.last + 1)))
    for index, item in enumerate(items):
        offset = next((n for n, row in enumerate(item.rows) if row.number == note_file.first), None)
        if offset is not None:
            head = [NumberedLines(item.rows[:offset], item.digits)] if offset else []
            return [*items[:index], *head], NumberedLines(item.rows[offset:], item.digits), items[index + 1 :]
    return [], items[0], items[1:]  # the file became shorter meanwhile
