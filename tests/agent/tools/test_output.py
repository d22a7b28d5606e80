"""What a model sees of an output that is too long: unaltered pieces, with the true counts first."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tools.output import bounded, text_lines


def test_a_short_output_is_shown_as_it_is() -> None:
    assert bounded("all of it\n", 100, "e_1") == "all of it\n"


def test_the_heading_counts_and_names_the_whole_first() -> None:
    heading = bounded("line\n" * 1000, 500, "e_1").split("\n", 1)[0]
    assert heading.startswith("[5,000 characters in 1,000 lines; the whole is e_1: ")


def test_lines_around_an_error_are_shown_between_the_beginning_and_the_end() -> None:
    lines = [f"compiled module {number}" for number in range(1000)]
    lines[700] = "ERROR: no such symbol"
    shown = bounded("\n".join(lines), 3000, "e_1")
    assert "compiled module 698\ncompiled module 699\nERROR: no such symbol\ncompiled module 701\n" in shown
    assert "lines 699-703" in shown.split("\n", 1)[0]


def test_one_long_line_is_shown_by_its_characters() -> None:
    whole = "".join(f'{{"id": {number}}},' for number in range(30_000))
    heading, _, shown = bounded(whole, 1000, "e_1").partition("\n")
    head, _, tail = shown.partition("\n")
    assert whole.startswith(head) and whole.endswith(tail)
    assert f"Shown: characters 1-{len(head)} and " in heading


@given(st.lists(st.text(alphabet="ab é\r\x0b\u2028", max_size=30), max_size=80), st.integers(100, 600))
def test_every_piece_is_the_lines_that_the_heading_names(lines: list[str], most: int) -> None:
    whole = "\n".join(lines)
    shown = bounded(whole, most, "e_1")
    if len(whole) <= most:
        assert shown == whole
        return
    heading, _, body = shown.partition("\n")
    of_whole = text_lines(whole)
    pieces: list[str] = []
    for range_ in re.findall(r"lines? ([\d-]+)", heading.partition("Shown: ")[2]):
        first, _, last = range_.partition("-")
        pieces.append("".join(of_whole[int(first) - 1 : int(last or first)]))
    assert body == "\n".join(pieces)
    assert len(body) <= most + len(pieces)


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\nb", "\n\n", "a\r\nb\x0bc\u2028d\n"])
def test_lines_end_with_a_line_feed_alone(text: str) -> None:
    assert "".join(text_lines(text)) == text
    assert len(text_lines(text)) == text.count("\n") + (not text.endswith("\n") and text != "")
