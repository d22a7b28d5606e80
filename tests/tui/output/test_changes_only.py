"""Output of changed cells only: the terminal always shows what it would show after whole repaints."""

import random
from collections.abc import Callable
from typing import Any, cast

import pyte
import pytest
from rich.style import Style
from rich.text import Text
from textual._compositor import CompositorUpdate, LayoutUpdate
from textual.app import App, ComposeResult
from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static, TextArea

from tests.tui.emulator import Emulator, cells
from tui.output.terminal_grid import TerminalGrid
from tui.widgets.transcript.items import MutedLine, UserItem
from tui.widgets.transcript.view import Transcript

WORDS = (
    *(
        "plain",
        "words",
        "of",
        "a",
        "line",
        "`code`",
        "**bold**",
        "记忆",
        "页面",
        "上下文",
        "日本語",
        "한국어",
        "é",
        "e\u0301",
    ),
    *("🙂", "👩‍👩‍👧", "❤️", "1️⃣", "🇩🇪", "✅", "⏰", "\u200b", "a\u200db", "ﷺ", "─", "◆", "ÅÄÖ", "x" * 130),
)
CODE = "\n\n```python\ndef read(page: str) -> int:\n    return len(page)  # a comment\n```\n\n"
BLOCKS = ("", "# ", "- ", "> ", "```text\n", "| a | b |\n|---|---|\n| ")


def assert_same(changed: Emulator, plain: Emulator) -> None:
    """Where Textual cuts a wide character at the edge of an update, it draws blanks until the next one: only there may
    the screens differ, and the other holds the character.
    """
    for y, (found, wanted) in enumerate(zip(cells(changed), cells(plain), strict=True)):
        for x in range(changed.columns):
            if found[x] != wanted[x]:
                wide = found[x][0] == "" or found[min(x + 1, changed.columns - 1)][0] == ""
                assert wide and wanted[x] == (" ", *found[x][1:]), f"column {x} of row {y}: {found[x]}, {wanted[x]}"


class BothTerminals(App[None]):
    """Draws each frame twice: as Textual writes it, and as the grid does."""

    CSS = "Transcript {height: 1fr; scrollbar-size-vertical: 1} #side {dock: right; width: 12} TextArea {height: 4}"

    def __init__(self, grid: TerminalGrid) -> None:
        super().__init__()
        self.grid = grid
        self.plain = self.changed = Emulator(1, 1)
        self.frames = self.plain_bytes = self.changed_bytes = 0

    def compose(self) -> ComposeResult:
        yield Transcript()
        yield Static("beside", id="side", markup=False)
        yield TextArea()

    def resize_terminals(self, size: Size) -> None:
        """Both terminals are new, and empty."""
        self.plain, self.changed = (Emulator(size.width, size.height) for _ in range(2))

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        if isinstance(renderable, LayoutUpdate) and renderable.region.size != (self.plain.columns, self.plain.lines):
            self.resize_terminals(renderable.region.size)
        if isinstance(renderable, CompositorUpdate):
            whole = renderable.render_segments(self.console)
            part = self.grid.changes(renderable).render_segments(self.console)
            pyte.Stream(self.plain).feed(whole)
            pyte.Stream(self.changed).feed(part)
            self.frames += 1
            self.plain_bytes += len(whole.encode())
            self.changed_bytes += len(part.encode())
            assert_same(self.changed, self.plain)
        super()._display(screen, cast("Any", renderable))  # pyright: ignore[reportUnknownMemberType] - Textual leaves its parameter open


