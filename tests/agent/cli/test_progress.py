"""What is being done to a picture is told on a terminal, on one line that is gone afterwards."""

import io
import sys
from pathlib import Path

import pytest
from PIL import Image

from agent.cli.progress import ReadingProgress
from memory.errors import NotAPage
from memory.pages.read.reader import read_picture
from tests.memory.archive.ocr_fakes import FakeEngine


class FakeTerminal(io.StringIO):
    """Standard error as a screen, or as a pipe."""

    def __init__(self, *, screen: bool) -> None:
        super().__init__()
        self._screen = screen

    def isatty(self) -> bool:
        return self._screen


def shown(monkeypatch: pytest.MonkeyPatch, *, screen: bool) -> str:
    terminal = FakeTerminal(screen=screen)
    monkeypatch.setattr(sys, "stderr", terminal)
    with ReadingProgress("scan\x1b.png") as progress:
        progress.stage("read a second time, by rapidocr")
        progress.lines(6, 30)
    return terminal.getvalue()


def test_a_screen_shows_from_the_first_moment_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    told = shown(monkeypatch, screen=True)
    first, second, third, *end = told.split("\r")[1:]
    assert first.strip().endswith("reading …")
    assert second.strip().endswith("read a second time, by rapidocr …")
    assert third.strip().endswith("read a second time, by rapidocr: 6 of 30 lines …")
    assert "".join(end).strip() == ""
    assert len(end[0]) >= len(third)
    assert "\x1b" not in told


def test_a_pipe_hears_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, screen=False) == ""


def test_the_chain_says_each_step_that_takes_long(tmp_path: Path) -> None:
    photo = tmp_path / "photo.png"
    Image.new("L", (300, 200), 255).save(photo)
    steps = list[str]()
    read_picture(photo, ocr=lambda: FakeEngine(["hello"]), on_stage=steps.append)
    assert steps == ["looking for a page that was scaled, cut or photographed", "not a Palimpsest page; read by fake"]
    with pytest.raises(NotAPage):
        read_picture(photo, ocr=lambda: None)
