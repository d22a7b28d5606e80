"""Tree screen: the conversation's turns as a tree under its days, with the chosen turn below."""

from collections.abc import Awaitable, Callable
from typing import ClassVar, Final

from rich.cells import cell_len
from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agent.commands.tree import row_details, row_head
from agent.services.conversation_tree import NOTHING_PRUNED, ConversationTree, TreeRow, TurnNode, counted
from foundation.errors import PalimpsestError
from foundation.terminal_text import visible, visible_line
from tui.typed_app import theme_colour
from tui.widgets.query_input import QueryInput
from tui.widgets.status import clip

KEYS: Final = "Enter goes · b branch · l label · c compare · p prune · h hidden · Esc back"
LABEL_KEYS: Final = "Enter keeps the label, empty removes it · Esc leaves it"

LoadTree = Callable[[], Awaitable[ConversationTree]]
RunCommand = Callable[[str], Awaitable[str]]
"""Runs a command line; gives what it says."""


class TreeScreen(ModalScreen[str | None]):
    """Gives a command line that the chat runs (`/tree go e_…`), or None."""

    CSS_PATH = "../styles/tree.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", "Back", id="tree.leave", show=False, priority=True),
        Binding("up", "move(-1)", "Up", id="tree.up", show=False, priority=True),
        Binding("down", "move(1)", "Down", id="tree.down", show=False, priority=True),
        Binding("pageup", "move(-10)", "Page up", id="tree.page_up", show=False, priority=True),
        Binding("pagedown", "move(10)", "Page down", id="tree.page_down", show=False, priority=True),
        Binding("b", "branch", "Branch here", id="tree.branch", show=False),
        Binding("l", "label", "Label it", id="tree.label", show=False),
        Binding("c", "compare", "Compare two branches", id="tree.compare", show=False),
        Binding("p", "prune", "Take it out of view", id="tree.prune", show=False),
        Binding("h", "hidden", "Show what is out of view", id="tree.hidden", show=False),
        Binding("enter", "go", "Go there", id="tree.go", show=False, priority=True),
    ]

    def __init__(self, load: LoadTree, run: RunCommand) -> None:
        """`run` carries out what changes the tree and keeps it open."""
        super().__init__()
        self._load = load
        self._run = run
        self._tree: ConversationTree | None = None
        self._shows_pruned = False
        self._marked = ""  # the id of the first turn of a comparison
        self.rows: list[TreeRow] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="room"):
            with Horizontal(classes="room-head"):
                yield Static(Text("Tree"), classes="room-title", markup=False)
                yield Static("", id="tree-about", markup=False)
            yield OptionList(id="choices", markup=False, compact=True)
            with VerticalScroll(id="tree-turn", can_focus=False):
                yield Static("", id="tree-text", markup=False)
            yield QueryInput(placeholder="a label for this turn", id="tree-label", compact=True)
            yield Static(KEYS, id="tree-keys", classes="room-keys", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        field = self.query_one("#tree-label", Input)
        field.display, field.cursor_blink = False, False
        self.reload()

    def on_resize(self) -> None:
        if self._tree is not None:
            self._draw(self._chosen_id())

    @work(exclusive=True, group="load")
    async def reload(self, chosen: str = "") -> None:
        """Reads the tree anew; chooses this turn, or the last one."""
        try:
            self._tree = await self._load()
        except PalimpsestError as error:
            self._say(f"{error.title}: {error.message}")
            return
        self._draw(chosen)

    def _draw(self, chosen: str) -> None:
        assert self._tree is not None
        self.rows = self._tree.rows(pruned=self._shows_pruned)
        width = max(self.size.width - 6, 20)  # the room's padding and the scrollbar
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(self._row_text(row, width), disabled=row.turn is None) for row in self.rows])
        turns, hidden = self._tree.turns.values(), sum(turn.is_pruned for turn in self._tree.turns.values())
        about = [counted(len(turns), "turn"), f"{sum(turn.tokens for turn in turns):,} tokens"]
        about += [f"{hidden:,} pruned {'shown' if self._shows_pruned else 'hidden'}"] if hidden else []
        self._say(" · ".join(about))
        self._choose(self._index_of(chosen))

    def _index_of(self, chosen: str) -> int | None:
        """The row of this turn, or of the last turn of the current branch."""
        turns = [(n, row.turn) for n, row in enumerate(self.rows) if row.turn is not None]
        named = next((n for n, turn in turns if turn.id == chosen), None)
        return named if named is not None else next((n for n, turn in turns if turn.is_leaf), None)

    def _row_text(self, row: TreeRow, width: int) -> Text:
        if row.turn is None:
            heading = clip(visible_line(row.heading), width)
            return Text(heading, theme_colour(self, "muted"), no_wrap=True, overflow="ellipsis")
        details = " · ".join(row_details(row.turn))
        head = row_head(row)
        head += "compare with: " * (row.turn.id == self._marked)
        room = max(width - cell_len(head) - cell_len(details) - 2, 8)
        words = clip(visible_line(row.turn.text.strip().split("\n", 1)[0]) or "(no words)", room)
        text = Text(head + words, no_wrap=True, overflow="ellipsis")
        gap = max(width - cell_len(head + words) - cell_len(details), 2)
        return text.append(" " * gap + details, theme_colour(self, "muted"))

    # Selection

    def _choose(self, index: int | None) -> None:
        self.query_one(OptionList).highlighted = index
        turn = self.rows[index].turn if index is not None else None
        self.query_one("#tree-text", Static).update(Text(visible(_turn_text(turn)) if turn else ""))
        self.query_one("#tree-turn", VerticalScroll).scroll_home(animate=False)

    @property
    def chosen(self) -> TurnNode | None:
        index = self.query_one(OptionList).highlighted
        return self.rows[index].turn if index is not None and index < len(self.rows) else None

    def _chosen_id(self) -> str:
        return self.chosen.id if self.chosen else ""

    def action_move(self, by: int) -> None:
        places = [n for n, row in enumerate(self.rows) if row.turn is not None]
        if not places or self._is_labelling:
            return
        at = self.query_one(OptionList).highlighted
        present = places.index(at) if at in places else 0
        self._choose(places[max(0, min(present + by, len(places) - 1))])

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self._choose(event.option_index)

    # Actions

    def action_go(self) -> None:
        """Goes to the turn, or keeps the label that is typed."""
        if self._is_labelling:
            self._keep_label()
        elif self.chosen:
            self.dismiss(f"/tree go {self.chosen.id}")

    def action_branch(self) -> None:
        if self.chosen:
            self.dismiss(f"/branch {self.chosen.id}")

    def action_compare(self) -> None:
        """Marks the first turn; with another one marked, compares both."""
        if (turn := self.chosen) is None:
            return
        if self._marked and self._marked != turn.id:
            self.dismiss(f"/tree compare {self._marked} {turn.id}")
            return
        self._marked = "" if self._marked else turn.id
        self._draw(turn.id)
        if self._marked:
            self._say("choose the other turn, and press c again")

    def action_prune(self) -> None:
        if (turn := self.chosen) is None:
            return
        if turn.is_current:
            self._say(NOTHING_PRUNED)
        else:
            self._change(f"/tree prune {turn.id}", turn.id)

    def action_hidden(self) -> None:
        self._shows_pruned = not self._shows_pruned
        if self._tree is not None:
            self._draw(self._chosen_id())

    @property
    def _is_labelling(self) -> bool:
        return bool(self.query_one("#tree-label", Input).display)

    def action_label(self) -> None:
        if self.chosen is None:
            return
        field = self.query_one("#tree-label", Input)
        field.value, field.display = self.chosen.label, True
        field.focus()
        self.query_one("#tree-keys", Static).update(LABEL_KEYS)

    def _keep_label(self) -> None:
        text, turn = self.query_one("#tree-label", Input).value, self.chosen
        self._end_label()
        if turn is not None:
            self._change(f"/tree label {turn.id} {text}", turn.id)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    def _end_label(self) -> None:
        field = self.query_one("#tree-label", Input)
        field.display = False
        self.set_focus(None)
        self.query_one("#tree-keys", Static).update(KEYS)

    @work(exclusive=True, group="change")
    async def _change(self, line: str, chosen: str) -> None:
        said = await self._run(line)
        self.reload(chosen)
        self.notify(visible_line(said), timeout=4, markup=False)

    def _say(self, text: str) -> None:
        self.query_one("#tree-about", Static).update(Text(visible_line(text), no_wrap=True, overflow="ellipsis"))

    def action_leave(self) -> None:
        if self._is_labelling:
            self._end_label()
        else:
            self.dismiss(None)


def _turn_text(turn: TurnNode) -> str:
    """The chosen turn: when, what it took, its files, what was said, and the summary that ends with it."""
    about = [
        f"{turn.time.astimezone():%Y-%m-%d %H:%M}",
        f"{turn.entries:,} {'entry' if turn.entries == 1 else 'entries'}",
    ]
    files = f"\nfiles: {', '.join(map(visible_line, turn.files))}" if turn.files else ""
    summary = f"\nsummary: {visible(turn.summary)}" if turn.summary else ""
    return f"{' · '.join([*about, *row_details(turn), turn.id])}{files}\n{visible(turn.text).expandtabs(4)}{summary}"
