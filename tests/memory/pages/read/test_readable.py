"""Our pages for people are told by their look, and nothing else is taken for one."""

import io

import numpy as np
import pytest
from PIL import Image, ImageDraw

from memory.pages.read.readable import HeaderlessPage, mode_of_layout, refuse_for_people
from memory.pages.read.reader import read_picture
from memory.pages.render.modes import DENSE_MODES, MODES, Mode
from memory.pages.render.png import decode_grey
from memory.pages.render.readable import natural_page
from tests.memory.archive.ocr_fakes import FakeEngine, page, redrawn

TEXT = "Dear Ann, the boiler is serviced in May and the ferry is late.\n" * 40
ALL = [*MODES.values(), *DENSE_MODES.values()]


@pytest.mark.parametrize("mode", ALL, ids=str)
def test_a_page_for_people_is_known_by_its_look(mode: Mode) -> None:
    with pytest.raises(HeaderlessPage) as raised:
        refuse_for_people(natural_page(TEXT, mode, "Trip planning"))
    assert "This is a page for people of “Trip planning”, without a header" in raised.value.message
    assert raised.value.hint.endswith("palimpsest recall 'Trip planning'")


@pytest.mark.parametrize("engine", ["auto", "nearest"])
def test_the_chain_tells_it_before_it_looks_long(engine: str) -> None:
    with pytest.raises(HeaderlessPage):
        read_picture(natural_page(TEXT, MODES["tiny"], "loco"), engine=engine, ocr=FakeEngine([]))


def test_it_is_known_scaled_inverted_and_as_jpeg() -> None:
    def smaller(image: Image.Image) -> Image.Image:
        return image.resize((768, 768), Image.Resampling.LANCZOS)

    png = natural_page(TEXT, MODES["base"], "loco")
    shrunk = redrawn(png, smaller)
    file = io.BytesIO()
    Image.open(io.BytesIO(shrunk)).save(file, "JPEG", quality=60)
    dark = redrawn(png, lambda image: image.point([210 - value * 180 // 255 for value in range(256)]))
    for picture in (shrunk, file.getvalue(), dark):
        with pytest.raises(HeaderlessPage) as raised:
            refuse_for_people(picture)
    assert "palimpsest recall LABEL" in raised.value.hint or "loco" in raised.value.hint


def test_no_other_picture_is_taken_for_one() -> None:
    table = Image.new("L", (1024, 1024), 255)
    pen = ImageDraw.Draw(table)
    for at in range(0, 1024, 128):
        pen.line((at, 0, at, 1024), fill=0)
        pen.line((0, at, 1024, at), fill=0)
    noise = np.random.default_rng(1).integers(0, 256, (512, 512), np.uint8)
    others = [np.asarray(table), noise, np.zeros((512, 512), np.uint8), np.full((512, 512), 255, np.uint8)]
    for mode in ALL:
        others.append(decode_grey(page(TEXT * 200, mode=mode)))
    for grey in others:
        assert mode_of_layout(grey) is None
