"""Tesseract, where the library and its data are installed; how its data is found, everywhere."""

import sys
from pathlib import Path

import pytest

from models.errors import MissingLibrary, UnreadableImage
from models.ocr import tesseract
from models.ocr.tesseract import Tesseract, find_data, languages_in
from tests.models.ocr.images import FERRY, crop, printed

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


def data_in(folder: Path, *languages: str) -> Path:
    folder.mkdir(parents=True)
    for name in languages:
        (folder / f"{name}.traineddata").write_bytes(b"")
    return folder


def test_the_data_is_where_the_environment_says(tmp_path: Path) -> None:
    folder = data_in(tmp_path / "here" / "tessdata", "eng", "chi_sim")
    for given in (folder, folder.parent):  # both are in use
        assert find_data({"TESSDATA_PREFIX": str(given)}) == folder
    assert languages_in(folder) == ("eng", "chi_sim")


@pytest.mark.parametrize("root", ["PROGRAMFILES", "LOCALAPPDATA"])
def test_the_data_is_where_windows_puts_it(tmp_path: Path, root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = data_in(tmp_path / "Tesseract-OCR" / "tessdata", "eng")
    real = languages_in
    monkeypatch.setattr(tesseract, "languages_in", lambda one: real(one) if one.is_relative_to(tmp_path) else ())
    assert find_data({root: str(tmp_path)}) == folder


def test_a_folder_without_a_language_of_ours_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = data_in(tmp_path / "tessdata", "osd")
    monkeypatch.setattr(tesseract, "_usual_places", lambda _: [])
    assert find_data({"TESSDATA_PREFIX": str(folder)}) is None


@pytest.mark.parametrize(
    ("platform", "command"),
    [("linux", "apt install tesseract-ocr-eng"), ("darwin", "brew install"), ("win32", "winget install")],
)
def test_missing_data_has_its_command(platform: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tesserocr", sys)  # any module: it is not reached
    monkeypatch.setattr(tesseract, "find_data", lambda _: None)
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(MissingLibrary) as raised:
        Tesseract().read_lines([printed("x")])
    assert command in raised.value.hint


def test_without_the_library_one_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tesserocr", None)
    with pytest.raises(MissingLibrary) as raised:
        Tesseract().read(printed("x"))
    assert "palimpsest-shell[tesseract]" in raised.value.hint


@pytest.fixture(scope="module")
def engine() -> Tesseract:
    pytest.importorskip("tesserocr", reason="the extra `tesseract` is not installed")
    if find_data({}) is None:
        pytest.skip("tesserocr is here, its language data is not (apt install tesseract-ocr-eng)")
    return Tesseract({})


def test_printed_words_are_read(engine: Tesseract, capfd: pytest.CaptureFixture[str]) -> None:
    found = engine.read(printed(*FERRY))
    assert found.text == "\n".join(FERRY)
    assert all(line.score > 0.8 for line in found.lines)
    assert capfd.readouterr() == ("", "")


def test_crops_of_single_lines_are_read_in_their_order(engine: Tesseract) -> None:
    assert [line.text for line in engine.read_lines([crop(words) for words in FERRY])] == list(FERRY)
    assert engine.read(printed(*FERRY)).text == "\n".join(FERRY)  # the whole page again, after lines


def test_what_is_no_picture_is_said(engine: Tesseract) -> None:
    with pytest.raises(UnreadableImage):
        engine.read(b"not a picture")
