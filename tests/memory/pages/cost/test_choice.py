"""The cheapest layout of a text: never dearer than a mode that a person could name."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import structs

from memory.pages.cost.choice import USUAL, cheapest_layout
from memory.pages.cost.profiles import PROFILES, RenderProfile
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import CELLS, DENSE, REGULAR, Mode, modes_of
from memory.pages.render.page import page_sheets
from tests.examples import examples

WORDS = st.sampled_from(["lighthouse ", "灯塔与花园", "def f(x):\n    return x\n", "0x7f3a9c1e ", "🔑\n", "\n\n"])
TEXTS = st.tuples(WORDS, st.integers(1, 4000)).map(lambda pair: pair[0] * pair[1])
NAMES = st.sampled_from(sorted(PROFILES))


def cost(text: str, mode: Mode, profile: RenderProfile) -> int:
    return sum(profile.tokens(sheet.mode.name) for sheet in page_sheets([LayoutText(text)], mode))


@pytest.mark.timeout(120)
@settings(deadline=None, max_examples=examples(60))  # a busy machine takes long to lay out a text in every mode
@given(TEXTS, NAMES)
@example("word " * 2_400, "deepseek-ocr")
@example("灯" * 30_000, "claude")
@example("x", "gpt-tiles")
def test_auto_is_never_dearer_than_a_mode_that_the_profile_sees_unscaled(text: str, name: str) -> None:
    profile = PROFILES[name]
    choice = cheapest_layout(text, profile)
    assert choice.tokens == cost(text, choice.mode, profile)
    for cell in CELLS if profile.cell == DENSE.name else (REGULAR,):
        for mode in profile.modes:
            assert choice.tokens <= cost(text, modes_of(cell)[mode], profile)


def test_tiny_pages_are_not_taken_where_their_heads_cost_more() -> None:
    text = "The ferry passes the lighthouse at nine, and the garden of stone at ten.\n" * 210
    profile = PROFILES["deepseek-ocr"]
    by_mode = {name: cost(text, mode, profile) for name, mode in modes_of(DENSE).items()}
    assert by_mode["tiny"] > min(by_mode.values()) == cheapest_layout(text, profile).tokens


def test_dense_cells_are_taken_where_they_are_read_and_cheaper() -> None:
    deepseek = PROFILES["deepseek-ocr"]
    reads_large_cells = structs.replace(deepseek, cell="8x16")
    text = "word " * 2_000
    assert cheapest_layout(text, deepseek).mode.cell == DENSE
    assert cheapest_layout(text, reads_large_cells).mode.cell == REGULAR
    assert cheapest_layout(text, reads_large_cells, dense=True).mode.cell == DENSE
    assert cheapest_layout("one line", deepseek).mode == USUAL  # a tiny page either way
