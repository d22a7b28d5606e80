"""A page that lost its lower rows: the glyphs' words stand, OCR seconds them, and the grid is the page's own."""

from functools import cache

import pytest
from msgspec.structs import replace

from foundation.trust import Trust
from memory.pages.read.grid.detect import find_grid
from memory.pages.read.nearest.reader import read_nearest
from memory.pages.read.ocr.pages import OcrPageText, read_by_ocr, verify_by_ocr
from memory.pages.read.reader import read_picture
from memory.pages.render.header import PageHeader
from memory.pages.render.modes import MODES, TINY
from memory.pages.render.png import decode_grey
from tests.memory.archive.ocr_fakes import FakeEngine, page, redrawn

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]  # the nearest glyph first loads the table's shapes

ROW = 127  # with its line end such a line fills a row of a base page
SAID = " was said at the pier by the man who keeps the light and counts the ships"
LINES = [f"Line {n} of what{SAID}{SAID}"[:ROW] for n in range(60)]
TEXT = "\n".join(LINES)
LEFT = 31  # rows of text that the crop has: of 32, the header takes one


@cache
def cropped() -> bytes:
    """The upper half: it has the height of a tiny page, and the same first words."""
    return redrawn(page(TEXT, mode=MODES["base"]), lambda image: image.crop((0, 0, 1024, 512)))


def test_the_words_of_a_crop_are_those_above_and_only_its_end_is_in_doubt() -> None:
    engine = FakeEngine(LINES)
    found = read_picture(cropped(), ocr=engine)
    assert engine.crops == []  # it could change nothing
    assert TEXT.startswith(found.text)
    assert found.text.count("\n") >= LEFT - 1
    assert (found.trust, found.engine) == (Trust.APPROXIMATE, "nearest")
    assert found.doubt == (found.text.count("\n") + 1,)


@cache
def first() -> OcrPageText:
    """The glyph reader's word on it."""
    reading = read_nearest(cropped())
    return OcrPageText(
        text=reading.text,
        trust=reading.trust,
        engine="nearest",
        doubt=reading.doubt,
        header=reading.header,
        grid=reading.grid,
        noise=reading.noise,
    )


def test_an_engine_that_is_sure_of_other_words_does_not_take_their_place() -> None:
    engine = FakeEngine([line.replace("said", "sald").replace("man", "rnan") for line in LINES])
    found = verify_by_ocr(first(), cropped(), engine)
    assert TEXT.startswith(found.text)
    assert (found.trust, found.engine) == (Trust.APPROXIMATE, "nearest+fake")
    assert found.doubt == (found.text.count("\n") + 1,)
    assert found.warnings == (f"fake reads 0 of {LEFT} lines alike.",)


def test_an_engine_that_reads_alike_takes_no_doubt_from_where_it_was_cut() -> None:
    unsure = replace(first(), doubt=(3, *first().doubt))
    found = verify_by_ocr(unsure, cropped(), FakeEngine(LINES))
    assert found.text == first().text
    assert (found.trust, found.doubt) == (Trust.APPROXIMATE, first().doubt)
    assert found.warnings == (f"fake reads {LEFT} of {LEFT} lines alike.",)


def test_lines_are_cut_out_on_the_grid_on_which_the_header_reads() -> None:
    assert next(iter(find_grid(decode_grey(cropped())))).columns == TINY.columns  # the wrong one comes first
    engine = FakeEngine(LINES)
    found = read_by_ocr(cropped(), engine)
    assert found.text.rstrip("\n") == "\n".join(LINES[:LEFT])
    assert len(engine.crops) == LEFT


def test_words_that_are_hardly_signs_of_ours_give_way_and_what_differs_is_in_doubt() -> None:
    lost = OcrPageText(text="�b�\nx�z\nsame", trust=Trust.APPROXIMATE, engine="cells", doubt=(1, 2, 3))
    found = verify_by_ocr(lost, page("one\ntwo\nsame"), FakeEngine(["one", "two", "same"]))
    assert (found.text, found.engine, found.doubt) == ("one\ntwo\nsame", "fake", (1, 2))


def test_words_under_a_header_stand_however_few_are_read_alike() -> None:
    header = PageHeader("0" * 8, "pg_abcdefghijkl", 1, 13, "0" * 64, 0)
    one = OcrPageText(text="one\ntwo\nthree", trust=Trust.APPROXIMATE, engine="nearest", doubt=(1, 2, 3), header=header)
    found = verify_by_ocr(one, page("one\ntwo\nthree"), FakeEngine(["ane", "twa", "threa"]))
    assert (found.text, found.doubt) == (one.text, (1, 2, 3))
