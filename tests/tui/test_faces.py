"""What both faces of the chat promise, the full screen and the chat in lines: each test runs on both, in a real pty."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import Struct

from tests.tui.screen_reader.lines import written
from tests.tui.test_terminal import ready

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

pytestmark = [
    pytest.mark.screen,
    pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's"),
    pytest.mark.timeout(60),
]

NOTE: Final = (
    "\n\n<!-- 2026-03-14T09:26:53Z -->\n## Harbour\n\n- the harbour opens \x1b]52;c;QUJD\x07 at nine "
    "\x9b31m \x1b]8;;http://evil.example\x1b\\here\x1b]8;;\x1b\\ [@click=app.quit]x[/]\n"
)


class Face(Struct, frozen=True):
    """`shown` is what a person can read; `prompt` is before what is typed, `answer` before an answer; `last` is written
    at the end, `forbidden` never."""

    environment: dict[str, str]
    is_ready: Callable[[Any], object]
    shown: Callable[[Any], str]
    prompt: str
    answer: str
    last: bytes
    forbidden: tuple[bytes, ...]


FACES: Final = {
    "full screen": Face(
        {}, ready, lambda chat: chat.text, "❯ ", "◆ ", b"\x1b[?1049l", (b"\x1b]52", b"\x1b]8", b"\xc2\x9b")
    ),
    "lines": Face(
        {"ACCESSIBLE": "1"},
        lambda chat: chat.until(lambda _: "You: " in written(chat)),
        written,
        "You: ",
        "Answer:\n",
        b"",
        (b"\x1b", b"\x07", b"\xc2\x9b"),
    ),
}


class Chat:
    """A face that is ready, in a terminal of its own."""

    def __init__(self, face: Face, folder: Path, *arguments: str) -> None:
        self.terminal = Terminal("--workspace", str(folder), *arguments, columns=160, rows=40, **face.environment)
        self._face = face

    def until(self, *words: str) -> None:
        """Until these words are to be read, in this order."""
        self.terminal.until(lambda _: self._has(words))

    def _has(self, words: tuple[str, ...]) -> bool:
        rest = self._face.shown(self.terminal)
        for word in words:
            _, found, rest = rest.partition(word)
            if not found:
                return False
        return True


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> Face:
    return FACES[request.param]


@pytest.fixture
def start(face: Face, tmp_path: Path) -> Iterator[Callable[..., Chat]]:
    running: list[Chat] = []

    def started(*arguments: str) -> Chat:
        running.append(Chat(face, tmp_path / "notes", *arguments))
        return running[-1]

    yield started
    for each in running:
        each.terminal.close()


@pytest.fixture
def chat(face: Face, start: Callable[..., Chat]) -> Chat:
    opened = start()
    face.is_ready(opened.terminal)
    return opened


def drafts(folder: Path) -> list[Path]:
    return list((folder / "notes" / ".palimpsest" / "drafts").glob("*.md"))


def test_what_was_said_is_answered_from_and_can_be_taken_up_again(
    face: Face, chat: Chat, start: Callable[..., Chat]
) -> None:
    said = "The boiler is serviced in May by Hansen. 锅炉 🔧"
    chat.terminal.type(f"{said}\r")
    chat.until(face.prompt + said[:20], face.answer)
    chat.terminal.quiet()
    chat.terminal.type("\x04")
    assert chat.terminal.ended() == 0
    assert b"Continue it with: palimpsest" in chat.terminal.bytes
    again = start("-c")
    again.until(face.prompt + said[:20])
    again.terminal.quiet()
    again.terminal.type("When is the boiler serviced?\r")
    again.until("When is the boiler", "May by Hansen")


def test_a_half_written_message_survives_a_kill(
    face: Face, chat: Chat, start: Callable[..., Chat], tmp_path: Path
) -> None:
    chat.terminal.type("half a thought")
    chat.terminal.until(lambda _: bool(drafts(tmp_path)))
    os.kill(chat.terminal.pid, signal.SIGKILL)
    chat.terminal.ended()
    start().until(f"{face.prompt}half a thought")


@pytest.mark.parametrize("number", [signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)])
def test_a_signal_ends_it_with_its_status_and_keeps_the_draft(
    face: Face, chat: Chat, number: signal.Signals, tmp_path: Path
) -> None:
    chat.terminal.type("unsent")
    chat.until(f"{face.prompt}unsent")
    os.kill(chat.terminal.pid, number)
    assert chat.terminal.ended() == 128 + number
    assert face.last in chat.terminal.bytes
    (draft,) = drafts(tmp_path)
    assert draft.read_text() == "unsent"


def test_a_closed_terminal_ends_it(chat: Chat) -> None:
    chat.terminal.close_terminal()
    assert chat.terminal.ended() == 128 + signal.SIGHUP


def test_no_escape_from_memory_reaches_the_terminal(face: Face, chat: Chat, tmp_path: Path) -> None:
    with (tmp_path / "notes" / "MEMORY.md").open("a", encoding="utf-8") as memory:
        memory.write(NOTE)
    chat.terminal.type("When does the harbour open?\r")
    chat.until(face.answer, "opens ␛]52;c;QUJD␇ at nine", "[@click=app.quit]")
    assert [code for code in face.forbidden if code in chat.terminal.bytes] == []
