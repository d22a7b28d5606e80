"""A chat that is killed over an answer, opened by somebody who does not trust its workspace, in both faces."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.services.turn_sentences import BROKE_OFF, OTHER_WINDOW, OTHER_WINDOW_THEN
from tests.loopback import Loopback, Stall, data, delta, stream
from tests.tui.test_faces import FACES, Face

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

pytestmark = [
    pytest.mark.screen,
    pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's"),
    pytest.mark.timeout(90),
]


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as opened:
        opened.answers_all(lambda _: stream(data(delta(content="Black tea, I think ")), Stall()))
        yield opened


@pytest.fixture
def writing(server: Loopback, tmp_path: Path) -> Iterator["Terminal"]:
    """A chat in a new workspace whose answer has begun."""
    model = f"openai:scripted@{server.address}/v1"
    terminal = Terminal("--workspace", str(tmp_path / "notes"), "--model", model, columns=120, rows=40)
    terminal.until(lambda text: "❯ Ask" in text)
    terminal.type("Which tea?")
    terminal.settle(0.2)
    terminal.type("\r")
    terminal.until(lambda text: "Black tea, I think" in text)
    terminal.quiet()
    yield terminal
    terminal.close()


def seen_by_another(face: Face, tmp_path: Path) -> tuple[str, str]:
    """What another user's chat shows: with the question whether to trust it, and once it is open read-only."""
    config = str(tmp_path / "another-config")
    terminal = Terminal(
        *("--workspace", str(tmp_path / "notes"), "-c", "--model", "offline"),
        columns=160,
        rows=40,
        PALIMPSEST_CONFIG_DIR=config,
        **face.environment,
    )
    try:
        terminal.until(lambda _: "It belongs to" in face.shown(terminal))
        terminal.quiet()
        question = face.shown(terminal)
        terminal.type("\r")
        terminal.until(lambda _: "Black tea" in face.shown(terminal))
        terminal.quiet(1)
        return question, face.shown(terminal)
    finally:
        terminal.close()


@pytest.mark.parametrize("face", FACES.values(), ids=FACES)
def test_it_is_counted_and_its_answer_broke_off(writing: "Terminal", face: Face, tmp_path: Path) -> None:
    os.kill(writing.pid, signal.SIGKILL)
    writing.ended()
    question, chat = seen_by_another(face, tmp_path)
    assert "holds 1 conversation with 2 entries" in question
    assert BROKE_OFF.partition(" ·")[0].casefold() in chat.casefold()
    assert OTHER_WINDOW not in chat


def test_while_it_is_open_it_is_counted_and_said_to_be_answering(writing: "Terminal", tmp_path: Path) -> None:
    question, chat = seen_by_another(FACES["full screen"], tmp_path)
    assert "holds 1 conversation with 2 entries" in question
    assert OTHER_WINDOW_THEN in chat
