"""The chat in lines while an answer is written: steering it, and what waits while a line is edited."""

import sys
from collections.abc import Iterator

import pytest

from tests.loopback import Loopback, Stall, chat, data, delta, stream
from tests.tui.chat.test_steering import plays
from tests.tui.screen_reader.lines import Start, until, written
from tui.screen_reader.output import BELL, LineOutput


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as opened:
        yield opened


def model(server: Loopback) -> dict[str, str]:
    return {"PALIMPSEST_MODEL": f"openai:qwen3@{server.address}/v1", "PALIMPSEST_MODELS_WINDOW": "16000"}


@pytest.mark.parametrize("opens_line", [False, True], ids=["at once", "in a line of its own"])
@pytest.mark.screen
@pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's")
@pytest.mark.timeout(60)
def test_a_message_steers_the_answer(start: Start, server: Loopback, *, opens_line: bool) -> None:
    plays(server, stream(data(delta(content="Black tea.\n\nThen ")), Stall()), chat("Green tea 绿茶."))
    lines = start(**model(server))
    until(lines, "You: ")
    lines.type("Which tea?\r")
    until(lines, "Black tea.")
    if opens_line:
        lines.type("\r")
        until(lines, "Next: ")
    lines.type("/steer Only green ones 🍵\r")
    until(lines, "Sent at the next step of the answer: Only green ones 🍵\n")
    text = until(lines, "End of answer")
    steered = text.rpartition("Sent at the next step")[2]
    assert "You, into the answer: Only green ones 🍵\n" in steered
    assert "Green tea 绿茶." in steered.partition("You, into the answer")[2]
    assert text.count("Only green ones 🍵") == 2 + opens_line


@pytest.mark.screen
@pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's")
@pytest.mark.timeout(60)
def test_steering_without_a_message_or_an_answer(start: Start, server: Loopback) -> None:
    plays(server, stream(data(delta(content="Black tea.\n\nThen ")), Stall()), chat("Green."), chat("White."))
    lines = start(**model(server))
    until(lines, "You: ")
    lines.type("Which tea?\r")
    until(lines, "Black tea.")
    lines.type("/steer\r")
    until(lines, "/steer needs the message")
    lines.type("\x03")
    until(lines, "You: ", 2)
    lines.type("/steer And now?\r")  # nothing is written: it is a message
    until(lines, "Green.")
    assert "Sent at the next step" not in written(lines)


def test_notices_wait_while_a_line_is_edited_and_come_in_order() -> None:
    shown: list[str] = []
    output = LineOutput(shown.append, rings=True)
    output.say("before")
    output.hold()
    output.say("Notice: one", "two 二\nthree")
    output.hold()  # once more changes nothing
    output.say("four\x1b[2J")
    output.ring()
    assert shown == ["before\n", BELL], "a bell writes nothing into the line"
    output.release()
    assert "".join(shown[2:]) == "Notice: one\ntwo 二\nthree\nfour␛[2J\n"
    output.say("after")
    assert shown[-1] == "after\n"
    output.release()
    assert shown[-1] == "after\n"
