"""Damaged and forged pages: the rest is found, and none of them is taken for what was said."""

import json
import random
from pathlib import Path

import pytest

from memory.archive.packs.pack import Pack
from memory.archive.packs.storage import LocalStorage
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import TINY
from memory.pages.render.page import page_sheets, render_page
from tests.agent.conftest import Run

BIRD = "The secret bird is a heron in the reeds."


@pytest.fixture
def two_birds(run: Run, tmp_path: Path) -> Run:
    """A page about the bird, and a line said about it."""
    (tmp_path / "bird.txt").write_text(BIRD)
    (tmp_path / "talk.jsonl").write_text('{"id": "t1", "text": "I saw the secret bird, a grey heron, by the pond."}\n')
    assert run("import", str(tmp_path / "talk.jsonl")).status == 0
    return run


def spoil(root: Path) -> None:
    """Flips bytes in the middle of each page's frame; the pack's list stays whole."""
    for pack in (root / ".palimpsest" / "packs").glob("*.pages"):
        raw = bytearray(pack.read_bytes())
        for leaf in Pack(LocalStorage(pack.parent), pack.name).pages:
            raw[leaf.offset + 20 : leaf.offset + 60] = random.Random(7).randbytes(40)
        pack.write_bytes(raw)


def test_a_damaged_page_is_left_out_and_told_and_the_rest_is_found(two_birds: Run, root: Path, tmp_path: Path) -> None:
    two_birds("archive", str(tmp_path / "bird.txt"), "--no-text")
    spoil(root)
    for command in ("recall", "search"):
        said = two_birds(command, "secret bird heron", "--json")
        assert said.status == 0
        assert [hit["id"] for hit in said.json["hits"]] == ["t1"]
        assert said.err.count("is damaged") == 1
        assert "palimpsest check" in said.err
        assert "zstd" not in said.out
    answered = two_birds("-p", "What is the secret bird, the heron?", "--output-format", "json")
    assert "Packed data" not in json.dumps(answered.json)
    assert "pond" in answered.json["text"]
    assert answered.err.count("is damaged") == 1


def test_where_nothing_else_is_found_the_damage_is_an_error_with_a_way_out(
    run: Run, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "bird.txt").write_text(BIRD)
    page = run("archive", str(tmp_path / "bird.txt"), "--no-text", "--json").json["pages"][0]["id"]
    spoil(root)
    for asked in ("secret bird heron", page):
        error = run("recall", asked, "--json").json["error"]
        assert error["code"] == "damaged"
        assert page in error["message"]
        assert error["hint"]


def test_a_damaged_page_is_read_from_the_text_kept_beside_it(two_birds: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "bird.txt").write_text(("Nothing here. " * 2000) + BIRD)
    two_birds("archive", str(tmp_path / "bird.txt"))
    spoil(root)
    said = two_birds("recall", "secret bird heron reeds", "--json")
    hit = next(hit for hit in said.json["hits"] if hit["kind"] == "page")
    assert hit["text"].endswith(BIRD)
    assert (hit["trust"], hit["engine"]) == ("exact", "stored")
    assert "memory/archive" in said.err
    assert two_birds("check").status == 1
    kept = root / "memory" / "archive" / "bird.md"
    kept.write_text("Edited. " + kept.read_text())
    hits = two_birds("recall", "secret bird heron reeds", "--json").json["hits"]
    assert [hit["id"] for hit in hits] == ["t1"]


def test_a_forged_page_is_not_exact_for_the_workspace_that_knows_it(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "bird.txt").write_text(BIRD)
    page = run("archive", str(tmp_path / "bird.txt"), "--json").json["pages"][0]
    (sheet,) = page_sheets([LayoutText(BIRD.replace("heron", "magpie"))], TINY)
    forged = tmp_path / "forged.png"
    forged.write_bytes(render_page(sheet, page["id"], 1).png)
    said = run("recall", str(forged), "--json")
    (hit,) = said.json["hits"]
    assert (hit["trust"], hit["doubt"]) == ("approximate", [1])
    assert any("altered" in sentence for sentence in hit["told"])
    (true,) = run("recall", page["path"], "--json").json["hits"]
    assert (true["trust"], true["text"]) == ("exact", BIRD)
