"""Workspaces that each released program wrote open in this one, whole."""

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agent.conftest import Ran, Run
from tests.hostile.workspaces import fingerprint

pytestmark = pytest.mark.timeout(60)

FOLDER = Path(__file__).parent
RELEASES = sorted(path.name.removesuffix(".tar.xz") for path in FOLDER.glob("*.tar.xz"))


@pytest.fixture(params=RELEASES)
def untrusted(request: pytest.FixtureRequest, tmp_path: Path, bare: Run) -> Callable[..., Ran]:
    """Run a command in a workspace that a released program wrote, as it was unpacked."""
    with tarfile.open(FOLDER / f"{request.param}.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")

    def run(*words: str) -> Ran:
        ran = bare("--workspace", str(tmp_path / "workspace"), *words)
        assert ran.status == 0, ran.err
        return ran

    return run


@pytest.fixture
def released(untrusted: Callable[..., Ran]) -> Callable[..., Ran]:
    """The same, once its owner trusts it."""
    untrusted("trust")
    return untrusted


def test_every_release_has_its_fixture() -> None:
    assert RELEASES == ["0.1.0", "0.2.0", "0.3.0", "0.3.1"]


def test_an_export_gives_every_word_of_before(released: Callable[..., Ran], tmp_path: Path) -> None:
    expect_every_word(released, tmp_path)


def expect_every_word(run: Callable[..., Ran], tmp_path: Path) -> None:
    before = [json.loads(line) for line in (tmp_path / "export.jsonl").read_text("utf-8").splitlines()]
    now = [json.loads(line) for line in run("export", "--to", "jsonl").out.splitlines()]
    for old in before:
        assert old in now or old["text"] in {line["text"] for line in now if line["id"] == old["id"]}
    assert len(now) == len(before)


def test_what_was_said_is_found_and_recalled_exactly(released: Callable[..., Ran]) -> None:
    expect_what_was_said(released)


def expect_what_was_said(run: Callable[..., Ran]) -> None:
    hits = run("search", "where does the greenhouse key hang", "--json").json["hits"]
    assert "r1" in [hit["id"] for hit in hits]
    recalled = run("recall", "r2", "--json").json["hits"][0]
    assert recalled["trust"] == "exact"
    assert recalled["text"] == "Noted: greenhouse key, blue door.\n\n```python\nprint('été, 钥匙, 🌱')\n```"


def test_archived_pages_are_read_back(released: Callable[..., Ran]) -> None:
    expect_archived_pages(released)


def expect_archived_pages(run: Callable[..., Ran]) -> None:
    shown = run("archive", "--list", "--json").json
    assert [archive["label"] for archive in shown["archives"] if archive["label"] == "kitchen"] == ["kitchen"]
    text = run("recall", "kitchen").out
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


def test_an_untrusted_one_is_read_whole_and_nothing_below_it_changes(
    untrusted: Callable[..., Ran], bare: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its store has an older schema: a copy beside the workspace is brought forward and read."""
    root, scratch = tmp_path / "workspace", tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    before = fingerprint(root)
    expect_every_word(untrusted, tmp_path)
    expect_what_was_said(untrusted)
    expect_archived_pages(untrusted)
    for words in (("knowledge", "list"), ("conversations", "list"), ("stats",), ("check",), ("context",)):
        ran = untrusted(*words)
        assert ran.err.count("palimpsest trust") == 1, ran.err
    refused = bare("--workspace", str(root), "-p", "hello")
    assert refused.status == 1
    assert "open read-only: nothing is written to it" in refused.err
    assert fingerprint(root) == before
    assert list(scratch.iterdir()) == []
