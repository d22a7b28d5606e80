"""Workspaces that each released program wrote open in this one, whole."""

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agent.conftest import Ran, Run

FOLDER = Path(__file__).parent
RELEASES = sorted(path.name.removesuffix(".tar.xz") for path in FOLDER.glob("*.tar.xz"))


@pytest.fixture(params=RELEASES)
def released(request: pytest.FixtureRequest, tmp_path: Path, bare: Run) -> Callable[..., Ran]:
    """Run a command in a workspace that a released program wrote."""
    with tarfile.open(FOLDER / f"{request.param}.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")

    def run(*words: str) -> Ran:
        ran = bare("--workspace", str(tmp_path / "workspace"), *words)
        assert ran.status == 0, ran.err
        return ran

    run("trust")
    return run


def test_every_release_has_its_fixture() -> None:
    assert RELEASES == ["0.1.0", "0.2.0", "0.3.0"]


def test_an_export_gives_every_word_of_before(released: Callable[..., Ran], tmp_path: Path) -> None:
    before = [json.loads(line) for line in (tmp_path / "export.jsonl").read_text("utf-8").splitlines()]
    now = [json.loads(line) for line in released("export", "--to", "jsonl").out.splitlines()]
    for old in before:
        assert old in now or old["text"] in {line["text"] for line in now if line["id"] == old["id"]}
    assert len(now) == len(before)


def test_what_was_said_is_found_and_recalled_exactly(released: Callable[..., Ran]) -> None:
    hits = released("search", "where does the greenhouse key hang", "--json").json["hits"]
    assert "r1" in [hit["id"] for hit in hits]
    recalled = released("recall", "r2", "--json").json["hits"][0]
    assert recalled["trust"] == "exact"
    assert recalled["text"] == "Noted: greenhouse key, blue door.\n\n```python\nprint('été, 钥匙, 🌱')\n```"


def test_archived_pages_are_read_back(released: Callable[..., Ran]) -> None:
    shown = released("archive", "--list", "--json").json
    assert [archive["label"] for archive in shown["archives"] if archive["label"] == "kitchen"] == ["kitchen"]
    text = released("recall", "kitchen").out
    assert "Line 399: the 681 tiles of the kitchen floor, counted twice." in text


def test_importing_the_same_file_again_adds_nothing(released: Callable[..., Ran], tmp_path: Path) -> None:
    from tests.agent.released.make import LINES

    talk = tmp_path / "talk.jsonl"
    talk.write_text("".join(json.dumps(line) + "\n" for line in LINES), "utf-8")
    before = released("export", "--to", "jsonl").out
    released("import", str(talk))
    assert released("export", "--to", "jsonl").out == before


def test_check_finds_nothing_wrong(released: Callable[..., Ran]) -> None:
    released("check")
