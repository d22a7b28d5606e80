"""`palimpsest recall` on pictures that hold no text, or no picture; and Ctrl+C while one is read."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from PIL import Image

from agent.cli.progress import interruptible
from agent.services.live_search import find_rows
from agent.services.recall import NO_TEXT, recall_markdown
from foundation.paths import Workspace
from memory.memory import Memory
from memory.pages.render.modes import MODES
from memory.pages.render.readable import natural_page
from models.ocr import open as opening
from tests.agent.conftest import Run
from tests.fakes import FakeClock
from tests.memory.archive.ocr_fakes import FakeEngine


def at_hand(*_: object) -> FakeEngine:
    return FakeEngine([], lines=False)


@pytest.fixture
def sky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(opening, "installed_engine", at_hand)
    path = tmp_path / "sky.png"
    Image.new("RGB", (300, 200), (90, 140, 200)).save(path)
    return path


def test_a_picture_without_words_is_told_and_nothing_is_found(bare: Run, sky: Path) -> None:
    said = bare("recall", str(sky), "--json")
    assert (said.status, said.json["found"], said.json["total"], said.json["hits"]) == (0, False, 0, [])
    said = bare("recall", str(sky))
    assert (said.status, said.raw) == (0, b"")
    assert NO_TEXT in said.err
    assert "remembered" not in said.err


def test_the_list_and_the_slash_command_tell_it_too(workspace: Workspace, clock: FakeClock, sky: Path) -> None:
    with closing(Memory.open(workspace, clock)) as memory:
        assert find_rows(memory, str(sky)).error == NO_TEXT
        assert recall_markdown(memory, str(sky)) == NO_TEXT


@pytest.mark.parametrize("data", [b"", b"hello"])
def test_a_file_that_is_no_picture_is_told_in_plain_words(bare: Run, sky: Path, data: bytes) -> None:
    sky.write_bytes(data)
    error = bare("recall", str(sky), "--json").json["error"]
    assert error["message"].startswith("The file is")
    assert "0x" not in error["message"]


def test_a_page_for_people_names_the_command_that_has_its_text(bare: Run, tmp_path: Path) -> None:
    path = tmp_path / "loco-natural-0001.png"
    path.write_bytes(natural_page("hello\n" * 90, MODES["tiny"], "loco"))
    error = bare("recall", str(path), "--json").json["error"]
    assert "page for people" in error["message"]
    assert "palimpsest recall loco" in error["hint"]


def test_work_apart_gives_what_it_gives_and_raises_what_it_raises() -> None:
    assert interruptible(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)


HARD_OF_HEARING = """
import sys, time
from agent.services import recall as recalling
from agent.cli import main
def deaf(*_, **__):  # a library that computes and does not listen
    print("reading", flush=True)
    while True:
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            pass
recalling.recall_picture = deaf
sys.exit(main(None, ["recall", "page.png"]))
"""


@pytest.mark.skipif(os.name == "nt", reason="an interrupt cannot be sent to one process alone there")
def test_an_interrupt_ends_a_reading_at_once_although_its_library_does_not_listen() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HARD_OF_HEARING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "reading\n"
        began = time.monotonic()
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=8)
    assert program.returncode == 130
    assert said.strip() == "Interrupted."
    assert time.monotonic() - began < 5  # half a second on an idle machine
