"""The cell reader: exact for any text, from the pixels alone, and never exact where a pixel is off."""

import io
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from foundation.trust import Trust
from memory.archive import read_png
from memory.errors import NotAPage, NotFound
from memory.pages.read.exact import UNKNOWN, read_exact
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import DENSE_MODES, MODES, Mode
from memory.pages.render.page import page_sheets, render_page
from memory.pages.render.png import decode, encode_png
from tests.examples import examples

BASE = MODES["base"]
ID = "pg_0123456789ab"
TEXT = "The quick brown fox, 敏捷的棕色狐狸 \ud800 ␛ ↵\r\n\tΑА🦊  \n" * 40


def pages(text: str, mode: Mode = BASE) -> list[bytes]:
    return [render_page(sheet, ID, number).png for number, sheet in enumerate(page_sheets([LayoutText(text)], mode), 1)]


def read_back(text: str, mode: Mode = BASE) -> str:
    readings = [read_exact(png) for png in pages(text, mode)]
    assert {reading.trust for reading in readings} == {Trust.EXACT}
    return "".join(reading.text for reading in readings)


# every scalar, and lone surrogates
any_text = st.text(st.characters(codec=None, categories=None), max_size=3000)
every_mode = st.sampled_from([*MODES.values(), *DENSE_MODES.values()])


@settings(max_examples=examples(120), deadline=None)
@given(any_text, every_mode)
@example("", BASE)
@example("\r\n\r\r\n", BASE)
@example("\x00\x01\x1b[31m\x7f\x85\u2028", DENSE_MODES["tiny"])
@example("␛41; ␛↵↵; ␛", BASE)
@example("␛" * 3000 + ";", DENSE_MODES["tiny"])
@example("\ud83d\ude00 😀", DENSE_MODES["small"])
@example("trailing   \n   ", DENSE_MODES["large"])
@example(" " * 9000, BASE)
@example("مرحبا بالعالم שלום \u202eabc\u202c", BASE)
@example("e\u0301\u0302👨‍👩‍👧‍👦🏳️‍🌈", BASE)
@example("字x" * 5000, BASE)
@example("\U0010ffff" * 3000, BASE)
@example("\ufffd\ufffe\uffff", DENSE_MODES["tiny"])
def test_any_text_comes_back_to_the_last_character(text: str, mode: Mode) -> None:
    assert read_back(text, mode) == text


@settings(max_examples=examples(40), deadline=None)
@given(st.text(st.sampled_from("a字🦊\ue000\ud800␛↵─;\n 0F"), max_size=4000))
def test_text_of_our_own_signs_comes_back_too(text: str) -> None:
    for mode in (MODES["tiny"], DENSE_MODES["tiny"]):
        assert read_back(text, mode) == text


@pytest.mark.timeout(60)
@pytest.mark.parametrize("mode", [MODES["large"], DENSE_MODES["large"]], ids=lambda mode: mode.cell.name)
def test_every_code_point_of_unicode_comes_back(mode: Mode) -> None:
    everything = "".join(map(chr, range(0x110000)))  # 1,112,064 scalars and 2,048 surrogates
    assert read_back(everything, mode) == everything


def test_the_header_says_which_page_it_is() -> None:
    header = read_exact(pages("x" * 9000)[1]).header
    assert header is not None
    assert (header.page, header.number, header.used) == (ID, 2, 9000 - BASE.capacity)


