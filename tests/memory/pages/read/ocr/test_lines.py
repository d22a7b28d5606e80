"""What the grid tells by itself, and what is left for OCR."""

import io

import pytest
from PIL import Image

from memory.pages.font.glyphs import load_glyphs
from memory.pages.read.grid.detect import find_grid
from memory.pages.read.ocr.lines import MISFIT, LineReading, on_cells, read_on_grid
from memory.pages.read.ocr.segments import KnownSegment, TextSegment, split_segments
from memory.pages.render.modes import DENSE_MODES, TINY, Mode
from memory.pages.render.png import decode_grey
from tests.memory.archive.ocr_fakes import FakeEngine, page, redrawn

TEXT = "the ferry\n\n    leaves   at 09:40\n--------------------\n"


def read(png: bytes, engine: FakeEngine, seen: list[tuple[int, int]] | None = None) -> LineReading | None:
    grey = decode_grey(png)
    told = seen if seen is not None else []
    return read_on_grid(grey, next(iter(find_grid(grey))), engine, lambda done, of: told.append((done, of)))


@pytest.mark.parametrize("mode", [TINY, DENSE_MODES["tiny"]], ids=["8x16", "6x12"])
def test_blanks_blank_lines_and_ruled_lines_are_the_grids_own(mode: Mode) -> None:
    engine = FakeEngine(["theferry", "leaves", "at0 9:40"])
    found = read(page(TEXT, mode=mode), engine)
    assert found is not None
    assert found.text == TEXT
    assert len(engine.crops) == 3


def test_a_crop_holds_its_words_and_nothing_beside() -> None:
    engine = FakeEngine(["the ferry", "leaves", "at 09:40"])
    read(page(TEXT), engine)
    sizes = [Image.open(io.BytesIO(crop)).size for crop in engine.crops]
    assert sizes == [(9 * 8 + 4, 16), (6 * 8 + 4, 16), (8 * 8 + 4, 16)]


def test_a_page_light_on_dark_is_turned() -> None:
    engine = FakeEngine(["the ferry", "leaves", "at 09:40"])
    found = read(redrawn(page(TEXT), lambda image: image.point(lambda value: 200 - value * 160 // 255)), engine)
    assert found is not None
    assert found.text == TEXT
    (crop, *_) = (Image.open(io.BytesIO(crop)) for crop in engine.crops)
    assert crop.getpixel((0, 0)) > 128


@pytest.mark.parametrize("scale", [0.75, 0.9, 1.25, 2.0])
def test_a_scaled_page_has_the_same_lines(scale: float) -> None:
    side = round(512 * scale)
    scaled = redrawn(page(TEXT), lambda image: image.resize((side, side), Image.Resampling.BICUBIC))
    found = read(scaled, FakeEngine(["the ferry", "leaves", "at 09:40"]))
    assert found is not None
    assert found.text == TEXT


def test_words_that_do_not_fill_their_cells_are_in_doubt() -> None:
    found = read(page("one two\nthree"), FakeEngine(["one tw", "three"]))
    assert found == LineReading("one tw\nthree", (MISFIT, 0.99))


def test_a_word_that_goes_on_in_the_next_row_is_one_word() -> None:
    text = "a" + "bcdefgh" * 11  # 78 cells, 64 a row
    found = read(page(text), FakeEngine([text[:64], text[64:]]))
    assert found is not None
    assert found.text == text


def test_letters_that_are_nearly_alike_are_no_ruled_line() -> None:
    png = page("illi ,.,. :;:;")
    grey = decode_grey(png)
    found = split_segments(grey, next(iter(find_grid(grey)))) or []
    assert isinstance(found[0], TextSegment)


def test_a_rule_of_any_sign_has_its_sign_and_length() -> None:
    png = page("====\n────────\n______")
    grey = decode_grey(png)
    found = split_segments(grey, next(iter(find_grid(grey)))) or []
    told = "".join(one.text for one in found if isinstance(one, KnownSegment))
    assert told.rstrip(" ") == "====\n────────\n______"


def test_wide_signs_take_two_cells() -> None:
    table = load_glyphs()
    assert on_cells("白色", [False] * 4, table) == "白色"
    assert on_cells("白 色", [False] * 4, table) == "白色"
    assert on_cells("白色", [False, False, True, False, False], table) == "白 色"
    assert on_cells("白色", [False] * 5, table) == ""
    assert on_cells("白色", [False] * 2, table) == ""


def test_a_wide_sign_whose_right_half_is_blank_leaves_no_blank_behind() -> None:
    found = read(page("世界。 ok\n世界。\nok"), FakeEngine(["世界。ok", "世界。", "ok"]))
    assert found is not None
    assert found.text == "世界。 ok\n世界。\nok"


def test_chinese_punctuation_is_told_by_its_width() -> None:
    found = read(page("你好，世界。"), FakeEngine(["你好,世界。"]))
    assert found is not None
    assert found.text == "你好，世界。"


def test_progress_is_told_and_may_stop_it() -> None:
    seen: list[tuple[int, int]] = []
    text = "\n".join(f"line {n}" for n in range(9))
    read(page(text), FakeEngine([f"line {n}" for n in range(9)]), seen)
    assert seen == [(6, 9), (9, 9)]

    class Enough(Exception): ...

    def stop(done: int, of: int) -> None:
        raise Enough

    engine = FakeEngine([f"line {n}" for n in range(9)])
    grey = decode_grey(page(text))
    with pytest.raises(Enough):
        read_on_grid(grey, next(iter(find_grid(grey))), engine, stop)
    assert len(engine.crops) == 6


def test_a_picture_without_a_sign_of_ours_has_no_lines_of_ours() -> None:
    grey = decode_grey(page(TEXT))
    grid = next(iter(find_grid(grey)))
    nothing = grey.copy()
    nothing[:] = 255
    assert split_segments(nothing, grid) is None