class Script:
    """A person, a model and a terminal that do things at random."""

    def __init__(self, app: BothTerminals, pilot: Pilot[None], seed: int) -> None:
        self.app, self.pilot = app, pilot
        self.dice = random.Random(seed)
        self.view = app.query_one(Transcript)

    async def run(self, steps: int) -> None:
        actions: list[Callable[[], Any]] = [self.stream, self.stream, self.stream, self.scroll, self.type, self.add]
        actions += [self.insert, self.notify, self.side, self.resize, self.restyle, self.forget]
        for _ in range(steps):
            result = self.dice.choice(actions)()
            if result is not None:
                await result
            await self.pilot.pause()

    def words(self, count: int) -> str:
        return " ".join(self.dice.choices(WORDS, k=self.dice.randint(1, count)))

    def stream(self) -> None:
        for _ in range(self.dice.randint(1, 4)):
            end = self.dice.choice(("", " ", "\n", "\n\n", "\n```\n\n"))
            words = self.dice.choice(BLOCKS) + self.words(30)
            self.view.feed(self.dice.choice((words, words, words, CODE)) + end)
            self.view.advance()

    def scroll(self) -> None:
        by = self.dice.choice((-60, -10, -3, -1, 1, 3, 10))
        self.view.scroll_to(y=self.view.scroll_y + by, animate=False)

    def type(self) -> Any:
        return self.pilot.press(*self.dice.choices(("a", "w", "enter", "backspace", "left", "页", "🙂"), k=3))

    def add(self) -> None:
        self.view.add(UserItem(self.words(20)), MutedLine(self.words(5), gap=True))

    def insert(self) -> None:
        self.view.insert_older([MutedLine(self.words(9)) for _ in range(3)])

    def notify(self) -> None:
        if self.dice.random() < 0.5:
            self.app.notify(self.words(4), timeout=60, markup=False)
        else:
            self.app.clear_notifications()

    def side(self) -> None:
        lines = Text(self.words(20), Style(color=self.dice.choice(("red", "blue")), bold=self.dice.random() < 0.5))
        self.app.query_one("#side", Static).update(lines)

    def resize(self) -> Any:
        if self.dice.random() < 0.3:
            return self.pilot.resize_terminal(self.dice.choice((20, 79, 120)), self.dice.choice((8, 24, 40)))
        return None

    def restyle(self) -> None:
        if self.dice.random() < 0.3:
            self.app.theme = self.dice.choice(("nord", "textual-light", "dracula"))

    def forget(self) -> None:
        if self.dice.random() < 0.3:
            self.app.grid.forget()
            self.app.screen.refresh()


async def run_script(grid: TerminalGrid, seed: int, steps: int) -> BothTerminals:
    app = BothTerminals(grid)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        await Script(app, pilot, seed).run(steps)
    return app


@pytest.mark.parametrize("seed", range(6))
async def test_every_frame_shows_the_cells_of_a_whole_repaint(seed: int) -> None:
    app = await run_script(TerminalGrid(erases_in_colour=seed % 2 == 0), seed, 40)
    assert app.frames > 10
    assert app.changed_bytes < app.plain_bytes / 2


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 200))
async def test_long_scripts_show_the_cells_of_a_whole_repaint(seed: int) -> None:
    await run_script(TerminalGrid(erases_in_colour=seed % 2 == 0), seed, 150)


class WithoutColourErase(Emulator):
    """A terminal whose erased cells get its own background."""

    def erase_characters(self, count: int | None = None) -> None:
        pen, self.cursor.attrs = self.cursor.attrs, self.default_char
        super().erase_characters(count)
        self.cursor.attrs = pen

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        pen, self.cursor.attrs = self.cursor.attrs, self.default_char
        super().erase_in_line(how, private)
        self.cursor.attrs = pen


@pytest.mark.parametrize("believed", [False, True])
async def test_a_terminal_that_erases_in_its_own_colour_is_sent_spaces(
    monkeypatch: pytest.MonkeyPatch, believed: bool
) -> None:
    monkeypatch.setattr("tests.tui.output.test_changes_only.Emulator", WithoutColourErase)
    if not believed:
        await run_script(TerminalGrid(), 7, 15)
        return
    with pytest.raises(AssertionError, match="column"):
        await run_script(TerminalGrid(erases_in_colour=True), 7, 15)
