"""The second reader: pages rescaled, compressed, cut, within other pictures; exact by the hash or not at all."""

import io
import json
import random
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from foundation.trust import Trust
from memory.errors import NotAPage
from memory.pages.read import exact
from memory.pages.read.grid import detect, phase
from memory.pages.read.nearest import reader
from memory.pages.read.nearest.reader import read_nearest
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import mode_named
from memory.pages.render.page import page_sheets, render_page
from tests.examples import examples

SCALING = Image.Resampling
RELEASED = next(
    folder / "data/released-0.1.0" for folder in Path(__file__).parents if (folder / "data/released-0.1.0").exists()
)
ENGLISH = "The quick brown fox jumps over the lazy dog, 1,024 times a day.\n\tif x != 0x1f: return {y[3]}\n" * 12
CHINESE = "敏捷的棕色狐狸跳过了懒狗。今天天气很好，我们一起去公园散步；记忆、页面与上下文。\n" * 20
MIXED = "memory 记忆 ── Ελλάδα Москва naïve 🦊 ├── café 한국어 \ue000 x\n" * 18
pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]  # a busy machine takes ten times as long
TEXTS = {"english": ENGLISH, "chinese": CHINESE, "mixed": MIXED}


@cache
def page(kind: str = "english", mode: str = "tiny", dense: bool = False) -> tuple[Image.Image, str]:
    sheet = next(iter(page_sheets([LayoutText(TEXTS[kind])], mode_named(mode, dense))))
    picture = Image.open(io.BytesIO(render_page(sheet, "pg_0123456789ab", 1).png)).convert("L")
    return picture, sheet.text


