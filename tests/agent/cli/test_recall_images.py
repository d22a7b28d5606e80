"""`palimpsest recall` on pictures: by any reader, several at once, with the entry and the line."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PIL import Image

from memory.pages.render.entry_heads import EntryHead
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import TINY
from memory.pages.render.page import page_sheets, render_page
from models.ocr import open as opening
from tests.agent.conftest import Run
from tests.memory.archive.ocr_fakes import FakeEngine

ASKED = EntryHead("e_4kx7m2p0q9ab", "Ann", "user", datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC))
SAID = EntryHead("e_4kx7m2p0q9ac", "", "assistant", datetime(2026, 3, 14, 9, 27, 10, tzinfo=UTC))


ENGINE = FakeEngine([], lines=False, written="Gate B22\nkey 0f3a9c77e1", warnings=("It was dark.",))


@pytest.fixture
def talked(tmp_path: Path) -> Path:
    """A page of a conversation, under a name that tells nothing."""
    stretches = [LayoutText("When does it leave?\nAnd from where?", ASKED), LayoutText("At 09:40.", SAID)]
    (sheet,) = page_sheets(stretches, TINY)
    path = tmp_path / "scan0001.png"
    path.write_bytes(render_page(sheet, "pg_abcdefghijkl", 1).png)
    return path


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.jpg"
    Image.new("RGB", (300, 200), "white").save(path)
    return path


@pytest.fixture
def fake_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "installed_engine", lambda *_: ENGINE)
    monkeypatch.setattr(opening, "engine_named", lambda *_: ENGINE)


def test_a_conversations_page_gives_each_entry_and_its_lines(bare: Run, talked: Path) -> None:
    (hit,) = bare("recall", str(talked), "--json").json["hits"]
    assert (hit["id"], hit["trust"], hit["engine"], hit["doubt"]) == ("pg_abcdefghijkl", "exact", "cells", [])
    assert hit["passages"] == [
        {
            "entry": "e_4kx7m2p0q9ab",
            "speaker": "Ann",
            "role": "user",
            "time": "2026-03-14T09:26:53Z",
            "line": 1,
            "text": "When does it leave?\nAnd from where?",
        },
        {
            "entry": "e_4kx7m2p0q9ac",
            "speaker": "",
            "role": "assistant",
            "time": "2026-03-14T09:27:10Z",
            "line": 1,
            "text": "At 09:40.",
        },
    ]


def test_a_person_is_told_the_entry_and_its_lines(bare: Run, talked: Path) -> None:
    said = bare("recall", str(talked))
    assert "[Ann · 2026-03-14 · e_4kx7m2p0q9ab#L1-L2]" in said.err
    assert "[assistant · 2026-03-14 · e_4kx7m2p0q9ac#L1-L1]" in said.err
    assert "exact, read from its pixels in" in said.err
    assert said.out.endswith("At 09:40.")


@pytest.mark.usefixtures("fake_engine")
def test_a_picture_that_is_not_ours_is_read_by_the_engine_at_hand(bare: Run, photo: Path) -> None:
    (hit,) = bare("recall", str(photo), "--json").json["hits"]
    assert (hit["text"], hit["trust"], hit["engine"]) == ("Gate B22\nkey 0f3a9c77e1", "approximate", "fake")
    assert (hit["kind"], hit["doubt"], hit["told"]) == ("file", [2], ["It was dark."])
    said = bare("recall", str(photo))
    assert "It was dark." in said.err
    assert "approximate, read by fake in" in said.err
    assert "uncertain lines: 2" in said.err


@pytest.mark.usefixtures("fake_engine")
def test_several_pictures_are_read_one_after_the_other(bare: Run, talked: Path, photo: Path) -> None:
    found = bare("recall", str(photo), str(talked), "--json").json
    assert [hit["engine"] for hit in found["hits"]] == ["fake", "cells"]
    assert (found["found"], found["total"]) == (True, 2)


def test_of_several_one_that_cannot_be_read_stops_no_other(bare: Run, talked: Path, tmp_path: Path) -> None:
    said = bare("recall", str(tmp_path / "gone.png"), str(talked), "--json")
    assert said.status == 1
    assert [hit["id"] for hit in json.loads(said.out)["hits"]] == ["pg_abcdefghijkl"]
    assert "gone.png" in said.err


def test_one_that_cannot_be_read_is_an_error(bare: Run, tmp_path: Path) -> None:
    said = bare("recall", str(tmp_path / "gone.png"), "--json")
    assert said.status == 1
    assert set(said.json) == {"schema", "error"}


def test_without_an_engine_the_one_command_is_named(bare: Run, photo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda _: None)
    said = bare("recall", str(photo), "--json")
    assert said.status == 1
    assert "palimpsest-shell[rapidocr]" in said.json["error"]["hint"]


def test_a_setting_chooses_who_reads(bare: Run, photo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_MODELS_OCR_ENGINE", "server")
    said = bare("recall", str(photo), "--json")
    assert said.status == 2
    assert "models.ocr_server" in said.json["error"]["hint"]


@pytest.mark.parametrize("words", [("one", "two"), ("one", "--engine", "cells")])
def test_a_question_is_one_argument_and_has_no_engine(run: Run, words: tuple[str, ...]) -> None:
    assert run("recall", *words, "--json").status == 2


def test_our_own_page_loads_no_engine(bare: Run, talked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "installed_engine", lambda *_: pytest.fail("an engine was looked for"))
    assert bare("recall", str(talked)).status == 0


def test_the_command_offers_every_reader() -> None:
    from agent.cli.recall import READERS
    from memory.pages.read import reader

    assert READERS == reader.READERS
