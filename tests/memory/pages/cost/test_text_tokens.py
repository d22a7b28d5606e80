"""Estimates of page texts are those of every other text."""

from hypothesis import example, given
from hypothesis import strategies as st

from memory.pages.cost.text_tokens import estimate_tokens
from models.tokens import estimate

SIGNS = st.sampled_from(
    [
        *"aZ09_-+/ \t\n\r.,;'\"(){}é灯塔かᄀ가，〇ß̈я…🔑",
        *("deadbeef01", "\ud800", "  ", "identifier"),
    ]
)


@given(st.lists(SIGNS, max_size=60).map("".join))
@example("")
@example("\n \t\tx\n\n  y \t z")
@example("灯塔" * 400 + " lighthouse 0x7f3a9c1e20b44d6e " * 20)
def test_an_estimate_is_the_same_as_elsewhere(text: str) -> None:
    assert estimate_tokens(text) == estimate(text)


@given(st.text(max_size=200))
def test_so_is_that_of_any_text(text: str) -> None:
    assert estimate_tokens(text) == estimate(text)