def saved(picture: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def scaled(picture: Image.Image, factor: float, kernel: SCALING, down: float | None = None) -> Image.Image:
    size = (round(picture.width * factor), round(picture.height * (down or factor)))
    return picture.resize(size, kernel)


def shot(picture: Image.Image, ground: int = 40, at: tuple[int, int] = (83, 61)) -> Image.Image:
    """A larger screenshot with other things on it."""
    whole = Image.new("L", (picture.width + 240, picture.height + 150), ground)
    pen = ImageDraw.Draw(whole)
    pen.rectangle((0, 0, whole.width, 30), fill=90)
    pen.text((12, 8), "File  Edit  View  Window  Help", fill=230)
    pen.ellipse((whole.width - 90, 60, whole.width - 20, 130), fill=160)
    whole.paste(picture, at)
    return whole


@pytest.mark.parametrize(
    ("kind", "factor", "kernel"),
    [
        ("english", 0.75, SCALING.BICUBIC),
        pytest.param("chinese", 0.75, SCALING.LANCZOS, marks=pytest.mark.soak),
        ("mixed", 1.37, SCALING.BILINEAR),
    ],
)
def test_a_rescaled_page_is_exact(kind: str, factor: float, kernel: SCALING) -> None:
    picture, text = page(kind)
    reading = read_nearest(saved(scaled(picture, factor, kernel)))
    assert (reading.text, reading.trust, reading.doubt) == (text, Trust.EXACT, ())


@pytest.mark.parametrize(
    ("factor", "most_wrong"), [pytest.param(0.9, 0.01, marks=pytest.mark.soak), (1.25, 0.0), (2.1, 0.0)]
)
def test_a_rescaled_dense_page_is_read(factor: float, most_wrong: float) -> None:
    picture, text = page("english", dense=True)
    reading = read_nearest(saved(scaled(picture, factor, SCALING.LANCZOS)))
    wrong = sum(one != other for one, other in zip(reading.text, text, strict=True))
    assert wrong <= len(text) * most_wrong
    assert (reading.trust is Trust.EXACT) == (reading.text == text)


@pytest.mark.parametrize(
    ("kind", "quality"), [pytest.param("english", 15, marks=pytest.mark.soak), ("chinese", 30), ("mixed", 50)]
)
def test_a_page_saved_as_jpeg_is_exact(kind: str, quality: int) -> None:
    picture, text = page(kind)
    reading = read_nearest(saved(picture, "JPEG", quality=quality))
    assert (reading.text, reading.trust) == (text, Trust.EXACT)


DAMAGE = {
    "webp": lambda p: saved(scaled(p, 1.5, SCALING.LANCZOS), "WEBP", quality=40),
    "transparent": lambda p: saved(scaled(p, 1.25, SCALING.LANCZOS).convert("RGBA")),
    "nearest neighbour": lambda p: saved(scaled(p, 1.6, SCALING.NEAREST)),
    "light on dark": lambda p: saved(scaled(p, 0.9, SCALING.LANCZOS).point(lambda grey: 255 - grey)),
    "a dark theme's greys": lambda p: saved(
        scaled(p, 1.2, SCALING.LANCZOS).point(lambda grey: 210 - grey * 180 // 255)
    ),
    "a little narrower": lambda p: saved(scaled(p, 1.3, SCALING.BICUBIC, down=1.34)),
    "3.3 times as large": lambda p: saved(scaled(p, 3.3, SCALING.BICUBIC)),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_other_ways_of_damaging_a_page_leave_it_exact(damage: str) -> None:
    picture, text = page("mixed")
    reading = read_nearest(DAMAGE[damage](picture))
    assert (reading.text, reading.trust) == (text, Trust.EXACT)


@pytest.mark.parametrize(
    ("factor", "at", "ground"), [pytest.param(0.8, (83, 61), 30, marks=pytest.mark.soak), (1.43, (7, 39), 30)]
)
def test_a_page_somewhere_in_a_screenshot_is_exact(factor: float, at: tuple[int, int], ground: int) -> None:
    picture, text = page("mixed")
    whole = shot(scaled(picture, factor, SCALING.BICUBIC), ground, at)
    with pytest.raises(NotAPage):
        exact.read_exact(saved(whole))
    reading = read_nearest(saved(whole))
    assert (reading.text, reading.trust) == (text, Trust.EXACT)


def test_a_crop_that_lost_the_last_rows_gives_what_is_left_and_says_so() -> None:
    picture, text = page("english")
    cut = scaled(picture, 1.25, SCALING.BICUBIC).crop((0, 0, 640, 300))
    reading = read_nearest(saved(cut))
    assert reading.trust is Trust.APPROXIMATE
    assert reading.header is not None
    assert len(reading.text) > 700
    assert text.startswith(reading.text)
    assert reading.text.count("\n") + 1 in reading.doubt


def without_header(kind: str) -> tuple[Image.Image, str]:
    """The page from a little below its sixth row of cells, and its whole text."""
    picture, text = page(kind)
    return picture.crop((0, 5 * 16 + 3, picture.width, picture.height)), text


@pytest.mark.parametrize("factor", [1.0, pytest.param(0.83, marks=pytest.mark.soak)])
def test_a_page_that_lost_its_header_is_found_by_its_glyphs(factor: float) -> None:
    picture, text = without_header("english")
    reading = read_nearest(saved(picture if factor == 1 else scaled(picture, factor, SCALING.LANCZOS)))
    lines = reading.text.split("\n")
    assert len(lines) > 8
    assert text.rstrip().endswith("\n".join(lines[1:]).rstrip())
    assert (reading.trust, reading.header) == (Trust.APPROXIMATE, None)
    assert reading.doubt == tuple(range(1, len(lines) + 1))


@pytest.mark.soak
def test_a_page_that_lost_its_left_columns_too_gives_the_right_ones() -> None:
    picture, _ = without_header("mixed")
    reading = read_nearest(saved(picture.crop((21, 0, picture.width, picture.height))))
    assert reading.trust is Trust.APPROXIMATE
    assert reading.text.count("Москва naïve 🦊 ├── café 한국어") > 5


@pytest.mark.soak
def test_glyphs_that_do_not_fit_are_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    picture, _ = without_header("english")
    monkeypatch.setattr(reader, "_CLOSELY", 0.0)
    with pytest.raises(NotAPage):
        read_nearest(saved(picture))


def test_cells_that_look_like_no_glyphs_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another font in lines sixteen pixels high; switched off, its cells are fitted, which takes time."""
    other = Image.new("L", (512, 512), 255)
    for line in range(32):
        ImageDraw.Draw(other).text((0, line * 16), "rows of words that stand in no cells at all " * 2, fill=0)
    grey = np.asarray(other)
    assert not list(detect.find_grid(grey))
    monkeypatch.setattr(phase, "_LIKE", 0.0)
    monkeypatch.setattr(phase, "_HARDLY", 0.0)
    assert list(detect.find_grid(grey))


def test_a_page_of_the_first_release_is_exact_when_rescaled() -> None:
    picture = Image.open(RELEASED / "full.png").convert("L")
    reading = read_nearest(saved(scaled(picture, 1.3, SCALING.BICUBIC), "JPEG", quality=70))
    assert reading.header is not None
    assert (reading.header.version, reading.trust) == (1, Trust.EXACT)
    assert reading.text == json.loads((RELEASED / "texts.json").read_text("ascii"))["full"]


def test_a_page_cut_below_is_not_taken_for_a_squeezed_one() -> None:
    picture, text = page("english")
    reading = read_nearest(saved(picture.crop((0, 0, 512, 500))))
    assert text.startswith(reading.text)
    assert reading.grid is not None
    assert reading.grid.cell_height == pytest.approx(16, abs=0.01)


def test_a_crop_that_lost_blank_rows_alone_is_exact() -> None:
    sheet = next(iter(page_sheets([LayoutText("short and sweet\n" * 9)], mode_named("tiny"))))
    picture = Image.open(io.BytesIO(render_page(sheet, "pg_0123456789ab", 1).png)).convert("L")
    reading = read_nearest(saved(picture.crop((0, 0, 512, 211))))
    assert (reading.text, reading.trust) == (sheet.text, Trust.EXACT)


@settings(max_examples=examples(2), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0003, 0.001, 0.02]))
def test_flipped_pixels_are_read_through_and_exact_only_where_the_text_is(seed: int, share: float) -> None:
    picture, text = page("english")
    dice = np.random.default_rng(seed)
    pixels = np.asarray(picture).copy()
    flipped = dice.random(pixels.shape) < share
    pixels[flipped] = 255 - pixels[flipped]
    reading = read_nearest(saved(Image.fromarray(pixels)))
    assert (reading.trust is Trust.EXACT) == (reading.text == text)
    assert bool(reading.doubt) == (reading.trust is Trust.APPROXIMATE)
    if share <= 0.001 and len(reading.text) == len(text):
        wrong = sum(one != other for one, other in zip(reading.text, text, strict=True))
        assert wrong <= len(text) * 0.01


def test_another_pages_text_under_a_header_is_never_exact() -> None:
    picture, _ = page("english")
    other, _ = page("mixed")
    forged = other.copy()
    forged.paste(picture.crop((0, 0, 512, 32)), (0, 0))
    reading = read_nearest(saved(scaled(forged, 0.9, SCALING.LANCZOS)))
    assert reading.trust is Trust.APPROXIMATE
    assert reading.doubt


def test_without_the_hash_it_would_be_given_out_as_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    picture, _ = page("english")
    other, _ = page("mixed")
    forged = other.copy()
    forged.paste(picture.crop((0, 0, 512, 32)), (0, 0))
    header = read_nearest(saved(picture)).header
    assert header is not None
    monkeypatch.setattr(reader, "text_digest", lambda text: bytes.fromhex(header.sha256))
    assert read_nearest(saved(scaled(forged, 0.9, SCALING.LANCZOS))).trust is Trust.EXACT


@pytest.mark.soak
def test_what_is_in_doubt_is_tried_until_the_hash_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    picture, text = page("mixed")
    # two signs that differ in a mark of one pixel stand so that blur takes the mark for the neighbour's
    blurred = saved(shot(scaled(picture, 0.8, SCALING.BICUBIC), 255))
    repaired = read_nearest(blurred)
    monkeypatch.setattr(reader, "_MOST_TRIED", 0)
    as_read = read_nearest(blurred)
    assert (repaired.text, repaired.trust) == (text, Trust.EXACT)
    assert as_read.trust is Trust.APPROXIMATE


def photo(width: int, height: int) -> bytes:
    """Smooth shapes, noise, and a few lines of another font."""
    dice = random.Random(5)
    noise = np.random.default_rng(5).normal(128, 40, (height // 8, width // 8)).clip(0, 255).astype(np.uint8)
    picture = Image.fromarray(noise).resize((width, height), SCALING.BICUBIC)
    pen = ImageDraw.Draw(picture)
    for line in range(20):
        pen.text((dice.randrange(width // 2), line * 40), "a sign that somebody else put up", fill=0)
    return saved(picture, "JPEG", quality=80)


def test_a_photo_is_no_page_and_said_so_at_once() -> None:
    picture = photo(4000, 3000)
    began = time.process_time()
    with pytest.raises(NotAPage):
        read_nearest(picture)
    assert time.process_time() - began < 8  # CPU of both cores; about one second alone


def test_other_pictures_are_no_pages() -> None:
    noise = Image.fromarray(np.random.default_rng(3).integers(0, 256, (512, 512), np.uint8))
    other_font = Image.new("L", (640, 640), 255)
    pen = ImageDraw.Draw(other_font)
    for line in range(40):
        pen.text((0, line * 16), "PALIMPSEST is a word that anybody may write down, " * 3, fill=0)
    for picture in (noise, other_font, Image.new("L", (512, 512), 255), Image.new("L", (3, 2), 90)):
        with pytest.raises(NotAPage):
            read_nearest(saved(picture))
