"""The permission dialog of the real program in a terminal: who types while it appears grants nothing."""

import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.loopback import Loopback, Received, Reply, chat, data, delta, json_reply, stream

pytestmark = [
    pytest.mark.screen,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's"),
    pytest.mark.timeout(180),
]

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

DOWN, UP = "\x1b[B", "\x1b[A"
SHIFT_TAB = "\x1b[Z"
NOTE = "Tee um vier 茶 👩\u200d💻"


def plays(server: Loopback, *replies: Reply) -> None:
    """Answers chat requests with these replies, the last one again and again; others with nothing."""
    waiting = list(replies)

    def reply(received: Received) -> Reply:
        if not received.path.endswith("/chat/completions"):
            return json_reply({}, status=404)
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    server.answers_all(reply)


def calls(name: str, **arguments: str) -> Reply:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "call_0", "type": "function", "function": function}
    return stream(data(delta(tool_calls=[call])), data(delta("tool_calls")), data("[DONE]"))


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as opened:
        yield opened


@pytest.fixture(params=[(80, 24), (200, 50)])
def terminal(request: pytest.FixtureRequest, tmp_path: Path, server: Loopback) -> Iterator["Terminal"]:
    columns, rows = request.param
    opened = Terminal(
        "--workspace",
        str(tmp_path / "ws"),
        columns=columns,
        rows=rows,
        PALIMPSEST_CONFIG_DIR=str(tmp_path / "config"),
        PALIMPSEST_MODEL=f"openai:m@{server.address}/v1",
        PALIMPSEST_MODELS_WINDOW="16000",
    )
    opened.until(
        lambda text: text.rstrip().rpartition("\n")[2].strip() == "mode ask · m", within=90
    )  # the session is open
    yield opened
    opened.close()


def test_a_typed_line_grants_nothing_and_arrows_do(terminal: "Terminal", server: Loopback, tmp_path: Path) -> None:
    plays(server, calls("remember", note=NOTE), chat("Done."))
    terminal.type("Remember tea\r")
    terminal.settle(0.1)  # what is typed in the same instant would be a paste
    for _ in range(12):  # somebody goes on typing while the question comes
        terminal.type("yes, ")
        terminal.settle(0.25)
        assert "1 Once" not in terminal.text
    terminal.until(lambda text: "The model wants to use remember" in text and "1–3 ↑ ↓" in text, within=60)
    assert "茶" in terminal.text and "Always" not in terminal.text
    terminal.type("yes, yes 1\r")
    terminal.settle(1.0)
    assert "1–3 ↑ ↓ choose · Enter breaks the line" in terminal.text
    memory = tmp_path / "ws" / "MEMORY.md"
    assert "Tee" not in memory.read_text("utf-8")
    terminal.type(DOWN)
    terminal.until(lambda text: "› 1 Once" in text)
    terminal.type("\r")
    terminal.until(lambda text: "Done." in text, within=60)
    assert "Tee um vier" in memory.read_text("utf-8")
    terminal.until(lambda text: "yes, yes, yes 1" in text)  # in the prompt, with what was typed before


@pytest.mark.parametrize("pasted", ["\x1b[200~1\x1b[201~", "\x1b[200~2\x1b[201~", "1\r", "\x1b[31m1\x1b[m\r2\r"])
def test_a_paste_grants_nothing(terminal: "Terminal", server: Loopback, tmp_path: Path, pasted: str) -> None:
    plays(server, calls("remember", note=NOTE), chat("Done."))
    terminal.type("Remember tea\r")
    terminal.until(lambda text: "The model wants to use remember" in text and "1–3 ↑ ↓" in text, within=60)
    terminal.type(pasted)
    terminal.settle(1.0)
    assert "The model wants to use remember" in terminal.text
    assert "Tee" not in (tmp_path / "ws" / "MEMORY.md").read_text("utf-8")


def test_ten_edits_are_answered_by_who_presses_1_too_early_each_time(
    terminal: "Terminal", server: Loopback, tmp_path: Path
) -> None:
    notes = [f"edit {number}" for number in range(10)]
    plays(server, *(calls("remember", note=note) for note in notes), chat("All done."))
    terminal.type("Edit\r")
    for note, after in pairwise([*notes, "All done."]):
        terminal.until(lambda text, note=note: note in text and "1 Once" in text, within=60)
        for _ in range(20):  # at once, which is too early, and again and again
            terminal.type("1")
            terminal.settle(1.2)
            if "1 Once" not in terminal.text or after in terminal.text:
                break
    terminal.until(lambda text: "All done." in text, within=60)
    memory = (tmp_path / "ws" / "MEMORY.md").read_text("utf-8")
    assert all(note in memory for note in notes)
    terminal.until(lambda text: "❯ Ask, or /" in text)


def test_shift_tab_goes_through_the_modes(terminal: "Terminal") -> None:
    for shown in ("mode read-only", "mode edit", "mode auto", "mode plan"):
        terminal.type(SHIFT_TAB)
        terminal.until(lambda text, shown=shown: shown in text.rstrip().rpartition("\n")[2])
    terminal.type(SHIFT_TAB)
    terminal.until(lambda text: "mode ask" in text.rstrip().rpartition("\n")[2])


def test_always_in_this_project_is_remembered_in_the_next_chat(
    terminal: "Terminal", server: Loopback, tmp_path: Path
) -> None:
    command = "touch made.txt"
    plays(
        server,
        calls("run_command", command=command),
        chat("First."),
        calls("run_command", command=command),
        chat("Next."),
    )
    terminal.type("Which git?\r")
    terminal.until(lambda text: "Always in this project: run_command(touch made.txt)" in text, within=60)
    terminal.settle(1.0)
    terminal.type(DOWN * 3)
    terminal.until(lambda text: "› 3 Always" in text)
    terminal.type("\r")
    terminal.until(lambda text: "First." in text, within=60)
    (stored,) = (tmp_path / "config" / "permissions").glob("*.yaml")
    assert "run_command(touch made.txt)" in stored.read_text("utf-8")
    terminal.type("/new\r")
    terminal.settle(1.0)
    terminal.type("Which git now?\r")
    terminal.until(lambda text: "Next." in text, within=60)
