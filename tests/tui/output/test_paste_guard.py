"""What is pasted is text: no key is pressed by it, however it is made and however it arrives."""

import sys
import time
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.message import Message

from tests.hostile.payloads import escapes
from tui.output.direct_driver import TICK_S
from tui.output.line_burst import JOINED_S, SILENCE_S
from tui.output.paste_guard import BEGIN, END, PasteSafeParser

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

PASTES = st.text(st.sampled_from("\x1b\x1b[201~Oab!\r\n\x03\x07\x1b"), max_size=60) | st.text(max_size=60)


def messages(*pieces: str) -> list[Message]:
    """What the parser makes of pieces that come at once, and then of a pause."""
    parser = PasteSafeParser()
    found = [message for piece in pieces if piece for message in parser.feed(piece)]
    with patch("tui.output.line_burst.monotonic", lambda: time.monotonic() + SILENCE_S):
        return [*found, *parser.tick_lines()]


def named(found: list[Message]) -> list[str]:
    return [each.key if isinstance(each, events.Key) else type(each).__name__ for each in found]


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
    assert named(found) == ["x", "up", "f12", "enter", "AppFocus", "Paste", "down"]


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


COLOURED = "PASS one\r\x1b[31mFAIL\x1b[0m two\r\x1b[32m!touch PWNED\x1b[0m\rlast\r"
BELL = "ab\x07cd\r\x03ef\rgh\r"
DIFF = "\x1b[1mdiff --git a/x b/x\x1b[m\n\x1b[31m-a\x1b[m\n\x1b[32m+\x1b[m\x1b[32mb\x1b[m\n"
HYPERLINK = "\x1b]8;;http://a/\x07one\x1b]8;;\x07\rtwo\r"
HOSTILE = f"one\r{BEGIN}two{END}\r!touch PWNED\r\x1bOP\x10\x1b[A\x14"


@pytest.mark.parametrize("text", ["one\r!touch PWNED\r", "one\rtwo", COLOURED, BELL, DIFF, HYPERLINK])
def test_lines_with_escapes_are_one_paste_without_brackets_however_they_are_cut(text: str) -> None:
    expected = text.replace("\x1b", "␛")
    assert named(messages(text)) == ["Paste"]
    for at in range(17 if text.startswith("\x1b") else 2, len(text)):  # of a sequence at its start a part may be lost
        found = messages(text[:at], text[at:])
        keys = "".join(each.character or each.key for each in found if isinstance(each, events.Key))
        assert keys + pasted(found) == expected and "\r" not in keys, at


def test_brackets_within_such_lines_end_no_paste() -> None:
    assert named(messages(HOSTILE)) == ["Paste"]
    for at in range(2, len(HOSTILE)):
        found = messages(HOSTILE[:at], HOSTILE[at:])
        assert "!touch PWNED\r␛OP\x10␛[A\x14" in pasted(found), at
        assert not {"f1", "ctrl+p", "up", "ctrl+t"} & {*named(found)}, at


@pytest.mark.parametrize("size", [4096, 700, 64, 9])
def test_many_coloured_lines_without_brackets_are_one_paste(size: int) -> None:
    text = "".join(f"pasted line {number} \x1b[31m with esc 中文\r" for number in range(300))
    found = messages(*(text[start : start + size] for start in range(0, len(text), size)))
    assert named(found)[-1] == "Paste" and pasted(found).endswith("␛[31m with esc 中文\r")
    assert "enter" not in named(found)


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("hello\r", [*"hello", "enter"]),
        ("hello\r\r", [*"hello", "enter", "enter"]),
        ("y\r", ["y", "enter"]),
        ("\r\r\r\r", ["enter"] * 4),
        ("a" * 60, ["a"] * 60),
        ("hello\r\x1b[A\x1b[A", [*"hello", "enter", "up", "up"]),
        ("\x1b[A\x1b[B\r", ["up", "down", "enter"]),
        ("\x1ba\r\x1ba\r", ["alt+a", "enter", "alt+a", "enter"]),
        ("ab\x7f\x7f\x03", [*"ab", "backspace", "backspace", "ctrl+c"]),
        ("word\x1b", [*"word", "escape"]),
    ],
)
def test_what_is_typed_ahead_of_a_busy_screen_is_keys(typed: str, keys: list[str]) -> None:
    parser = PasteSafeParser()
    found = [*parser.feed(typed)]
    for _ in range(2):  # an escape at the end is a key after a while
        time.sleep(TICK_S)
        found += parser.tick()
    assert named(found) == keys


@pytest.mark.parametrize("reports", ["\x1b[<35;10;10M", "\x1b[?2026;1$y", "\x1b[I", "\x1b]11;rgb:0000/0000/0000\x07"])
def test_what_the_terminal_sends_by_itself_is_neither_a_key_nor_part_of_a_paste(reports: str) -> None:
    typed = messages(f"hello{reports}\r{reports}")
    assert [each.key for each in typed if isinstance(each, events.Key)] == [*"hello", "enter"]
    found = messages(f"{reports}one\r{reports}", f"two{reports}\r")
    assert pasted(found) == "one\rtwo\r"
    assert not any(isinstance(each, events.Key) for each in found)


def test_letters_that_are_typed_one_by_one_are_keys_however_fast() -> None:
    assert named(messages(*"hello\rnext\r")) == [*"hello", "enter", *"next", "enter"]


def test_a_key_after_such_lines_is_a_key_after_them() -> None:
    parser = PasteSafeParser()
    found = [*parser.feed("one\rtwo\rthree\r")]
    time.sleep(TICK_S)
    found += [*parser.tick(), *parser.feed("\x03")]
    assert named(found) == ["Paste", "ctrl+c"]


def test_enter_right_after_a_word_waits_for_an_instant_only() -> None:
    parser = PasteSafeParser()
    assert named([*parser.feed("hello\r")]) == []
    time.sleep(JOINED_S)
    assert named([*parser.tick_lines()]) == [*"hello", "enter"]


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


@pytest.mark.screen
@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's")
def test_coloured_lines_without_brackets_are_sent_and_run_by_nothing(tmp_path: Path) -> None:
    terminal = Terminal("--workspace", str(tmp_path / "ws"))
    terminal.until(lambda text: text.rstrip().rpartition("\n")[2].strip() == "offline")
    terminal.type(COLOURED.replace("PWNED", str(tmp_path / "PWNED")))
    terminal.until(lambda text: "❯ PASS one" in text and "␛[31mFAIL␛[0m two" in text and "last" in text)
    terminal.settle(0.5)
    assert "◆" not in terminal.text and "waits" not in terminal.text
    assert not (tmp_path / "PWNED").exists()
    terminal.type("\x03")
    terminal.until(lambda text: "PASS one" not in text)
    terminal.settle(0.2)
    terminal.type("".join(f"pasted line {number} \x1b[31m with esc 中文\r" for number in range(300)))
    terminal.until(lambda text: "[Pasted text #1 · 300 lines]" in text, within=8)
    assert "◆" not in terminal.text
    terminal.close()
