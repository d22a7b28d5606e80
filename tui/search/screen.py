"""Search screen: a field that searches as one types, the results, and the context of the chosen one."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Final

from msgspec import structs
from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agent.services import live_search
from agent.services.browse import BrowsePage
from agent.services.filter_syntax import HELP, parse_filters
from foundation.terminal_text import visible
from tui.search.controller import INDEXING, KEYS, KEYS_IN_LIST, SearchChoice, SearchController, summary
from tui.search.highlight import Spans, match_spans
from tui.search.hit_actions import HitActions
from tui.search.preview import NO_PREVIEW, preview
from tui.search.preview_pane import PreviewPane
from tui.search.rows import row_text
from tui.themes.themed_screen import ThemedScreen
from tui.widgets.query_input import QueryInput

if TYPE_CHECKING:
    from agent.services.browse import BrowseRow
    from agent.services.live_search import PassageContext
    from memory.memory import Memory

TYPING_PAUSE_S: Final = 0.1  # seconds without a key before a search starts
CONTEXT_DELAY_S: Final = 0.05  # seconds on a row before its context is loaded
SLOW_CONTEXT_S: Final = 0.3  # seconds of loading before a passage is shown without its context
SLOW_SEARCH_S: Final = 0.3  # seconds of a search before “searching …” is shown
INDEXING_RETRY_S: Final = 1.0  # seconds between two searches while the index is being built
PREFETCH_ROWS: Final = 10  # rows before the end at which more are fetched
WIDE_COLUMNS: Final = 110  # columns from which the preview is beside the list


class SearchScreen(ThemedScreen[SearchChoice | None]):
    """Gives an entry to show, a citation for the prompt, or None."""

    CSS_PATH = "../styles/search.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", "Back", id="search.leave", show=False, priority=True),
        Binding("up", "move(-1)", "Up", id="search.up", show=False, priority=True),
        Binding("down", "move(1)", "Down", id="search.down", show=False, priority=True),
        Binding("pageup", "move(-10)", "Page up", id="search.page_up", show=False, priority=True),
        Binding("pagedown", "move(10)", "Page down", id="search.page_down", show=False, priority=True),
        Binding(
            "ctrl+up,shift+up",
            "scroll_around(-3)",
            "Scroll the preview up",
            id="search.preview_up",
            show=False,
            priority=True,
        ),
        Binding(
            "ctrl+down,shift+down",
            "scroll_around(3)",
            "Scroll the preview down",
            id="search.preview_down",
            show=False,
            priority=True,
        ),
        Binding(
            "tab,shift+tab", "other_side", "The list, the field", id="search.other_side", show=False, priority=True
        ),
        Binding("ctrl+f,ctrl+shift+f,f3,slash", "field", "The field", id="search.field", show=False),
        Binding("ctrl+y,y,i", "cite", "Cite it in the prompt", id="search.cite", show=False),
        Binding("ctrl+o,o", "open", "Open the passage", id="search.open", show=False),
        Binding("ctrl+g,p", "page", "Show its page as a picture", id="search.page", show=False),
        Binding("ctrl+s,s", "explain", "Explain the score", id="search.explain", show=False),
        Binding("j", "move(1)", "Down", id="search.down_2", show=False),
        Binding("k", "move(-1)", "Up", id="search.up_2", show=False),
    ]

    def __init__(
        self,
        memory: "Memory",
        text: str = "",
        pictures: str = "auto",
        can_switch: Callable[[], bool] = lambda: True,
        *,
        whole: bool = False,
    ) -> None:
        """`can_switch`: whether the chat can change the conversation now. `pictures`: the setting `screen.pictures`.
        `whole`: a text that is a reference opens its passage at once.
        """
        super().__init__()
        self._controller = SearchController(memory)
        self._actions = HitActions(self, memory, pictures, can_switch=can_switch, query=lambda: self.query_text)
        self.query_text = text
        self._opens_whole = whole
        self.rows: list[BrowseRow] = []
        self.spans: list[Spans] = []
        self._next: int | None = None  # number of the next page of results
        self.is_fetching = False  # whether the next page is being fetched
        self.contexts: dict[str, PassageContext] = {}  # by the row's key
        self.previewed: BrowseRow | None = None  # the row in the preview
        self._explain = False
        self._keeps_selection = False  # whether the selected row stays selected in the next results
        self._search_due = asyncio.Event()
        self._last_key_at = 0.0
        self.is_up_to_date = False  # whether the results are those of the typed query
        self._was_clicked = False  # whether a click has just selected the row
        self._open_when_found = False  # Enter during a search: the best result is opened

    def compose(self) -> ComposeResult:
        with Vertical(classes="room"):
            with Horizontal(classes="room-head"):
                yield Static(Text("Search"), classes="room-title", markup=False)
                yield Static("", id="search-found", markup=False)
            yield QueryInput(
                self.query_text, placeholder="search memory; leave empty to list the newest", id="filter", compact=True
            )
            with Container(id="search-body"):
                yield OptionList(id="choices", markup=False, compact=True)
                yield PreviewPane(id="search-preview")
            yield Static("", id="search-nothing", markup=False)
            yield Static(KEYS, id="search-keys", markup=False)
            yield Static(HELP, id="search-help", markup=False)

    def on_mount(self) -> None:
        self.query_one("#search-nothing").display = False
        field = self.query_one(Input)
        field.cursor_blink = False
        field.focus()
        field.cursor_position = len(self.query_text)
        self._fit_layout()
        self._search_due.set()
        self._search_loop()

    def on_resize(self) -> None:
        self._fit_layout()
        self.call_after_refresh(self._redraw_rows)

    def draw_colours(self) -> None:
        self._redraw_rows()
        self._preview()

    def _fit_layout(self) -> None:
        self.query_one("#search-body").set_class(self.size.width >= WIDE_COLUMNS, "-wide")

    # The query

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if event.value == self.query_text:
            return
        self.query_text, self._last_key_at = event.value, monotonic()
        self._request()

    def _request(self) -> None:
        self.is_up_to_date = self._open_when_found = False
        self._search_due.set()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    @work(group="answer")
    async def _search_loop(self) -> None:
        """Runs one search at a time; of the queries typed meanwhile, only the last one."""
        while await self._search_due.wait():
            await self._wait_for_pause()
            self._search_due.clear()
            if not self._is_open:
                return
            text, explain = self.query_text, self._explain
            slow = self.set_timer(SLOW_SEARCH_S, lambda: self._set_summary("searching …"))
            page = await self._controller.find_page(text, 1, explain=explain)
            slow.stop()
            if self._is_open and (text, explain) == (self.query_text, self._explain):
                self._show(page)
                if page.indexed is not None:
                    self.set_timer(INDEXING_RETRY_S, self._search_due.set)

    @property
    def _is_open(self) -> bool:
        """False if the screen was left while a thread was running."""
        return bool(self.query("#search-help") and self.query(OptionList))

    async def _wait_for_pause(self) -> None:
        """Waits until no key was pressed for TYPING_PAUSE_S."""
        remaining = self._last_key_at + TYPING_PAUSE_S - monotonic()
        if remaining > 0:
            await asyncio.sleep(remaining)
            await self._wait_for_pause()

    # Results

    def _show(self, page: BrowsePage) -> None:
        """Shows the results. After an error in the query, shows the message and keeps the old results."""
        was_up_to_date, self.is_up_to_date = self.is_up_to_date, True
        unfinished = parse_filters(self.query_text).unfinished
        values = live_search.filter_values(unfinished) if unfinished else ""
        self._set_note(page.error or values or page.warning, wrong=bool(page.error))
        if page.error:
            self._set_summary("")
            return
        has_moved = bool(self.query_one(OptionList).highlighted)  # if not, the best row stays selected
        selected_key = (
            self.selected.key if (was_up_to_date or self._keeps_selection) and has_moved and self.selected else ""
        )
        self._keeps_selection = False
        self.rows, self.spans = [], []
        self.query_one(OptionList).clear_options()
        self._append(page)
        self._set_summary(summary(page))
        self._show_empty(reading=page.indexed is not None)
        index = next((n for n, row in enumerate(self.rows) if row.key == selected_key or row.id == page.anchor), 0)
        self._select(index if self.rows else None)
        opens_whole, self._opens_whole = self._opens_whole and _is_single_reference(page), False
        if opens_whole:
            self.action_open()
        elif self._open_when_found and self.rows:
            self._open_selected()

    def _append(self, page: BrowsePage) -> None:
        self._next = page.next if page.rows else None
        query = parse_filters(self.query_text).text
        spans = [row.marks or (match_spans(row.snippet, query) if query else []) for row in page.rows]
        width = self._list_width
        self.rows += page.rows
        self.spans += spans
        self.query_one(OptionList).add_options(
            Option(row_text(row, self, span, width)) for row, span in zip(page.rows, spans, strict=True)
        )

    @work(group="more")
    async def _fetch_more(self) -> None:
        text, explain, number = self.query_text, self._explain, self._next
        if number is None or self.is_fetching:
            return
        self.is_fetching = True
        page = await self._controller.find_page(text, number, explain=explain)
        self.is_fetching = False
        if (
            self._is_open
            and (text, explain, number) == (self.query_text, self._explain, self._next)
            and self.is_up_to_date
        ):
            self._append(page)
            if self._next is None:  # what is listed is known now
                self._set_summary(summary(structs.replace(page, rows=tuple(self.rows))))

    @property
    def _list_width(self) -> int:
        return self.query_one(OptionList).size.width - 3  # without padding and scrollbar

    def _redraw_rows(self) -> None:
        """Draws the rows for another width."""
        options = self.query_one(OptionList)
        for number, (row, span) in enumerate(zip(self.rows, self.spans, strict=True)):
            options.replace_option_prompt_at_index(number, row_text(row, self, span, self._list_width))

    def _show_empty(self, *, reading: bool) -> None:
        empty = not self.rows
        self.query_one("#search-body").display = not empty
        message = self.query_one("#search-nothing", Static)
        message.display = empty
        message.update(
            Text(visible(INDEXING if reading else live_search.no_results_message(self.query_text))) if empty else ""
        )

    def _set_summary(self, text: str) -> None:
        self.query_one("#search-found", Static).update(Text(visible(text), no_wrap=True, overflow="ellipsis"))

    def _set_note(self, text: str, *, wrong: bool = False) -> None:
        note = self.query_one("#search-help", Static)
        note.set_class(wrong, "-wrong")
        note.update(Text(visible(text or HELP)))

    # Selection

    @property
    def selected(self) -> "BrowseRow | None":
        index = self.query_one(OptionList).highlighted
        return self.rows[index] if index is not None and index < len(self.rows) else None

    def action_move(self, by: int) -> None:
        index = self.query_one(OptionList).highlighted or 0
        if self.rows:
            self._select(max(0, min(index + by, len(self.rows) - 1)), waits=True)

    def _select(self, index: int | None, *, waits: bool = False) -> None:
        """`waits`: the preview of the row before stays until the context of this one is there, which is one drawing."""
        self.query_one(OptionList).highlighted = index
        self._preview(waits=waits)
        if index is not None and index >= len(self.rows) - PREFETCH_ROWS:
            self._fetch_more()

    def _preview(self, *, waits: bool = False) -> None:
        row, before = self.selected, self.previewed
        self.previewed = row
        context = self.contexts.get(row.key) if row else None
        if row is before and waits:
            return
        if context or not (row and waits):
            self._draw(row, context)
        if row and context is None:
            self._load_context(row)

    @work(exclusive=True, group="around")
    async def _load_context(self, row: "BrowseRow") -> None:
        await asyncio.sleep(CONTEXT_DELAY_S)
        slow = self.set_timer(SLOW_CONTEXT_S, lambda: self._draw_selected(row, None))
        try:
            self.contexts[row.key] = context = await self._controller.context(row)
        finally:
            slow.stop()
        self._draw_selected(row, context)

    def _draw_selected(self, row: "BrowseRow", context: "PassageContext | None") -> None:
        if self._is_open and row is self.selected:
            self._draw(row, context)

    def _draw(self, row: "BrowseRow | None", context: "PassageContext | None") -> None:
        index = self.query_one(OptionList).highlighted
        content = NO_PREVIEW
        if row and index is not None:
            content = preview(row, self, self.spans[index], context, explain=self._explain)
        self.query_one(PreviewPane).show(content, from_top=self._explain)

    # Keys

    @on(OptionList.OptionHighlighted)
    def _highlighted(self) -> None:
        if self.selected is not self.previewed:
            self._was_clicked = True
            self._preview()

    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        """A first click selects the row, a second one opens it."""
        if not self._was_clicked:
            self._open_selected()
        self._was_clicked = False

    @on(Input.Submitted)
    def _submit(self) -> None:
        if not self.is_up_to_date:
            self._open_when_found = True
        else:
            self._open_selected()

    def _open_selected(self) -> None:
        if row := self.selected:
            self._act_on(self._actions.go_to, row)

    def action_open(self) -> None:
        if row := self.selected:
            self._act_on(self._actions.open, row)

    def action_page(self) -> None:
        if row := self.selected:
            self._act_on(self._actions.show_page, row)

    @work(exclusive=True, group="action")
    async def _act_on(self, action: "Callable[[BrowseRow], Awaitable[SearchChoice | None]]", row: "BrowseRow") -> None:
        """Carries an action of a row out, and leaves with what it gives."""
        if (chosen := await action(row)) is not None and self._is_open:
            self.dismiss(chosen)

    def action_cite(self) -> None:
        if row := self.selected:
            self.dismiss(row.citation)

    def action_explain(self) -> None:
        self._explain, self._keeps_selection = not self._explain, True
        self._request()

    def action_scroll_around(self, by: int) -> None:
        self.query_one(PreviewPane).scroll_by(by)

    def action_other_side(self) -> None:
        in_list = self.query_one(Input).has_focus and bool(self.rows)
        self.query_one(OptionList if in_list else Input).focus()
        self.query_one("#search-keys", Static).update(KEYS_IN_LIST if in_list else KEYS)

    def action_field(self) -> None:
        if not self.query_one(Input).has_focus:
            self.action_other_side()

    def action_leave(self) -> None:
        self.dismiss(None)


def _is_single_reference(page: BrowsePage) -> bool:
    """Whether the query was a reference to one passage."""
    return len(page.rows) == 1 and page.rows[0].passage is not None
