"""What `check` says of checkpoints whose journal or versions are gone, and what a repair records as lost."""

import shutil
from pathlib import Path

import pytest

from agent.checkpoints.change import FileChange
from agent.checkpoints.checkpoints import Checkpoints
from foundation.clock import SystemClock
from foundation.paths import Workspace
from tests.agent.conftest import Run

EMPTY = "although it contained file changes:"


def change(root: Path, project: Path, *texts: bytes, path: str = "a") -> Checkpoints:
    """The checkpoints, after a tool gave the file each of these texts."""
    project.mkdir(exist_ok=True)
    checkpoints = Checkpoints(Workspace(root).checkpoints, SystemClock())
    checkpoints.begin_turn("c_1", "e_1")
    expected = None
    for text in texts:
        checkpoints.apply([FileChange(folder=project, path=path, expected=expected, new=text)], "e_2")
        expected = text
    return checkpoints


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


@pytest.fixture
def journal(run: Run, root: Path, project: Path) -> Path:
    """The journal of two changes."""
    change(root, project, b"1\n", b"2\n")
    assert run("check").status == 0
    return Workspace(root).checkpoints / "journal.jsonl"


def test_an_emptied_journal_is_named_and_a_repair_takes_it_up(
    run: Run, root: Path, project: Path, journal: Path
) -> None:
    journal.write_bytes(b"")
    named = run("check")
    assert (named.status, EMPTY in named.out, "All is intact" in named.err) == (1, True, False), named.out
    repaired = run("check", "--repair")
    assert (repaired.status, repaired.out.count(EMPTY)) == (1, 1)
    assert run("check").status == 0
    change(root, project, b"3\n", path="b")
    journal.write_bytes(b"")
    assert EMPTY in run("check").out, "it had lines again"


def test_a_journal_that_is_gone_with_its_versions_is_named(run: Run, journal: Path) -> None:
    journal.unlink()
    shutil.rmtree(journal.parent / "blobs")
    assert "journal.jsonl: It no longer exists." in run("check").out
    assert run("check", "--repair").status == 1
    assert run("check").status == 0


def test_a_journal_whose_checkpoints_were_all_removed_is_not_called_emptied(
    run: Run, root: Path, journal: Path
) -> None:
    checkpoints = Checkpoints(Workspace(root).checkpoints, SystemClock())
    assert checkpoints.forget("c_1") == 2
    assert journal.read_bytes() == b""
    assert run("check").status == 0


def test_the_first_change_that_is_refused_is_no_emptied_journal(run: Run, root: Path, project: Path) -> None:
    project.mkdir()
    (project / "b").write_bytes(b"another\n")
    checkpoints = Checkpoints(Workspace(root).checkpoints, SystemClock())
    checkpoints.begin_turn("c_1", "e_1")
    changes = [FileChange(folder=project, path=name, expected=None, new=b"1\n") for name in ("a", "b")]
    with pytest.raises(Exception, match="exists by now"):
        checkpoints.apply(changes, "e_2")
    assert list((Workspace(root).checkpoints / "blobs").glob("*/*"))
    assert run("check").status == 0


@pytest.mark.parametrize("what", ["flipped", "missing"])
def test_a_repair_records_a_damaged_version_as_lost_once(run: Run, journal: Path, what: str) -> None:
    blob = next((journal.parent / "blobs").glob("*/*"))
    whole = blob.read_bytes()
    if what == "missing":
        blob.unlink()
    else:
        blob.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert run("check").status == 1
    repaired = run("check", "--repair", "--json")
    assert (repaired.status, repaired.json["problems"]) == (1, [])
    (lost,) = repaired.json["lost"]
    assert "which cannot be undone past it." in lost
    later = run("check")
    assert (later.status, later.out) == (0, ""), later.out
    assert "Checkpoints: 1 version is lost since" in later.err and "The rest is intact" in later.err
    assert "memory log" not in later.err
    assert lost in run("check", "--json").json["known_lost"][0]["message"]
    assert run("check", "--repair").status == 0
    blob.write_bytes(whole[:-1])
    assert run("check").status == 1, "other damage of it is new"
    blob.write_bytes(whole)
    assert run("check", "--repair").status == 0
    assert "is lost" not in run("check").err
    assert not (journal.parent / "lost").exists()
