"""Search screen: a field that searches as one types, the results, and the context of the chosen one."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agent.services import live_search
from agent.services.browse import BrowsePage
from agent.services.filter_syntax import HELP, parse_filters
from foundation.errors import PalimpsestError
from foundation.terminal_text import visible
from tui.search.controller import (
    BUSY,
    INDEXING,
    KEYS,
    KEYS_IN_LIST,
    EntryTarget,
    SearchChoice,
    SearchController,
    figures,
)
from tui.search.highlight import Spans, spans_of
from tui.search.preview import NO_PREVIEW, lines_to_mark, preview
from tui.search.rows import row_text
from tui.typed_app import host
from tui.widgets.query_input import QueryInput

if TYPE_CHECKING:
    from agent.services.browse import BrowseRow
    from agent.services.live_search import PassageContext
    from memory.memory import Memory

CALM: Final = 0.1  # seconds without a key before it looks
REST: Final = 0.05  # seconds on a row before what stands around it is read
SLOW: Final = 0.3  # seconds after which it says that it is looking
AGAIN: Final = 1.0  # seconds after which it looks again while the index is being built
AHEAD: Final = 10  # rows before the end at which more are fetched
WIDE: Final = 110  # columns from which the preview stands beside the list


class SearchScreen(ModalScreen[SearchChoice | None]):
    """Gives a place to go to, a citation to put into the prompt, or None."""

    CSS_PATH = "../styles/search.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", "Back", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("pageup", "move(-10)", show=False, priority=True),
        Binding("pagedown", "move(10)", show=False, priority=True),
        Binding("ctrl+up,shift+up", "scroll_around(-3)", show=False, priority=True),
        Binding("ctrl+down,shift+down", "scroll_around(3)", show=False, priority=True),
        Binding("tab,shift+tab", "other_side", "The list, the field", show=False, priority=True),
        Binding("ctrl+f,f3,slash", "field", "The field", show=False),
        Binding("ctrl+y,y,i", "cite", "Cite it in the prompt", show=False),
        Binding("ctrl+o,o", "open", "Open the passage", show=False),
        Binding("ctrl+s,s", "explain", "What the score is made of", show=False),
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
    ]

    def __init__(
        self, memory: "Memory", text: str = "", pictures: str = "auto", at_rest: Callable[[], bool] = lambda: True
    ) -> None:
        """`at_rest` says whether the chat may go elsewhere now; `pictures` is the setting `screen.pictures`."""
        super().__init__()
        self._memory = memory
        self._controller = SearchController(memory)
        self.query_text = text
        self._pictures = pictures
        self._at_rest = at_rest
        self.rows: list[BrowseRow] = []
        self.spans: list[Spans] = []
        self._next: int | None = None  # the number of the look that goes on
        self.is_fetching = False  # whether it goes on just now
        self.nearby: dict[str, PassageContext] = {}  # by the row's key: one that is looked at again is there at once
        self.previewed: BrowseRow | None = None  # whose preview stands
        self._explain = False
        self._keeps = False  # whether the row that is chosen stays chosen when the list comes anew
        self._due = asyncio.Event()
        self._typed_at = 0.0
        self.is_up_to_date = False  # whether what is shown is what is typed
        self._clicked = False  # whether a click has just chosen the row
        self._entered_early = False  # Enter, while it looked: the best is gone to when it is there

    def compose(self) -> ComposeResult:
        with Vertical(classes="room"):
            with Horizontal(classes="room-head"):
                yield Static(Text("Search"), classes="room-title", markup=False)
                yield Static("", id="search-found", markup=False)
            yield QueryInput(
                self.query_text, placeholder="what to look for; nothing lists what is newest", id="filter", compact=True
            )
            with Container(id="search-body"):
                yield OptionList(id="choices", markup=False, compact=True)
                with Vertical(id="search-preview"):
                    yield Static("", id="search-about", markup=False)
                    with VerticalScroll(id="search-around", can_focus=False):
                        yield Static("", id="search-before", markup=False)
                        yield Static("", id="search-passage", markup=False)
                        yield Static("", id="search-after", markup=False)
            yield Static("", id="search-nothing", markup=False)
            yield Static(KEYS, id="search-keys", markup=False)
            yield Static(HELP, id="search-help", markup=False)

    def on_mount(self) -> None:
        self.query_one("#search-nothing").display = False
        asking = self.query_one(Input)
        asking.cursor_blink = False
        asking.focus()
        asking.cursor_position = len(self.query_text)
        self._fit()
        self._due.set()
        self._answer()

    def on_resize(self) -> None:
        self._fit()
        self.call_after_refresh(self._list_again)

    def _fit(self) -> None:
        self.query_one("#search-body").set_class(self.size.width >= WIDE, "-wide")

    # What is asked

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if event.value == self.query_text:
            return
        self.query_text, self._typed_at = event.value, monotonic()
        self._ask()

    def _ask(self) -> None:
        self.is_up_to_date = self._entered_early = False
        self._due.set()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    @work(group="answer")
    async def _answer(self) -> None:
        """Looks for what stands in the field, once at a time: of what was typed meanwhile, for the last alone."""
        while await self._due.wait():
            await self._calm()
            self._due.clear()
            if not self._stands:
                return
            text, explain = self.query_text, self._explain
            slow = self.set_timer(SLOW, lambda: self._tell("looking …"))
            found = await self._controller.find(text, 1, explain=explain)
            slow.stop()
            if self._stands and (text, explain) == (self.query_text, self._explain):
                self._show(found)
                if found.indexed is not None:
                    self.set_timer(AGAIN, self._due.set)

    @property
    def _stands(self) -> bool:
        """False when the screen was left while a thread worked for it."""
        return bool(self.query("#search-help"))

    async def _calm(self) -> None:
        """Until no key was pressed for a moment."""
        left = self._typed_at + CALM - monotonic()
        if left > 0:
            await asyncio.sleep(left)
            await self._calm()

    # What is found

    def _show(self, found: BrowsePage) -> None:
        """The list anew. Where the words are wrong it stands as it was, and what is wrong is said."""
        again, self.is_up_to_date = self.is_up_to_date, True
        unfinished = parse_filters(self.query_text).unfinished
        values = live_search.filter_values(unfinished) if unfinished else ""
        self._note(found.error or values or found.warning, wrong=bool(found.error))
        if found.error:
            self._tell("")
            return
        moved = bool(self.query_one(OptionList).highlighted)  # the best is best again until a person chooses
        chosen = self.selected.key if (again or self._keeps) and moved and self.selected else ""
        self._keeps = False
        self.rows, self.spans = [], []
        self.query_one(OptionList).clear_options()
        self._take(found)
        self._tell(figures(found))
        self._tell_nothing(reading=found.indexed is not None)
        at = next((n for n, row in enumerate(self.rows) if row.key == chosen or row.id == found.anchor), 0)
        self._choose(at if self.rows else None)
        if self._entered_early and self.rows:
            self._go()

    def _take(self, found: BrowsePage) -> None:
        self._next = found.next if found.rows else None
        asked = parse_filters(self.query_text).text
        spans = [row.marks or (spans_of(row.snippet, asked) if asked else []) for row in found.rows]
        width = self._list_width
        self.rows += found.rows
        self.spans += spans
        self.query_one(OptionList).add_options(
            Option(row_text(row, self, span, width)) for row, span in zip(found.rows, spans, strict=True)
        )

    @work(group="more")
    async def _more(self) -> None:
        text, explain, number = self.query_text, self._explain, self._next
        if number is None or self.is_fetching:
            return
        self.is_fetching = True
        found = await self._controller.find(text, number, explain=explain)
        self.is_fetching = False
        if (
            self._stands
            and (text, explain, number) == (self.query_text, self._explain, self._next)
            and self.is_up_to_date
        ):
            self._take(found)

    @property
    def _list_width(self) -> int:
        return self.query_one(OptionList).size.width - 3  # its padding, and the scrollbar

    def _list_again(self) -> None:
        """The rows for another width."""
        listed = self.query_one(OptionList)
        for number, (row, span) in enumerate(zip(self.rows, self.spans, strict=True)):
            listed.replace_option_prompt_at_index(number, row_text(row, self, span, self._list_width))

    def _tell_nothing(self, *, reading: bool) -> None:
        empty = not self.rows
        self.query_one("#search-body").display = not empty
        told = self.query_one("#search-nothing", Static)
        told.display = empty
        told.update(
            Text(visible(INDEXING if reading else live_search.no_results_message(self.query_text))) if empty else ""
        )

    def _tell(self, text: str) -> None:
        self.query_one("#search-found", Static).update(Text(visible(text), no_wrap=True, overflow="ellipsis"))

    def _note(self, text: str, *, wrong: bool = False) -> None:
        note = self.query_one("#search-help", Static)
        note.set_class(wrong, "-wrong")
        note.update(Text(visible(text or HELP)))

    # What is chosen

    @property
    def selected(self) -> "BrowseRow | None":
        at = self.query_one(OptionList).highlighted
        return self.rows[at] if at is not None and at < len(self.rows) else None

    def action_move(self, by: int) -> None:
        at = self.query_one(OptionList).highlighted or 0
        if self.rows:
            self._choose(max(0, min(at + by, len(self.rows) - 1)))

    def _choose(self, at: int | None) -> None:
        self.query_one(OptionList).highlighted = at
        self._preview()
        if at is not None and at >= len(self.rows) - AHEAD:
            self._more()

    def _preview(self) -> None:
        row = self.previewed = self.selected
        near = self.nearby.get(row.key) if row else None
        self._draw(row, near)
        if row and near is None:
            self._look_around(row)

    @work(exclusive=True, group="around")
    async def _look_around(self, row: "BrowseRow") -> None:
        await asyncio.sleep(REST)
        self.nearby[row.key] = near = await self._controller.context(row)
        if self._stands and row is self.selected:
            self._draw(row, near)

    def _draw(self, row: "BrowseRow | None", near: "PassageContext | None") -> None:
        at = self.query_one(OptionList).highlighted
        shown = NO_PREVIEW
        if row and at is not None:
            shown = preview(row, self, self.spans[at], near, explain=self._explain)
        for name, text in zip(("about", "before", "passage", "after"), shown, strict=True):
            part = self.query_one(f"#search-{name}", Static)
            part.display = bool(text.plain)
            part.update(text)
        self.call_after_refresh(self._bring_passage)

    def _bring_passage(self) -> None:
        """The passage into view, and the first of its words that were asked for; or what its score is made of."""
        if not self._stands:
            return
        around, passage = self.query_one("#search-around", VerticalScroll), self.query_one("#search-passage", Static)
        down = lines_to_mark(passage.content, passage.size.width) if isinstance(passage.content, Text) else 0
        top = passage.virtual_region.y + max(down + 1 - around.size.height, 0)
        around.scroll_to(y=0 if self._explain else top, animate=False)

    # Keys

    @on(OptionList.OptionHighlighted)
    def _highlighted(self) -> None:
        if self.selected is not self.previewed:
            self._clicked = True
            self._preview()

    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        """A first click shows the row, a second goes there."""
        if not self._clicked:
            self._go()
        self._clicked = False

    @on(Input.Submitted)
    def _entered(self) -> None:
        if not self.is_up_to_date:
            self._entered_early = True
        else:
            self._go()

    def _go(self) -> None:
        """To the place in the conversation; a note is shown in its file, a page as /recall shows it."""
        row = self.selected
        if row is None:
            return
        if row.kind == "memory":
            from tui.passages.screen import NoteScreen

            host(self).push_screen(NoteScreen(self._memory, row), self._cite)
        elif row.kind in {"page", "knowledge", "archive"}:
            self.action_open()
        elif not self._at_rest():
            self.notify(BUSY, timeout=6, markup=False)
        else:
            self._find_entry(row)

    @work(exclusive=True, group="go")
    async def _find_entry(self, row: "BrowseRow") -> None:
        try:
            entry = await self._controller.entry(row)
        except PalimpsestError as error:
            self.notify(f"{error.message} {error.hint}", title=error.title, severity="warning", markup=False)
            return
        if entry is None:
            self.action_open()
        else:
            self.dismiss(EntryTarget(entry, parse_filters(self.query_text).text))

    def action_open(self) -> None:
        if row := self.selected:
            from tui.passages.screen import PassageScreen

            host(self).push_screen(PassageScreen(self._memory, row, self._pictures), self._cite)

    def action_cite(self) -> None:
        if row := self.selected:
            self.dismiss(row.citation)

    def _cite(self, citation: str | None) -> None:
        if citation:
            self.dismiss(citation)

    def action_explain(self) -> None:
        self._explain, self._keeps = not self._explain, True
        self._ask()

    def action_scroll_around(self, by: int) -> None:
        around = self.query_one("#search-around", VerticalScroll)
        around.scroll_to(y=around.scroll_y + by, animate=False)

    def action_other_side(self) -> None:
        in_list = self.query_one(Input).has_focus and bool(self.rows)
        self.query_one(OptionList if in_list else Input).focus()
        self.query_one("#search-keys", Static).update(KEYS_IN_LIST if in_list else KEYS)

    def action_field(self) -> None:
        if not self.query_one(Input).has_focus:
            self.action_other_side()

    def action_leave(self) -> None:
        self.dismiss(None)
