"""What people complain of in terminal chats, each as a test. tests/tui/screen-complaints.md lists all of them."""

import re
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

import tui
from tests.loopback import Loopback, Pause, data, delta, stream
from tests.tui.conftest import Open
from tests.tui.emulator import Emulator
from tui.chat.completion import PromptCompletion

terminals = [
    pytest.mark.screen,
    pytest.mark.timeout(90),
    pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's"),
]

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as opened:
        yield opened


def opened(tmp_path: Path, server: Loopback | None = None, **environment: str) -> "Terminal":
    model = {"PALIMPSEST_MODEL": f"openai:m@{server.address}/v1"} if server else {}
    terminal = Terminal(
        *("--workspace", str(tmp_path / "ws")),
        screen=Emulator(80, 24),
        PALIMPSEST_CONFIG_DIR=str(tmp_path / "config"),
        **model,
        **environment,
    )
    ready = "mode ask" if server else "offline"
    terminal.until(lambda text: ready in text.rstrip().rpartition("\n")[2], within=60)
    terminal.quiet()
    return terminal


@pytest.mark.screen
@pytest.mark.timeout(90)
@pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's")
def test_an_answer_clears_no_screen_and_draws_no_line_twice(tmp_path: Path, server: Loopback) -> None:
    lines = [f"- line {number} of an answer that is long, 第{number}行 🐋\n" for number in range(80)]
    pieces = [step for line in lines for step in (data(delta(content=line)), Pause(0.01))]
    reply = stream(data(delta(role="assistant", content="")), *pieces, data(delta("stop")), data("[DONE]"))
    server.answers_all(lambda _: reply)
    terminal = opened(tmp_path, server)
    start = len(terminal.bytes)
    terminal.type("Tell me\r")
    terminal.until(lambda text: "line 79" in text and "Esc stops" not in text, within=60)
    terminal.quiet()
    written = terminal.bytes[start:]
    terminal.close()
    assert not re.search(rb"\x1b\[[0-3]?J", written)  # nothing is cleared, so that nothing flickers
    answer = sum(len(line.encode()) for line in lines)
    assert len(written) < 6 * answer  # a repaint of 20 rows for each line would be 20 times as much


@pytest.mark.screen
@pytest.mark.timeout(90)
@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_an_idle_chat_writes_nothing_and_hardly_takes_any_time(tmp_path: Path) -> None:
    terminal = opened(tmp_path)
    terminal.settle(2)
    start, spent = len(terminal.bytes), cpu_ticks(terminal.pid)
    terminal.settle(5)
    ticks = cpu_ticks(terminal.pid) - spent
    terminal.close()
    assert len(terminal.bytes) == start
    assert ticks <= 15  # of 500: what is done in the background after the start included


def cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.screen
@pytest.mark.timeout(90)
@pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's")
def test_the_cursor_of_the_terminal_stands_where_one_types(tmp_path: Path) -> None:
    terminal = opened(tmp_path)
    typed = ""
    for piece in ("锅炉", "abc", "日本語", "🐋", "한국어"):
        terminal.type(piece)
        typed += piece
        terminal.until(lambda text, typed=typed: f"❯ {typed}" in text)
        terminal.quiet()
        row = next(number for number, line in enumerate(terminal.screen.display) if f"❯ {typed}" in line)
        cursor = terminal.screen.cursor  # an input method opens its window there
        assert (cursor.x, cursor.y) == (2 + cell_len(typed), row), typed
    terminal.type("\x1b[D\x7f")
    terminal.until(lambda text: "❯ 锅炉abc日本語🐋한어" in text or "❯ 锅炉abc日本語🐋한" in text)
    terminal.close()


@pytest.mark.screen
@pytest.mark.timeout(90)
@pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's")
def test_an_earlier_conversation_is_found_by_its_words(tmp_path: Path) -> None:
    terminal = opened(tmp_path)
    terminal.type("The boiler is serviced by Hansen, 五月.\r")
    terminal.until(lambda text: "◆" in text)
    terminal.type("/new\r")
    terminal.until(lambda text: "Hansen" not in text)
    terminal.type("/search serviced boiler\r")
    terminal.until(lambda text: "by Hansen, 五月" in text)
    terminal.close()


async def test_typing_goes_on_while_files_are_looked_for(open_chat: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    searching, go_on = threading.Event(), threading.Event()

    def slow(_completion: PromptCompletion, _typed: str, _asked: int) -> list[str]:
        searching.set()
        go_on.wait(30)
        return []

    monkeypatch.setattr(PromptCompletion, "_paths", slow)
    async with open_chat() as chat:
        await chat.type("@a")
        await chat.until(searching.is_set)
        started = time.monotonic()
        await chat.type("bc and more")
        assert chat.screen.prompt.text == "@abc and more"
        assert time.monotonic() - started < 20  # it did not wait for the files, of which there is no end
        go_on.set()


def test_no_style_is_for_every_widget() -> None:
    sheets = [*Path(tui.__file__).parent.rglob("*.tcss")]
    assert sheets
    for sheet in sheets:
        assert not re.search(r"(?m)(^|[,>\s])\*[\s{:,]", re.sub(r"/\*.*?\*/", "", sheet.read_text("utf-8"), flags=re.S))
