"""A passage with the numbers of its lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from models.excerpts import line_count
from tui.widgets.transcript.line_numbers import MAX_CHARS, MAX_LINES, numbered_items
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import line_width

LOOK = TranscriptStyles.of_theme({}, Style())


def drawn(text: str, width: int = 60, doubt: frozenset[int] = frozenset()) -> list[str]:
    pieces = numbered_items(text, doubt)
    return ["".join(segment.text for segment in line) for piece in pieces for line in piece.lines(width, LOOK)]


def test_each_line_has_its_number_and_a_doubtful_one_its_mark() -> None:
    assert drawn("one\ntwo\n\nfour", doubt=frozenset({2})) == [" 1  one", "?2  two", " 3  ", " 4  four"]


def test_a_line_that_wraps_has_one_number() -> None:
    lines = drawn("word " * 30, width=40)
    assert [line[:4] for line in lines] == [" 1  ", *["    "] * (len(lines) - 1)]


def test_a_line_of_a_megabyte_is_made_in_parts() -> None:
    pieces = numbered_items("x" * 1_000_000)
    assert len(pieces) == 250
    assert sum(len(row.text) for piece in pieces for row in piece.rows) == 1_000_000
    assert [row.number for piece in pieces for row in piece.rows][:3] == [1, 0, 0]


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=300), st.integers(20, 90))
def test_no_character_is_lost_and_no_line_is_too_wide(text: str, width: int) -> None:
    pieces = numbered_items(text)
    rows = [row for piece in pieces for row in piece.rows]
    assert "\n".join(row.text for row in rows) == text.removesuffix("\n")  # which begins no further line
    assert all(len(piece.rows) <= MAX_LINES and len(piece.text) <= 2 * MAX_CHARS + MAX_LINES for piece in pieces)
    for piece in pieces:
        for line in piece.lines(width, LOOK):
            trailing = len(line[-1].text) - len(line[-1].text.rstrip(" ")) if line else 0
            assert line_width(line) - trailing <= width


@pytest.mark.parametrize("text", ["", "\n", "\n\n"])
def test_blank_lines_count(text: str) -> None:
    assert len(drawn(text)) == max(1, line_count(text))
