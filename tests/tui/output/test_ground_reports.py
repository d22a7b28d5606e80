"""The theme `auto` follows a terminal that becomes light or dark while the chat is open."""

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.test_terminal import ready
from tui.output.ground_reports import ASK, REPORT_CHANGES, STOP_REPORTS, GroundReported, GroundReports
from tui.themes.own import THEMES

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

REPORTS = {
    "\x1b[?997;1n": True,
    "\x1b[?997;2n": False,
    "\x1b]11;rgb:0000/1111/0000\x1b\\": True,
    "\x1b]11;rgb:fdfd/f6f6/e3e3\x07": False,
}
KEPT = ("\x1b[", "\x1b]", "[?", "]1", "?9")  # a beginning that a key may have as well is not held
OTHERS = ("\x1b[A", "a", "锅🙂", "\x1b[I", "\x1b[?2026;2$y", "\x1b[1;5C", "]11;", "\r")


@given(st.lists(st.sampled_from([*REPORTS, *OTHERS])), st.lists(st.integers(0, 400)))
def test_reports_are_taken_out_however_the_input_is_cut(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text) and text[cut - 1 : cut + 1] not in KEPT)})
    reports = GroundReports()
    found = [part for start, end in pairwise(places) for part in reports.feed(text[start:end])]
    assert [part.is_dark for part in found if isinstance(part, GroundReported)] == [
        REPORTS[part] for part in parts if part in REPORTS
    ]
    rest = "".join(part for part in found if isinstance(part, str)) + reports.release()
    assert rest == "".join(part for part in parts if part not in REPORTS)


def test_a_key_is_never_held() -> None:
    for key in ("\x1b", "\x1b[", "\x1b]", "\x1b[?"):
        assert list(GroundReports().feed(key)) == [key]


@pytest.fixture
def terminal(tmp_path: Path) -> "Iterator[Terminal]":
    opened = Terminal("--workspace", str(tmp_path / "notes"), PALIMPSEST_SCREEN_THEME="auto", COLORFGBG="")
    yield opened
    opened.close()


@pytest.mark.screen
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")
@pytest.mark.timeout(60)
def test_every_open_screen_follows_the_terminal(terminal: "Terminal") -> None:
    dark, light = (theme.background for theme in THEMES if theme.name in {"palimpsest", "palimpsest-light"})

    def ground(row: int = 3) -> str:
        return "#" + terminal.screen.buffer[row][0].bg

    ready(terminal)
    terminal.type("draft 锅")
    terminal.until(lambda text: "❯ draft 锅" in text)
    assert REPORT_CHANGES.encode() in terminal.bytes
    assert ground() == dark
    terminal.type("\x1b[?997;2n")
    terminal.until(lambda _: ground() == light)
    assert "❯ draft 锅" in terminal.text
    terminal.type("\x1bOP")  # F1: a screen above the chat
    terminal.until(lambda text: "Keys and commands" in text)
    terminal.type("\x1b[?997;1n")
    terminal.until(lambda _: ground(0) not in {light, "#default"} and ground(23) != light)
    terminal.type("\x1b")
    terminal.until(lambda text: "Keys and commands" not in text and ground() == dark)
    terminal.type("\x1b[O\x1b[I")  # it loses the focus and gets it: a terminal without the mode is asked
    terminal.until(lambda _: ASK.encode() in terminal.bytes)
    terminal.type("\x1b]11;rgb:ffff/ffff/ffff\x1b\\")
    terminal.until(lambda _: ground() == light)
    assert "❯ draft 锅" in terminal.text and "11;" not in terminal.text
    terminal.type("\x03\x04")
    assert terminal.ended() == 0
    assert STOP_REPORTS.encode() in terminal.bytes
