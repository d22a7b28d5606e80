"""Reading the words in a picture, where an engine is installed."""

from io import BytesIO

import pytest
from PIL import Image, ImageDraw, ImageFont

from models.errors import MissingLibrary, UnreadableImage
from models.ocr import open as opening
from models.ocr.port import Line, Reading
from models.ocr.rapidocr import RapidOcr


def line(text: str, left: float, top: float) -> Line:
    return Line(text, (left, top, left + 50, top + 20), 0.9)


def test_a_page_is_read_in_rows_from_the_top() -> None:
    lines = (line("right", 200, 12), line("below", 10, 60), line("left", 10, 10))
    assert Reading("e", lines).text == "left  right\nbelow"


def test_nothing_is_nothing() -> None:
    assert Reading("e", ()).text == ""


def test_without_the_library_one_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rapidocr", None)
    with pytest.raises(MissingLibrary) as raised:
        RapidOcr().read(b"")
    assert "palimpsest-shell[rapidocr]" in raised.value.hint


def test_no_engine_is_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda _: None)
    assert opening.installed_engine() is None


@pytest.fixture(scope="module")
def engine() -> RapidOcr:
    pytest.importorskip("rapidocr", reason="the extra `rapidocr` is not installed")
    return RapidOcr()


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_printed_words_are_read(engine: RapidOcr, capfd: pytest.CaptureFixture[str]) -> None:
    picture = Image.new("RGB", (640, 160), "white")
    draw = ImageDraw.Draw(picture)
    for top, words in ((20, "The ferry leaves at 09:40"), (90, "Gate B22, bring a scarf.")):
        draw.text((20, top), words, fill="black", font=ImageFont.load_default(32))
    file = BytesIO()
    picture.save(file, "PNG")
    assert engine.read(file.getvalue()).text == "The ferry leaves at 09:40\nGate B22, bring a scarf."
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_is_no_picture_is_said(engine: RapidOcr) -> None:
    with pytest.raises(UnreadableImage):
        engine.read(b"not a picture")
