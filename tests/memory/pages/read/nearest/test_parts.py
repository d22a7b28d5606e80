"""The parts of the second reader by themselves: pitch, alignment, other readings, products of bands, wide glyphs."""

import io
from itertools import combinations as every_combination

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from PIL import Image

from memory.pages.read.grid.detect import find_grid, whole_page
from memory.pages.read.grid.phase import phases
from memory.pages.read.grid.pitch import pitches
from memory.pages.read.nearest.candidates import nearest_wide
from memory.pages.read.nearest.header import Alternative, combinations
from memory.pages.read.nearest.image_model import ImageModel, align_grid
from memory.pages.read.nearest.resampling import Axis, BandedMatrix
from memory.pages.read.nearest.shapes import load_shapes
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import REGULAR, mode_named
from memory.pages.render.page import page_sheets, render_page
from tests.examples import examples

TEXT = "It was told twice, and 1,024 times more.\n\tif x != 0x1f: return {y[3]} # so\n" * 14
pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


def drawn() -> Image.Image:
    sheet = next(iter(page_sheets([LayoutText(TEXT)], mode_named("tiny"))))
    return Image.open(io.BytesIO(render_page(sheet, "pg_0123456789ab", 1).png)).convert("L")


def test_cells_begin_where_they_look_like_glyphs() -> None:
    grey = np.asarray(drawn())[70:, 19:]
    best = phases(grey, pitches(grey)[0], inverted=False)[0]
    assert (best.cell, best.scale) == (REGULAR, (1, 1))
    assert ((best.x + 19) % 8, (best.y + 70) % 16) == (0, 0)


def test_a_whole_page_has_its_grid_by_its_size() -> None:
    grid = next(iter(find_grid(np.asarray(drawn()))))
    assert (grid.x0, grid.y0, grid.columns, grid.rows, grid.has_header) == (0, 0, 64, 32, True)


def test_a_grid_that_is_a_little_off_is_moved_to_where_the_page_is() -> None:
    picture = drawn()
    ink = (255 - np.asarray(picture, np.float32)) / 255
    right = whole_page(mode_named("tiny"), (1.25, 1.25), (20.0, 12.0), inverted=False)
    whole = Image.new("L", (700, 680), 255)
    whole.paste(picture.resize((640, 640), Image.Resampling.BICUBIC), (20, 12))
    grey = np.asarray(whole)
    off = structs.replace(right, x0=20.3, y0=11.8, cell_width=right.cell_width * 1.0003)
    moved = align_grid(grey, ImageModel(grey, off, "bicubic"), ink)
    assert (moved.x0, moved.y0) == (pytest.approx(20, abs=0.03), pytest.approx(12, abs=0.03))
    assert moved.scale == pytest.approx((1.25, 1.25), rel=0.0001)


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 4)), max_size=7))
def test_other_readings_come_by_their_cost_each_once_and_no_two_for_one_place(drawn: list[tuple[int, int]]) -> None:
    choices = [Alternative(cost / 4, at, value) for value, (cost, at) in enumerate(drawn)]
    sets = list(combinations(choices, 500))
    costs = [sum(choice.cost for choice in some) for some in sets]
    assert costs == sorted(costs)
    possible = {
        frozenset(some)
        for count in range(1, len(choices) + 1)
        for some in every_combination(choices, count)
        if len({choice.at for choice in some}) == count
    }
    assert {frozenset(some) for some in sets} == possible
    assert len(sets) == len(possible)
    assert len(list(combinations(choices, 3))) == min(3, len(possible))


@settings(max_examples=examples(10), deadline=None)
@given(st.sampled_from(["bicubic", "lanczos", "box", "nearest"]), st.floats(0.6, 3.0), st.integers(0, 9))
def test_a_product_by_bands_is_the_product(kernel: str, scale: float, start: int) -> None:
    axis = Axis(start, scale, 150, int(150 * scale) + start + 5, kernel)
    page = np.random.default_rng(1).random((150, 40), dtype=np.float32)
    assert BandedMatrix(axis.weights).left(page) == pytest.approx(axis.weights @ page, abs=1e-4)
    assert BandedMatrix(axis.weights).right(page.T) == pytest.approx(page.T @ axis.weights.T, abs=1e-4)


def test_wide_glyphs_looked_up_together_are_those_looked_up_one_by_one() -> None:
    wide = load_shapes(REGULAR)[1]
    dice = np.random.default_rng(2)
    meant = wide.place[[ord(sign) for sign in "敏捷的棕色狐狸跳过了懒狗未末土士日曰今天气"]].astype(np.intp)
    places = dice.choice(meant, 900)
    ink = wide.ink(places) + dice.normal(0, 0.12, (900, *wide.size)).astype(np.float32)
    at = np.arange(900, dtype=np.intp) * 2
    found, away = nearest_wide(wide.describe(ink), at, wide, 16)
    assert (found[:, 0] == places).mean() > 0.97
    assert (found == places[:, None]).any(axis=1).all()
    assert (np.diff(away, axis=1) >= -1e-3).all()
