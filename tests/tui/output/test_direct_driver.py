"""Keys and output without Textual's threads, in a real pty: nothing is lost and the order is kept."""

import re
import sys
from typing import TYPE_CHECKING, Any

import pytest
from textual.app import ComposeResult
from textual.widgets import Static, TextArea

from tests.tui.headless import draw_every_frame
from tui.output.app import ChangesOnlyApp

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Textual's threads do it")

if TYPE_CHECKING or sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

PROGRAM = """
import threading
from textual.app import App
from textual.widgets import Static
from tui.output.direct_driver import direct_driver

class Shown(App):
    def get_driver_class(self):
        return direct_driver(super().get_driver_class())
    def compose(self):
        yield Static("ready", markup=False)
    def on_key(self, event):
        if event.key == "w":
            for number in range(300):
                self._driver.write(f"<{number}>" + "." * (3_000 if number % 7 == 0 else 3))
        elif event.key == "s":
            with self.suspend():
                print("suspended", flush=True)
        names = [thread.name for thread in threading.enumerate()]
        self.query_one(Static).update(f"key {event.key}, input thread: {'textual-input' in names}")

Shown().run()
"""


@pytest.fixture
def terminal() -> "Terminal":
    terminal = Terminal(program=(sys.executable, "-c", PROGRAM))
    terminal.until(lambda text: "ready" in text)
    return terminal


def test_short_output_does_not_overtake_long_output(terminal: "Terminal") -> None:
    terminal.type("w")
    terminal.until(lambda _: b"<299>" in terminal.bytes)
    terminal.close()
    assert [int(number) for number in re.findall(rb"<(\d+)>", terminal.bytes)] == [*range(300)]


def test_keys_come_without_a_thread_and_an_escape_alone_is_a_key(terminal: "Terminal") -> None:
    terminal.type("ö")
    terminal.until(lambda text: "input thread: False" in text)
    terminal.type("\x1b")
    terminal.until(lambda text: "key escape" in text)
    terminal.close()


def test_keys_are_read_again_after_the_terminal_was_lent(terminal: "Terminal") -> None:
    terminal.type("s")
    terminal.until(lambda text: "key s" in text)
    terminal.type("b")
    terminal.until(lambda text: "key b" in text)
    terminal.close()


class Drawn(ChangesOnlyApp):
    """Counts the frames."""

    frames = 0

    def compose(self) -> ComposeResult:
        yield Static("beside", markup=False)
        yield TextArea()

    def _display(self, screen: Any, renderable: Any) -> None:
        self.frames += 1
        super()._display(screen, renderable)


async def test_a_letter_is_drawn_at_once_and_what_else_changed_in_the_next_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw_every_frame(monkeypatch)
    app = Drawn()
    async with app.run_test() as pilot:
        area, beside = app.query_one(TextArea), app.query_one(Static)
        await pilot.pause(0.1)
        waiting = app.screen._dirty_widgets  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - Textual has no public one
        waiting.add(beside)
        frames = app.frames
        area.insert("y")
        app.draw_ahead(area)
        assert app.frames == frames + 1
        assert beside in waiting, "it is drawn by the next frame"
        area.insert("z")
        app.draw_ahead(area)
        assert app.frames == frames + 1, "what comes at once again waits for the next frame"
