"""What is written when rows change, and when everything is written again."""

import subprocess
import sys

import pytest
from rich.console import Console
from rich.segment import ControlType, Segment
from rich.style import Style
from textual import events
from textual._compositor import LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from tui.output.app import ChangesOnlyApp, can_move_cursor
from tui.output.moved_lines import Scroll, find_scroll
from tui.output.terminal_grid import TerminalGrid

CONSOLE = Console(color_system="truecolor", force_terminal=True)
WIDTH = 40


def screen(*lines: str) -> LayoutUpdate:
    strips = [Strip([Segment(line, Style(color="red"))]).adjust_cell_length(WIDTH) for line in lines]
    return LayoutUpdate([[strip] for strip in strips], Region(0, 0, WIDTH, len(lines)))


def written(grid: TerminalGrid, *lines: str) -> str:
    return grid.changes(screen(*lines)).render_segments(CONSOLE)


def test_an_equal_frame_writes_nothing() -> None:
    grid = TerminalGrid()
    assert "the first line" in written(grid, "the first line", "the second")
    assert written(grid, "the first line", "the second") == ""


def test_only_the_changed_cells_are_written() -> None:
    grid = TerminalGrid()
    written(grid, "the first line", "the second")
    assert written(grid, "the first line", "the second one") == "\x1b[2;11H\x1b[31m one\x1b[39m"


def filled(*lines: str, ground: str = "blue", underlined: bool = False) -> LayoutUpdate:
    style = Style(bgcolor=ground or None, underline=underlined)
    strips = [Strip([Segment(line.ljust(WIDTH), style)]) for line in lines]
    return LayoutUpdate([[strip] for strip in strips], Region(0, 0, WIDTH, len(lines)))


def test_blanks_are_erased_where_that_is_shorter_and_looks_the_same() -> None:
    drawn = f"left{' ' * 20}right"
    erased = "\x1b[1;1H\x1b[44mleft\x1b[20X\x1b[20Cright\x1b[K\x1b[49m"
    assert TerminalGrid(erases_in_colour=True).changes(filled(drawn)).render_segments(CONSOLE) == erased
    spaces = f"\x1b[1;1H\x1b[44m{drawn.ljust(WIDTH)}\x1b[49m"
    assert TerminalGrid().changes(filled(drawn)).render_segments(CONSOLE) == spaces
    plain = TerminalGrid().changes(filled(drawn, ground="")).render_segments(CONSOLE)
    assert plain == "\x1b[1;1Hleft\x1b[20X\x1b[20Cright\x1b[K", "the terminal's own background is in each of them"
    lined = TerminalGrid(erases_in_colour=True).changes(filled(drawn, underlined=True)).render_segments(CONSOLE)
    assert "\x1b[20X" not in lined


def test_few_blanks_and_those_before_other_cells_of_the_terminal_are_written() -> None:
    grid = TerminalGrid(erases_in_colour=True)
    grid.changes(filled(f"a{'x' * 12}b")).render_segments(CONSOLE)
    shorter = grid.changes(filled(f"a{' ' * 12}b")).render_segments(CONSOLE)
    assert shorter == "\x1b[1;2H\x1b[44m\x1b[12X\x1b[49m", "what stands behind them is left alone"
    grid.changes(filled("axxxb")).render_segments(CONSOLE)
    assert "a   b" not in grid.changes(filled("a   b")).render_segments(CONSOLE)


@pytest.mark.parametrize(
    ("terminal", "does"),
    [
        ("xterm-256color", True),
        ("linux", True),
        ("vt100", False),
        ("screen", False),
        ("no such terminal", False),
        ("", False),
    ],
)
def test_terminfo_says_which_terminals_erase_in_colour(terminal: str, does: bool) -> None:
    code = f"from tui.output.blanks import erases_in_colour; print(erases_in_colour({terminal!r}))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == str(does)


def test_a_row_whose_width_terminals_disagree_on_is_written_whole() -> None:
    grid = TerminalGrid()
    written(grid, "done ✅ with it", "the second")
    assert "done ✅ with all" in written(grid, "done ✅ with all", "the second")
    assert "done    with all" in written(grid, "done    with all", "the second")


def test_lines_that_moved_are_scrolled() -> None:
    grid = TerminalGrid()
    lines = [f"line number {number}" for number in range(8)]
    written(grid, *lines, "status")
    up = written(grid, *lines[2:], "new one", "new two", "status")
    assert up.startswith("\x1b[1;8r\x1b[8;1H\n\n\x1b[r")
    assert "new one" in up
    assert "line" not in up
    down = written(grid, *lines, "status")
    assert down.startswith("\x1b[1;8r\x1b[1;1H\x1bM\x1bM\x1b[r")
    assert "line number 2" not in down


def test_no_scroll_moves_a_row_that_is_not_known() -> None:
    shown = ["line one", "", "line two", "line three"]
    moved = {0: "line two", 1: "line three", 2: "what is new", 3: "newer still"}
    assert find_scroll(shown, moved) is None
    assert find_scroll(["line one", "other", *shown[2:]], moved) == Scroll(0, 3, 2)


def test_a_forgotten_screen_is_written_whole() -> None:
    grid = TerminalGrid()
    written(grid, "the first line", "the second")
    grid.forget()
    assert "the first line" in written(grid, "the first line", "the second")


def test_pixels_are_written_as_textual_writes_them_and_so_is_what_follows() -> None:
    grid = TerminalGrid()
    written(grid, "the first line", "the second")
    update = screen("the first line", "the second")
    update.strips[0] = [Strip([Segment("\x1bPq#\x1b\\", None, [(ControlType.BELL,)])], WIDTH)]
    assert grid.changes(update).render_segments(CONSOLE) == update.render_segments(CONSOLE)
    assert "the first line" in written(grid, "the first line", "the second")


@pytest.mark.parametrize(
    ("platform", "terminal", "can"),
    [("linux", "xterm-256color", True), ("darwin", "tmux", True), ("win32", "xterm", False), ("linux", "dumb", False)],
)
def test_only_terminals_that_can_are_sent_changes(platform: str, terminal: str, can: bool) -> None:
    assert can_move_cursor({"TERM": terminal}, platform) is can


async def test_everything_is_drawn_again_where_the_terminal_may_show_something_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    app = ChangesOnlyApp()
    async with app.run_test() as pilot:
        forgotten: list[str] = []
        assert app.output_grid is not None
        monkeypatch.setattr(app.output_grid, "forget", lambda: forgotten.append("all"))
        for number, cause in enumerate((events.AppFocus(), events.Resize(app.size, app.size)), start=1):
            app.post_message(cause)
            await pilot.pause()
            assert len(forgotten) == number
        await pilot.press("ctrl+l")
        assert len(forgotten) == 3
        app.app_resume_signal.publish(app)  # pyright: ignore[reportUnknownMemberType] - Textual leaves its parameter open
        await pilot.pause()
        assert len(forgotten) == 4
        await pilot.resize_terminal(60, 20)
        assert len(forgotten) == 5
