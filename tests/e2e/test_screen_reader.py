"""A session in lines against a real llama.cpp server, in a real terminal: what is written is read from top to bottom.

Trust, a message, a tool call with permission, a stop, the queue, a command, and the conversation taken up again.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.servers import Scripted

pytestmark = [
    pytest.mark.slow,
    pytest.mark.screen,
    pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's"),
    pytest.mark.timeout(120),
]

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal


def _call(name: str, **arguments: str) -> str:
    return f"Next: {name}. <tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


RULES = (
    ("is_result and 'The user declined' in result", "Understood: nothing was run."),
    ("'write' in message and not is_result", _call("write_file", path="a.txt", content="海鸥 🚢\n")),
    (
        "'write' in message",
        "## Done\n\nThe *file* is written. 船已写好。\n\n| name | size |\n|---|---|\n| a.txt | 12 |\n",
    ),
    ("'wait' in message and not is_result", _call("run_command", command="sleep 2971.5")),
    ("'wait' in message", "It was stopped."),
    ("'next' in message", "This came from the queue."),
    ("true", "Something else happened."),
)
TRANSCRIPT = Path(__file__).with_name("screen_reader_transcript.txt")
Start = Callable[..., "Lines"]


class Lines:
    """The program in a terminal, and all that it wrote."""

    def __init__(self, terminal: "Terminal") -> None:
        self.terminal = terminal
        self._read = 0

    @property
    def text(self) -> str:
        return self.terminal.bytes.decode(errors="replace").replace("\r\n", "\n")

    def until(self, words: str) -> str:
        """Reads on until the words are written; gives what was written before them."""
        self.terminal.until(lambda _: words in self.text[self._read :], within=60)
        start, self._read = self._read, self.text.index(words, self._read) + len(words)
        return self.text[start : self._read]

    def enter(self, text: str) -> None:
        """Types the text, and then Enter: both in one instant are a paste, which answers no question."""
        self.terminal.type(text)
        self.terminal.settle(0.1)
        self.terminal.type("\r")


@pytest.fixture(scope="module")
def address(scripted_llama: Scripted) -> str:
    return scripted_llama(context=65_536, rules=RULES).address


@pytest.fixture
def start(tmp_path: Path, address: str) -> Iterator[Start]:
    running: list[Terminal] = []
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "home").mkdir()

    def started(*arguments: str, **environment: str) -> Lines:
        words = [sys.executable, "-m", "tui.main", "--workspace", str(tmp_path / "ws"), *arguments]
        terminal = Terminal(
            *words,
            program=("/bin/sh", "-c", 'cd "$0" && exec "$@"', str(project)),
            HOME=str(tmp_path / "home"),
            PALIMPSEST_CONFIG_DIR=str(tmp_path / "user-config"),
            PALIMPSEST_MODEL=f"openai:scripted@{address}/v1",
            PALIMPSEST_MODELS_WINDOW="15000",
            PALIMPSEST_CONTEXT_RECALL="false",
            PALIMPSEST_TOOLS_OFFER="all",
            PALIMPSEST_MODELS_TOOL_CALLS="native",  # the model is tiny, and its script expects them so
            PYTHONPATH=str(ROOT),
            PYTHONUTF8="1",
            ACCESSIBLE="1",
            **environment,
        )
        running.append(terminal)
        return Lines(terminal)

    yield started
    for each in running:
        each.close()


def without_accidents(text: str, tmp_path: Path) -> str:
    """What was written, without what differs from run to run."""
    text = text.replace(str(tmp_path), "TMP")
    text = re.sub(r"openai:scripted@\S+/v1", "MODEL", text)
    text = re.sub(r"[\d,]+ tokens read, [\d,]+ written", "N tokens read, N written", text)
    return re.sub(r"Still .*\n", "", text).rstrip() + "\n"


def test_a_session(start: Start, tmp_path: Path) -> None:
    chat = start()
    opening = chat.until("You: ")
    assert "Screen-reader mode is on, by ACCESSIBLE in the environment." in opening

    chat.enter("write it")
    asked = chat.until("Enter alone is ")
    assert "Permission: The model wants to use write_file." in asked
    assert "1: Once\n2: For this session" in asked
    chat.enter("1")
    answered = chat.until("You: ")
    assert "Tool write_file, write a.txt: done, " in answered
    assert "Heading 2: Done\nThe file is written.\n船已写好。\nTable with 2 columns: name, size.\n" in answered
    assert "Row 1. name: a.txt; size: 12\nEnd of table, 1 row.\nEnd of answer: " in answered
    assert (tmp_path / "project" / "a.txt").read_text(encoding="utf-8") == "海鸥 🚢\n"

    chat.enter("/show")
    chat.until("Nothing is folded yet.\nYou: ")
    assert without_accidents(chat.text, tmp_path) == TRANSCRIPT.read_text(encoding="utf-8")

    chat.enter("wait for it")
    chat.until("Enter alone is ")
    chat.enter("")
    assert "not done. " in chat.until("Understood: nothing was run.")
    chat.until("You: ")
    chat.enter("/show 1")
    assert "Not done: run sleep 2971.5." in chat.until("End of the text.")
    chat.until("You: ")

    chat.enter("wait again")
    chat.until("Enter alone is ")
    chat.enter("once")
    chat.until("Still running run_command, run sleep 2971.5, since ")
    chat.enter("what is next")
    chat.until("Queued: 1 message waiting.")
    chat.terminal.type("\x03")
    stopped = chat.until("You: what is next")
    assert "Stopping." in stopped
    assert "1 message not sent. Back in the prompt." in stopped
    chat.enter("")
    assert "This came from the queue." in chat.until("End of answer: ")
    chat.until("You: ")

    chat.enter("/status")
    assert "model: " in chat.until("You: ")
    chat.terminal.type("an unsent 草稿")
    chat.terminal.until(lambda _: any((tmp_path / "ws" / ".palimpsest" / "drafts").glob("c_*.md")))
    os.kill(chat.terminal.pid, 15)
    assert chat.terminal.ended() == 128 + 15
    assert "Continue it with: " in chat.until("-r c_")
    assert b"\x1b" not in chat.terminal.bytes

    again = start("-c")
    taken_up = again.until("You: an unsent 草稿")
    assert "You: write it\n" in taken_up
    assert "Heading 2: Done\nThe file is written.\n" in taken_up
    assert "Tool write_file, write a.txt: " in taken_up
    again.terminal.type("\x03")
    again.until("Cleared. Ctrl+C again quits.")
    again.terminal.type("\x03")
    assert again.terminal.ended() == 0
    assert b"\x1b" not in again.terminal.bytes


def test_the_queue_is_answered_in_order(start: Start) -> None:
    chat = start()
    chat.until("You: ")
    chat.enter("!sleep 2; echo slept")
    chat.until("sleep 2; echo slept\n")
    chat.terminal.settle(0.5)
    chat.enter("next")
    chat.until("Queued: 1 message waiting.")
    chat.enter("other")
    chat.until("Queued: 2 messages waiting.")
    chat.until("slept\nCommand ended: exit 0")
    chat.until("You: next\nAnswer:\nThis came from the queue.\nEnd of answer: ")
    chat.until("You: other\nAnswer:\nSomething else happened.\nEnd of answer: ")
    chat.until("You: ")
    chat.terminal.type("\x04")
    assert chat.terminal.ended() == 0
