"""Recall screen: a query field, the list of passages, and a preview of the chosen one."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.dom import DOMNode
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agent.services.browse import BrowsePage, BrowseRow, browse
from foundation.errors import PalimpsestError
from foundation.program import PROGRAM
from foundation.terminal_text import visible, visible_line
from tui.internal_errors import in_thread
from tui.passages.screen import PassageScreen
from tui.typed_app import app_of, theme_colour
from tui.widgets.passage_labels import TRUST_COLOURS, minute
from tui.widgets.query_input import QueryInput

if TYPE_CHECKING:
    from memory.memory import Memory

TYPING_PAUSE_S: Final = 0.15  # seconds without a key before a search starts
PREFETCH_ROWS: Final = 10  # rows before the end at which more are fetched
WIDE_COLUMNS: Final = 110  # columns from which the preview is shown
CONTEXT_CHARS: Final = 32  # characters shown before the first match
KEYS: Final = "↑ ↓ choose · Enter shows it whole · Esc leaves"


class RecallScreen(ModalScreen[str | None]):
    """Gives a citation for the prompt, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", "Back", id="recall.leave", show=False),
        Binding("up", "move(-1)", "Up", id="recall.up", show=False, priority=True),
        Binding("down", "move(1)", "Down", id="recall.down", show=False, priority=True),
        Binding("pageup", "move(-10)", "Page up", id="recall.page_up", show=False, priority=True),
        Binding("pagedown", "move(10)", "Page down", id="recall.page_down", show=False, priority=True),
    ]

    def __init__(self, memory: "Memory", query: str = "", pictures: str = "auto") -> None:
        """`pictures` is the setting `screen.pictures`. A `query` that is a reference opens its passage at once."""
        super().__init__()
        self._memory = memory
        self._query = query
        self._pictures = pictures
        self.rows: list[BrowseRow] = []
        self._next: int | None = None  # number of the next page of results
        self.is_fetching = False
        self._is_searching = False
        self._open_when_found = False  # Enter during a search: the best result is opened

    def compose(self) -> ComposeResult:
        with Vertical(classes="room"):
            with Horizontal(classes="room-head"):
                yield Static(Text("Recall"), classes="room-title", markup=False)
                yield Static("", id="recall-found", markup=False)
            yield QueryInput(
                self._query, placeholder="what to look for; nothing lists what is newest", id="filter", compact=True
            )
            with Horizontal(id="recall-body"):
                yield OptionList(id="choices", markup=False, compact=True)
                with VerticalScroll(id="recall-preview", can_focus=False):
                    yield Static("", id="recall-preview-text", markup=False)
            yield Static(KEYS, classes="room-keys", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        field = self.query_one(Input)
        field.cursor_blink = False
        field.focus()
        self._fit_preview()
        self._search(self._query, at_once=True)

    def on_resize(self) -> None:
        self._fit_preview()

    def _fit_preview(self) -> None:
        self.query_one("#recall-preview").display = self.size.width >= WIDE_COLUMNS

    # The query

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if event.value != self._query:
            self._query = event.value
            self._search(event.value)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    @work(exclusive=True, group="look")
    async def _search(self, text: str, *, at_once: bool = False) -> None:
        if not at_once:
            await asyncio.sleep(TYPING_PAUSE_S)
        self._set_summary("looking …")
        self._is_searching, self._open_when_found = True, False
        page = await self._find(text, 1)
        self._is_searching = False
        self.rows, self._next, self.is_fetching = [], None, False
        self.query_one(OptionList).clear_options()
        self._append(page)
        self._set_summary(self._summary(page))
        self._select(0 if self.rows else None)
        if page.rows and (self._open_when_found or (at_once and _is_single_reference(page))):
            self._open(page.rows[0])

    @work(group="more")
    async def _fetch_more(self) -> None:
        query, number = self._query, self._next
        if number is None or self.is_fetching:
            return
        self.is_fetching = True
        page = await self._find(query, number)
        if query == self._query and number == self._next:
            self._append(page)
        self.is_fetching = False

    async def _find(self, text: str, number: int) -> BrowsePage:
        try:
            return await in_thread(browse, self._memory, text, number)
        except PalimpsestError as error:
            return BrowsePage(error=f"{error.title}: {error.message}")

    def _append(self, page: BrowsePage) -> None:
        self.rows += page.rows
        self._next = page.next if page.rows else None
        terms = self._query.split()
        self.query_one(OptionList).add_options(Option(_row_text(row, self, terms)) for row in page.rows)

    def _summary(self, page: BrowsePage) -> str:
        if page.error:
            return page.error
        damaged = f"{len(page.damaged):,} pages are damaged" if len(page.damaged) != 1 else "a page is damaged"
        if page.damaged:
            return f"{page.total:,} found · {damaged}: `{PROGRAM} check --repair`"
        if not page.total:
            return "nothing is remembered about it" if self._query.strip() else "nothing is remembered yet"
        return f"{page.total:,} found · {page.took_ms:,.0f} ms"

    def _set_summary(self, text: str) -> None:
        self.query_one("#recall-found", Static).update(Text(visible(text), no_wrap=True, overflow="ellipsis"))

    # Selection

    def action_move(self, by: int) -> None:
        options = self.query_one(OptionList)
        if self.rows:
            self._select(max(0, min((options.highlighted or 0) + by, len(self.rows) - 1)))

    def _select(self, index: int | None) -> None:
        self.query_one(OptionList).highlighted = index
        text = _preview_text(self.rows[index], self) if index is not None else Text("")
        self.query_one("#recall-preview-text", Static).update(text)
        self.query_one("#recall-preview", VerticalScroll).scroll_home(animate=False)
        if index is not None and index >= len(self.rows) - PREFETCH_ROWS:
            self._fetch_more()

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self._select(event.option_index)
        self._open(self.rows[event.option_index])

    @on(Input.Submitted)
    def _submit(self) -> None:
        index = self.query_one(OptionList).highlighted
        if self._is_searching:
            self._open_when_found = True
        elif index is not None and self.rows:
            self._open(self.rows[index])

    def _open(self, row: BrowseRow) -> None:
        app_of(self).push_screen(PassageScreen(self._memory, row, self._pictures), self._cite)

    def _cite(self, citation: str | None) -> None:
        if citation:
            self.dismiss(citation)

    def action_leave(self) -> None:
        self.dismiss(None)


def _is_single_reference(page: BrowsePage) -> bool:
    """Whether the query was a reference to one passage."""
    return len(page.rows) == 1 and page.rows[0].passage is not None


def _row_text(row: BrowseRow, node: DOMNode, terms: Sequence[str] = ()) -> Text:
    """Two lines: the snippet, from shortly before the first match; then trust, time, speaker and title."""
    text = Text(_from_match(visible_line(row.snippet), terms) or "(no words)", end="")
    details = " · ".join(part for part in (minute(row.time), visible_line(row.who), visible_line(row.title)) if part)
    text.append("\n  ")
    text.append(row.trust.value, theme_colour(node, TRUST_COLOURS[row.trust]))
    return text.append(f" · {details}" if details else "", theme_colour(node, "muted"))


def _preview_text(row: BrowseRow, node: DOMNode) -> Text:
    """The citation, trust, time and snippet."""
    text = Text().append(visible_line(row.citation), theme_colour(node, "accent-ink"))
    text.append("\n").append(f"{row.trust.value}", theme_colour(node, TRUST_COLOURS[row.trust]))
    if row.time is not None:
        text.append(f" · {minute(row.time)}", theme_colour(node, "muted"))
    return text.append("\n\n").append(visible(row.snippet).expandtabs(4))


def _from_match(line: str, terms: Sequence[str]) -> str:
    """The line from shortly before the first match, if that is far into it."""
    folded = line.casefold()
    offsets = [offset for term in terms if (offset := folded.find(term.casefold())) >= 0]
    first = min(offsets, default=0)
    if first <= CONTEXT_CHARS:
        return line
    begin = line.rfind(" ", 0, first - CONTEXT_CHARS // 2) + 1 or first - CONTEXT_CHARS // 2
    return f"… {line[max(begin, first - CONTEXT_CHARS) :]}"
