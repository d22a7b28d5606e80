"""Words in the id of an imported entry: the id becomes another one, and the text stays, here and on other devices."""

import json
from pathlib import Path

import pytest

from tests.agent.conftest import Run
from tests.memory.forget.bytes_of import places_of

pytestmark = pytest.mark.timeout(60)

TEXT = "an imported second text about the boats in port"


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    file = tmp_path / "far.jsonl"
    file.write_text(json.dumps({"conversation": "x", "id": "zqibble-1", "role": "user", "text": TEXT}), "utf-8")
    return file


def texts(run: Run) -> list[str]:
    return [line["text"] for line in map(json.loads, run("export", "--to", "jsonl").out.splitlines())]


def test_only_the_id_is_replaced_and_an_import_does_not_bring_it_again(run: Run, root: Path, lines: Path) -> None:
    assert run("import", str(lines), "--from", "jsonl").status == 0
    shown = run("forget", "zqibble", "--dry-run", "--json").json
    assert (shown["entry_count"], shown["derived_count"]) == (0, 1)
    assert shown["derived"][0]["why"] == "its id holds the words, and becomes another one; its text stays"
    assert run("forget", "zqibble", "--yes").status == 0
    assert places_of(root, ["zqibble"]) == {}
    assert texts(run) == [TEXT]
    run("import", str(lines), "--from", "jsonl")
    assert places_of(root, ["zqibble"]) == {}
    assert texts(run) == [TEXT]
    assert run("check").status == 0


def test_another_device_gets_the_new_id(bare: Run, run: Run, root: Path, lines: Path, tmp_path: Path) -> None:
    place, other = tmp_path / "place", tmp_path / "other"
    place.mkdir()
    assert bare("init", str(other)).status == 0
    run("import", str(lines), "--from", "jsonl")
    for device in (root, other):
        bare("--workspace", str(device), "sync", "add", str(place))
        assert bare("--workspace", str(device), "sync", "now").status == 0
    assert places_of(other, ["zqibble"])
    assert run("forget", "zqibble", "--yes").status == 0
    assert bare("--workspace", str(other), "sync", "now").status == 0
    assert places_of(place, ["zqibble"]) == {}
    shown = bare("--workspace", str(other), "export", "--to", "jsonl").out
    assert [TEXT in line for line in shown.splitlines()].count(True) == 1
    assert places_of(other, ["zqibble"]) == {}
    assert run("sync", "now").status == 0
    assert texts(run) == [TEXT]