def flipped(png: bytes, y: int, x: int) -> bytes:
    ink = decode(png).copy()
    ink[y, x // 8] ^= 0x80 >> (x % 8)
    return encode_png(ink)


@pytest.mark.parametrize("mode", [BASE, DENSE_MODES["base"]], ids=lambda mode: mode.cell.name)
def test_no_single_flipped_pixel_is_ever_read_as_exact(mode: Mode) -> None:
    (png,) = pages(TEXT[:900], mode)
    side = decode(png).shape[0]
    dice = random.Random(11)
    spots = [(dice.randrange(side), dice.randrange(side)) for _ in range(400)]
    spots += [(side - 1, 7), (side - 1, side - 1), (9, side - 1)]  # the margin, where there is one
    header = [(y, x) for y in range(0, 32, 5) for x in range(0, side, 11)]
    for y, x in spots + header:
        reading = read_exact(flipped(png, y, x))
        assert reading.trust is Trust.APPROXIMATE, (y, x)
        assert reading.doubt


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_no_flip_is_unseen_in_any_row_or_column_of_a_page() -> None:
    (png,) = pages(TEXT[:900])
    side = decode(png).shape[0]
    for y in range(side):
        for x in range(0, side, side // 4):
            assert read_exact(flipped(png, y, (x + y) % side)).trust is Trust.APPROXIMATE, (y, x)


def test_a_flip_that_makes_another_letter_is_told_by_the_hash_alone() -> None:
    (png,) = pages("x A y")
    greek = next(iter(page_sheets([LayoutText("x Α y")], BASE)))
    other = decode(render_page(greek, ID, 1).png)
    ink = decode(png).copy()
    ink[32:48] = other[32:48]  # the text of one page below the header of the other
    reading = read_exact(encode_png(ink))
    assert reading.text == "x Α y"
    assert UNKNOWN not in reading.text
    assert reading.trust is Trust.APPROXIMATE


def test_a_broken_cell_puts_its_own_line_in_doubt() -> None:
    (png,) = pages("one\ntwo\nthree\n")
    ink = decode(png).copy()
    ink[32:48, 5] ^= 0x5A  # the w of two
    reading = read_exact(encode_png(ink))
    assert reading.text == f"one\nt{UNKNOWN}o\nthree\n"
    assert (reading.trust, reading.doubt) == (Trust.APPROXIMATE, (2,))


@pytest.mark.parametrize("mode", [BASE, DENSE_MODES["base"]], ids=lambda mode: mode.cell.name)
def test_a_page_with_a_damaged_header_is_still_read(mode: Mode) -> None:
    (png,) = pages("one\ntwo", mode)
    reading = read_exact(flipped(png, 5, 3))
    assert (reading.text, reading.header, reading.trust) == ("one\ntwo", None, Trust.APPROXIMATE)


def saved(image: Image.Image, kind: str = "PNG", **options) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def with_metadata(image: Image.Image) -> bytes:
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Comment", "palimpsest lies here")
    return saved(image, pnginfo=notes, dpi=(300, 300))


ENCODINGS = {
    "compressed": lambda image: saved(image, optimize=True),
    "grey": lambda image: saved(image.convert("L")),
    "colour": lambda image: saved(image.convert("RGB")),
    "transparent": lambda image: saved(image.convert("RGBA")),
    "grey and alpha": lambda image: saved(image.convert("LA")),
    "palette": lambda image: saved(image.convert("RGB").convert("P")),
    "16 bits": lambda image: saved(Image.fromarray(np.asarray(image.convert("L")).astype(np.uint16) * 257)),
    "webp": lambda image: saved(image.convert("RGB"), "WEBP", lossless=True),
    "bmp": lambda image: saved(image, "BMP"),
    "tiff": lambda image: saved(image, "TIFF"),
    "gif": lambda image: saved(image.convert("L"), "GIF"),
    "metadata": with_metadata,
    "jpeg of quality 90": lambda image: saved(image.convert("L"), "JPEG", quality=90),
    "twice the size": lambda image: saved(image.resize((image.width * 2, image.height * 2), Image.Resampling.NEAREST)),
    "three times, smoothed": lambda image: saved(
        image.convert("L").resize((image.width * 3, image.height * 3), Image.Resampling.BICUBIC)
    ),
}


@pytest.mark.parametrize("mode", [BASE, DENSE_MODES["base"]], ids=lambda mode: mode.cell.name)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_re_encoded_page_is_exact(encoding: str, mode: Mode) -> None:
    (png,) = pages(TEXT[:900], mode)
    with Image.open(io.BytesIO(png)) as image:
        again = ENCODINGS[encoding](image)
    assert again != png
    reading = read_exact(again)
    assert (reading.text, reading.trust) == (TEXT[:900], Trust.EXACT)


def test_a_renamed_picture_in_an_empty_folder_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (png,) = pages(TEXT[:900])
    with Image.open(io.BytesIO(png)) as image:
        (tmp_path / "holiday photo (3).png").write_bytes(ENCODINGS["colour"](image))
    monkeypatch.chdir(tmp_path)
    page = read_png(Path("holiday photo (3).png"))
    assert (page.text, page.trust, page.engine, page.doubt) == (TEXT[:900], Trust.EXACT, "cells", ())
    assert (page.page_id, page.number) == (ID, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["holiday photo (3).png"]


def test_a_picture_of_something_else_is_no_page() -> None:
    noise = np.random.default_rng(3).integers(0, 2, (512, 512), np.uint8) * 255
    for image in (Image.fromarray(noise), Image.new("L", (512, 512), 255), Image.new("L", (300, 200), 90)):
        with pytest.raises(NotAPage):
            read_exact(saved(image))


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_png(tmp_path / "nothing.png")
