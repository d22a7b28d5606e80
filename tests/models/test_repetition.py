"""An endless repetition is told from a text that merely repeats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.repetition import LEAST, TIMES, loop_at


@pytest.mark.parametrize("unit", ["a", "the same line again\n", "| a | b |\n", "x" * 99 + "\n"])
def test_an_endless_repetition_is_cut_after_its_first_round(unit: str) -> None:
    text = "Dear Ann, " + unit * (max(LEAST // len(unit), TIMES) + 3)
    at = loop_at(text)
    assert at is not None
    assert text[:at].startswith("Dear Ann, ")
    assert text[:at].endswith(unit[-1]) or len(unit) > 1
    assert len(text[:at]) <= len("Dear Ann, ") + 2 * len(unit)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-" * 160,
        "| --- | --- | --- | --- | --- | --- |\n" * 6,
        "".join(f"{n}. item\n" for n in range(400)),
        "All work and no play. " * 7,
    ],
    ids=["nothing", "a ruled line", "a table", "a list", "a refrain"],
)
def test_what_merely_repeats_is_let_be(text: str) -> None:
    assert loop_at(text) is None


@given(st.text("abc \n", max_size=40), st.text("xyz\n", min_size=1, max_size=60))
def test_whatever_the_unit_is_what_came_before_stays(before: str, unit: str) -> None:
    text = before + unit * (max(LEAST // len(unit), TIMES) + 2)
    at = loop_at(text)
    assert at is not None
    assert text[:at].startswith(before.rstrip("\n"))
    assert at <= len(before) + 2 * len(unit)
