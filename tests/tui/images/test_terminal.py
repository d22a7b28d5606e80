"""The real program draws pages in a real terminal, asks it nothing, and leaves no byte in the prompt."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.memory import Memory

pytestmark = [
    pytest.mark.screen,
    pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's"),
    pytest.mark.timeout(60),
]

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

Start = Callable[..., "Terminal"]
QUESTIONS = (b"\x1b[c", b"\x1b[0c", b"\x1b[16t", b"\x1b[14t", b"a=q")
ELSEWHERE = {"TMUX": "", "STY": "", "ZELLIJ": "", "KITTY_WINDOW_ID": "", "KONSOLE_VERSION": "", "TERM_PROGRAM": ""}


@pytest.fixture
def page(tmp_path: Path) -> str:
    """The id of an archived page in the workspace."""
    root = tmp_path / "notes"
    root.mkdir()
    memory = Memory.open(Workspace(root), SystemClock())
    try:
        return (
            memory.vault.archive_text(as_given("The boiler is serviced in May. 锅炉 " * 40), label="Letter").pages[0].id
        )
    finally:
        memory.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[Terminal] = []

    def started(**environment: str) -> Terminal:
        running.append(Terminal("--workspace", str(tmp_path / "notes"), **{**ELSEWHERE, **environment}))
        running[-1].until(lambda text: text.rstrip().rpartition("\n")[2].strip() == "offline")
        return running[-1]

    yield started
    for each in running:
        each.close()


def shown(terminal: "Terminal", page: str, until: Callable[[bytes], bool]) -> bytes:
    """Goes to the page's picture and back into the prompt; gives what was written for it."""
    terminal.type(f"/recall {page}\r")
    terminal.until(lambda text: "read from its pixels" in text)
    before = len(terminal.bytes)
    terminal.type("p")
    terminal.until(lambda _: until(terminal.bytes[before:]))
    written = terminal.bytes[before:]
    for _ in range(3):
        terminal.type("\x1b")
        terminal.settle(0.3)
    terminal.type("tea at four")
    terminal.until(lambda text: "tea at four" in text)
    return written


def prompt(terminal: "Terminal") -> str:
    (line,) = (line for line in terminal.text.splitlines() if line.startswith("❯"))
    return line.strip()


def test_any_terminal_gets_half_blocks_and_no_question(start: Start, page: str) -> None:
    terminal = start()
    written = shown(terminal, page, lambda came: came.count("▀".encode()) > 20)
    assert not [question for question in QUESTIONS if question in written]
    assert b"\x1b_" not in written
    assert b"\x1bP" not in written
    assert prompt(terminal) == "❯ tea at four"


def test_kitty_gets_its_own_pictures_whole_and_asked_not_to_answer(start: Start, page: str) -> None:
    terminal = start(TERM="xterm-kitty")
    written = shown(terminal, page, lambda came: "\U0010eeee".encode() in came)
    commands = re.findall(rb"\x1b_G([^;\x1b]*);?([A-Za-z0-9+/=]*)\x1b\\", written)
    drawn = b"".join(payload for control, payload in commands if b"f=100" in control)
    assert drawn.startswith(b"iVBORw0KGgo")  # a PNG
    assert all(b"q=2" in control for control, _ in commands)
    assert not [question for question in QUESTIONS if question in written]
    assert prompt(terminal).endswith("tea at four")
    after = terminal.bytes.rpartition(b"a=d")
    assert after[1]  # and let go again


def test_sixel_is_drawn_where_it_is_asked_for(start: Start, page: str) -> None:
    terminal = start(PALIMPSEST_SCREEN_PICTURES="sixel")
    written = shown(terminal, page, lambda came: b"\x1bP" in came and b"\x1b\\" in came.partition(b"\x1bP")[2])
    assert not [question for question in QUESTIONS if question in written]


def test_within_tmux_no_pixels_pass(start: Start, page: str) -> None:
    terminal = start(TMUX="/tmp/tmux-0/default,1,0", TERM="xterm-kitty")
    written = shown(terminal, page, lambda came: came.count("▀".encode()) > 20)
    assert b"\x1b_" not in written
    assert prompt(terminal) == "❯ tea at four"


def test_pictures_that_are_off_leave_the_viewer(start: Start, page: str) -> None:
    terminal = start(PALIMPSEST_SCREEN_PICTURES="off")
    terminal.type(f"/recall {page}\r")
    terminal.until(lambda text: "read from its pixels" in text)
    terminal.type("p")
    terminal.until(lambda text: "Pictures are off" in text)
