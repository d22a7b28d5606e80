"""The real program in a real terminal, with the real memory and no model."""

import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.screen,
    pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's"),
    pytest.mark.timeout(60),
]

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

SOAK = pytest.mark.soak
BIN = Path(sys.executable).parent

Start = Callable[..., "Terminal"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[Terminal] = []

    def started(*arguments: str, **environment: str) -> Terminal:
        running.append(Terminal("--workspace", str(tmp_path / "notes"), *arguments, **environment))
        return running[-1]

    yield started
    for each in running:
        each.close()


def ready(terminal: "Terminal") -> None:
    """Until the status bar, which is drawn last, says that nothing is being opened any more."""
    terminal.until(lambda text: text.rstrip().rpartition("\n")[2].strip() == "offline")


def test_the_first_run_is_a_welcome(start: Start) -> None:
    terminal = start()
    ready(terminal)
    assert "a chat and coding agent that remembers" in terminal.text
    assert "F1 keys" in terminal.text


def test_a_window_of_another_size_is_filled_where_the_environment_holds_an_old_size(start: Start) -> None:
    terminal = start(COLUMNS="80", LINES="24")
    ready(terminal)
    terminal.resize(100, 30)
    terminal.until(lambda text: "offline" in text.split("\n")[29])


PROGRAMS = [(sys.executable, "-m", "tui.main"), (str(BIN / "palimpsest"),), ("palimpsest",), ("pal",)]


@pytest.mark.parametrize("program", PROGRAMS[:3])
def test_the_command_shown_at_the_end_is_the_one_that_was_typed(
    tmp_path: Path, program: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert resumable(tmp_path, program, monkeypatch)


@pytest.mark.parametrize("program", [pytest.param(each, marks=SOAK if each != ("pal",) else []) for each in PROGRAMS])
def test_the_command_shown_at_the_end_takes_the_conversation_up_again(
    tmp_path: Path, program: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    again = Terminal(program=resumable(tmp_path, program, monkeypatch), columns=200)
    again.until(lambda text: "❯ The boiler is serviced in May." in text)
    again.close()


def resumable(tmp_path: Path, program: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Starts the program, says something in it and ends it; the words of the command that it shows at its end."""
    monkeypatch.delenv("PALIMPSEST_COMMAND")
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}" if os.sep not in program[0] else "/usr/bin:/bin"
    monkeypatch.setenv("PATH", path)
    terminal = Terminal("--workspace", str(tmp_path / "my notes"), program=program, columns=200)
    ready(terminal)
    terminal.type("The boiler is serviced in May.\r")
    terminal.until(lambda text: "◆" in text)
    terminal.type("\x04")
    assert terminal.ended() == 0
    shown = terminal.bytes.decode().rpartition("Continue it with: ")[2].splitlines()[0]
    words = shlex.split(shown)
    assert tuple(words[: len(program)]) == program
    assert words[len(program) : -1] == ["--workspace", str(tmp_path / "my notes"), "-r"]
    return words


def test_a_second_window_leaves_the_first_its_draft_until_the_first_is_killed(start: Start, tmp_path: Path) -> None:
    drafts = tmp_path / "notes" / ".palimpsest" / "drafts"
    first = start()
    ready(first)
    first.type("The boiler is serviced in May.\r")
    first.until(lambda text: "◆" in text)
    first.type("half a thought")
    first.until(lambda _: any("half a thought" in path.read_text() for path in drafts.glob("*.md")))
    second = start("-c")
    second.until(lambda text: "❯ The boiler" in text)
    ready(second)
    second.type("quite another")
    second.until(lambda text: "❯ quite another" in text)
    second.until(lambda _: len(list(drafts.glob("*.md"))) == 2)
    os.kill(first.pid, signal.SIGKILL)
    first.ended()
    start("-c").until(lambda text: "❯ half a thought" in text)


@pytest.mark.parametrize(
    ("keys", "title"),
    [("\x1bOR", "Search"), ("\x10", "Palette"), ("\x1bOP", "Keys and commands"), ("\x06", "")],
    ids=["F3", "Ctrl+P", "F1", "Ctrl+F"],
)
def test_keys_that_come_with_the_key_of_a_screen_go_to_that_screen(start: Start, keys: str, title: str) -> None:
    terminal = start()
    ready(terminal)
    terminal.type(f"{keys}zorkwind")
    text = terminal.until(lambda text: "zorkwind" in text)
    assert title in text
    assert "❯ zorkwind" not in text


def test_no_color_is_no_colour_at_all_and_the_cursor_is_seen(start: Start) -> None:
    terminal = start(NO_COLOR="1")
    ready(terminal)
    codes = {code for style in re.findall(rb"\x1b\[([0-9;]*)m", terminal.bytes) for code in style.split(b";")}
    assert b"7" in codes  # the cursor
    assert codes <= {b"", b"0", b"1", b"2", b"3", b"4", b"7", b"9", b"39", b"49"}


def test_without_colours_the_chosen_row_is_seen(start: Start) -> None:
    terminal = start(NO_COLOR="1")
    ready(terminal)
    terminal.type("\x10")
    terminal.until(lambda text: "Palette" in text)
    terminal.until(lambda _: re.search(rb"\x1b\[[\d;]*;4[;m]", terminal.bytes) is not None)  # underlined


def test_it_fits_a_small_terminal(start: Start, tmp_path: Path) -> None:
    terminal = start()
    ready(terminal)
    terminal.type("/")
    text = terminal.until(lambda text: "/help" in text and "/resume" in text)
    assert max(map(len, text.splitlines())) <= 80
    terminal.type("\x1b")
    terminal.until(lambda text: "List the commands" not in text)
