"""What is pasted is text: no key is pressed by it, however it is made and however it arrives."""

import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.message import Message

from tests.hostile.payloads import escapes
from tui.output.direct_driver import TICK_S
from tui.output.paste_guard import BEGIN, END, PasteSafeParser

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

PASTES = st.text(st.sampled_from("\x1b\x1b[201~Oab!\r\n\x03\x07\x1b"), max_size=60) | st.text(max_size=60)


def messages(*pieces: str) -> list[Message]:
    parser = PasteSafeParser()
    return [message for piece in pieces if piece for message in parser.feed(piece)]


def pasted(found: list[Message]) -> str:
    return "".join(each.text for each in found if isinstance(each, events.Paste))


@given(PASTES, st.lists(st.integers(0, 90), max_size=5))
def test_a_paste_is_one_paste_however_it_is_cut(text: str, cuts: list[int]) -> None:
    text = text.replace(END, "").replace(END, "")
    if (text + END).find(END) != len(text):
        return  # its own end: no terminal can paste it
    whole = f"a{BEGIN}{text}{END}b"
    at = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    found = messages(*(whole[start:end] for start, end in pairwise(at)))
    assert [each.key for each in found if isinstance(each, events.Key)] == ["a", "b"]
    assert pasted(found) == text.replace("\x1b", "␛").replace("\x00", "")


@pytest.mark.parametrize("cut", range(len(BEGIN) + len(END) + 3))
def test_every_payload_in_a_paste_is_text(cut: int) -> None:
    for payload in escapes():
        whole = f"{BEGIN}{payload}{END}"
        found = messages(whole[:cut], whole[cut:-2], whole[-2:])
        assert [each for each in found if not isinstance(each, events.Paste)] == [], payload


def test_keys_and_answers_outside_of_a_paste_are_as_they_were() -> None:
    found = messages("x\x1b[A", "\x1b[2", "4~\r", "\x1b[I", f"{BEGIN}p{END}", "\x1b[B")
    assert [each.key if isinstance(each, events.Key) else type(each).__name__ for each in found] == [
        *("x", "up", "f12", "enter", "AppFocus", "Paste", "down")
    ]


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("\x1b\x1bOP", ["escape", "f1"]),
        ("\x1b\x10\x1b\x1bOP\x1b[A", ["escape", "ctrl+p", "escape", "f1", "up"]),
        ("\x1ba\x1b[A", ["alt+a", "up"]),
        ("\x1b[\x1b[A", ["up"]),
        ("\x1b[>41;330;0c\x1b[Ab", ["up", "b"]),  # an answer that Textual does not know
        ("^\x1b[A", ["circumflex_accent", "up"]),
    ],
)
def test_an_escape_before_a_sequence_is_a_key_and_no_text(typed: str, keys: list[str]) -> None:
    assert [each.key for each in messages(typed) if isinstance(each, events.Key)] == keys


def test_an_escape_and_a_control_key_are_both_keys_when_nothing_follows() -> None:
    parser = PasteSafeParser()
    assert list(parser.feed("\x1b\x10")) == []
    time.sleep(TICK_S)
    assert [each.key for each in parser.tick() if isinstance(each, events.Key)] == ["escape", "ctrl+p"]


LINES = "".join(f"line {number} 行 🏺\r" for number in range(200))


@pytest.mark.parametrize("lines", [LINES, "one\rtwo\rthree", "a\nb\n\tc\n"], ids=["many", "three", "indented"])
@pytest.mark.parametrize("size", [4096, 900, 64])
def test_lines_that_arrive_at_once_without_brackets_are_one_paste(lines: str, size: int) -> None:
    parser = PasteSafeParser()
    found = [message for start in range(0, len(lines), size) for message in parser.feed(lines[start : start + size])]
    assert found == [], "more of it may come"
    time.sleep(TICK_S)
    found = list(parser.tick())
    assert [type(each) for each in found] == [events.Paste]
    assert pasted(found) == lines


def test_what_is_typed_ahead_of_a_busy_screen_is_keys() -> None:
    for typed in ("hello\rnext", "y\r", "\r\r\r\r", "hello\r\r", "a" * 60):
        assert [each.character for each in messages(typed) if isinstance(each, events.Key)] == list(typed)


def test_a_key_after_such_lines_is_a_key_after_them() -> None:
    found = messages("one\rtwo\rthree\r", "\x03")
    assert [each.key if isinstance(each, events.Key) else type(each).__name__ for each in found] == ["Paste", "ctrl+c"]


@pytest.mark.screen
@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's")
def test_two_hundred_lines_without_brackets_are_a_chip_and_no_message(tmp_path: Path) -> None:
    terminal = Terminal("--workspace", str(tmp_path / "ws"))
    terminal.until(lambda text: text.rstrip().rpartition("\n")[2].strip() == "offline")
    terminal.type(LINES)
    terminal.until(lambda text: "[Pasted text #1 · 200 lines]" in text)
    assert "◆" not in terminal.text and "waits" not in terminal.text
    terminal.close()


@pytest.mark.screen
@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's")
def test_a_paste_sends_nothing(tmp_path: Path) -> None:
    terminal = Terminal("--workspace", str(tmp_path / "ws"))
    terminal.until(lambda text: text.rstrip().rpartition("\n")[2].strip() == "offline")
    terminal.type(f"{BEGIN}\x1bnobody sent this\r{'x' * 40}{END}")
    terminal.until(lambda text: "␛" in text)
    terminal.settle(1.0)
    assert "◆" not in terminal.text  # an answer
    assert terminal.is_running
    terminal.close()
