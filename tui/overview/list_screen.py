"""Base of the screens that list what the program knows: rows with figures and bars, and the chosen row in full."""

from typing import ClassVar, Final

from msgspec import Struct
from rich.cells import cell_len
from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ScreenResultType
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from foundation.errors import PalimpsestError
from foundation.terminal_text import visible, visible_line
from tui.overview.bars import bar_with_tick
from tui.themes.themed_screen import ThemedScreen
from tui.typed_app import theme_colour
from tui.widgets.status import clip

WIDE_COLUMNS: Final = 120  # from here on the chosen row is shown beside the list
_FRAME_COLUMNS: Final = 9  # the padding of the screen and of the rows, and the scrollbar
_MAX_BAR: Final = 30  # cells
_MIN_LABEL: Final = 14  # cells


class ListRow(Struct, frozen=True, kw_only=True):
    """A row of the list. One without an `id` is a heading. `share`, 0 to 1, is drawn as a bar before the `figure`,
    with a tick at the share `tick` where there is one."""

    label: str
    id: str = ""
    figure: str = ""
    share: float | None = None
    tick: float = 0.0
    detail: str = ""
    is_warning: bool = False


class ListContents(Struct, frozen=True):
    """The rows, and a sentence about all of them. `empty` says what to do where there are none."""

    rows: tuple[ListRow, ...]
    about: str = ""
    empty: str = ""


class ListScreen(ThemedScreen[ScreenResultType]):
    """Shows what `read` gives. A subclass says what Enter does with a row."""

    CSS_PATH = "../styles/overview.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,ctrl+c", "leave", "Back", id="list.leave", show=False),
        Binding("up,k", "move(-1)", "Up", id="list.up", show=False),
        Binding("down,j", "move(1)", "Down", id="list.down", show=False),
        Binding("pageup,b", "move(-10)", "Page up", id="list.page_up", show=False),
        Binding("pagedown,space", "move(10)", "Page down", id="list.page_down", show=False),
        Binding("home,g", "to_end(False)", "First row", id="list.first", show=False),
        Binding("end,G", "to_end(True)", "Last row", id="list.last", show=False),
        Binding("enter", "open", "Open the row", id="list.open", show=False),
    ]
    heading: ClassVar[str] = ""
    keys: ClassVar[str] = "↑ ↓ choose · Enter opens · Esc back"

    def __init__(self) -> None:
        super().__init__()
        self.contents = ListContents(())
        self.is_read = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="room"):
            with Horizontal(classes="room-head"):
                yield Static(visible(self.heading), classes="room-title", markup=False)
                yield Static("reading …", id="list-about", markup=False)
            yield from self.compose_above()
            with Horizontal(id="list-body"):
                yield OptionList(id="choices", markup=False, compact=True)
                with VerticalScroll(id="list-detail", can_focus=False):
                    yield Static("", id="list-detail-text", markup=False)
            yield Static("", id="list-note", markup=False)
            yield Static(visible(self.keys), id="list-keys", classes="room-keys", markup=False)

    def compose_above(self) -> ComposeResult:
        """Widgets between the title and the list."""
        yield from ()

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self.query_one("#list-note").display = False
        self.call_after_refresh(self.reload)  # what is inside the containers is mounted then

    async def read(self) -> ListContents:
        """What is listed. Raises PalimpsestError."""
        raise NotImplementedError

    async def open_row(self, row: ListRow) -> None:
        """Opens the chosen row."""

    def show_detail(self, row: ListRow | None) -> None:
        """Shows the chosen row in full."""
        self.set_detail(row.detail if row else "")

    @work(exclusive=True, group="read")
    async def reload(self) -> None:
        """Reads the rows again; the chosen one stays chosen."""
        chosen = self.chosen
        try:
            self.contents = await self.read()
        except PalimpsestError as error:
            self.query_one("#list-about", Static).update("it cannot be shown")
            self.say(f"{error.message} {error.hint}".strip(), wrong=True)
            return
        self.is_read = True
        self.draw(chosen.id if chosen else "")

    @property
    def chosen(self) -> ListRow | None:
        """The row that is gone to."""
        if not self.contents.rows:
            return None
        index = self.query_one(OptionList).highlighted
        return self.contents.rows[index] if index is not None and index < len(self.contents.rows) else None

    def draw(self, chosen: str = "") -> None:
        """Draws all rows for the present width."""
        self.query_one("#list-body").set_class(self.size.width >= WIDE_COLUMNS, "-wide")
        rows = self.contents.rows
        self.query_one("#list-about", Static).update(Text(visible_line(self.contents.about), end=""))
        width = self.size.width - _FRAME_COLUMNS
        width = max(width * 3 // 5 - 4 if self.size.width >= WIDE_COLUMNS else width, 20)
        figures = max((cell_len(row.figure) for row in rows), default=0)
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(self._row_text(row, width, figures), disabled=not row.id) for row in rows])
        ids = [row.id for row in rows]
        first = next((number for number, id_ in enumerate(ids) if id_), None)
        options.highlighted = ids.index(chosen) if chosen and chosen in ids else first
        if options.highlighted == first:
            options.scroll_home(animate=False)  # with the heading above it
        if not rows and self.is_read:
            self.set_detail(self.contents.empty)
        else:
            self.call_after_refresh(self._highlighted)  # its pane has its size then

    def _row_text(self, row: ListRow, width: int, figures: int) -> Text:
        if not row.id:
            return Text(clip(visible_line(row.label), width), f"bold {theme_colour(self, 'accent-ink')}", end="")
        if row.share is None and not row.figure:
            tone = theme_colour(self, "warning-ink") if row.is_warning else ""
            return Text(f"  {clip(visible_line(row.label), width - 2)}", tone, end="")
        has_bars = any(each.share is not None for each in self.contents.rows)
        bar_cells = max(min(width - figures - width // 2 - 4, _MAX_BAR), 0) if has_bars else 0
        label_cells = max(width - figures - bar_cells - 4, _MIN_LABEL)
        has_bar = row.share is not None
        label = Text(visible_line(row.label), theme_colour(self, "warning-ink") if row.is_warning else "", end="")
        label.truncate(label_cells - has_bar, overflow="ellipsis", pad=True)
        label.append(" " * has_bar)  # a long label does not touch the bar
        text = Text("  ", no_wrap=True, overflow="ellipsis", end="").append_text(label)
        filled = bar_with_tick(row.share, row.tick, bar_cells) if row.share is not None else ""
        text.append(filled, theme_colour(self, "accent-ink")).append(" " * (bar_cells - cell_len(filled)))
        return text.append(f"  {visible(row.figure).rjust(figures)}", theme_colour(self, "muted"))

    def set_detail(self, text: str | Text) -> None:
        """Shows this text as the chosen row in full."""
        shown = text if isinstance(text, Text) else Text(visible(text), end="")
        self.query_one("#list-detail-text", Static).update(shown)
        self.query_one("#list-detail", VerticalScroll).scroll_home(animate=False)

    def say(self, sentence: str, *, wrong: bool = False) -> None:
        """Shows a sentence above the keys; "" takes it away."""
        note = self.query_one("#list-note", Static)
        note.display = bool(sentence)
        note.set_class(wrong, "-wrong")
        note.update(Text(visible(sentence), end=""))

    @on(OptionList.OptionHighlighted)
    def _highlighted(self) -> None:
        self.show_detail(self.chosen)

    @on(OptionList.OptionSelected)
    def _clicked(self) -> None:
        self.action_open()

    def on_resize(self) -> None:
        self.draw_colours()

    def draw_colours(self) -> None:
        if self.is_read:
            self.draw(self.chosen.id if self.chosen else "")

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    def action_move(self, by: int) -> None:
        places = [number for number, row in enumerate(self.contents.rows) if row.id]
        options = self.query_one(OptionList)
        if not places:
            return
        at = places.index(options.highlighted) if options.highlighted in places else 0
        options.highlighted = places[max(0, min(at + by, len(places) - 1))]
        if options.highlighted == places[0]:
            options.scroll_home(animate=False)

    def action_to_end(self, last: bool) -> None:
        self.action_move(len(self.contents.rows) * (1 if last else -1))

    def action_leave(self) -> None:
        self.dismiss(None)

    @work(exclusive=True, group="open")
    async def action_open(self) -> None:
        if (row := self.chosen) is not None:
            try:
                await self.open_row(row)
            except PalimpsestError as error:
                self.say(f"{error.message} {error.hint}".strip(), wrong=True)
