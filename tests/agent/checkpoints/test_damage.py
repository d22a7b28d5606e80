"""Damage of the checkpoints is said, and never acted on in silence."""

from pathlib import Path

import pytest

from agent.checkpoints.check import check_checkpoints
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.journal import Ended, Journal
from memory.errors import Damaged
from tests.agent.checkpoints.conftest import ProjectWithTools
from tests.agent.checkpoints.test_keeping import FakeDay, versions


@pytest.fixture
def two_turns(project: ProjectWithTools) -> ProjectWithTools:
    project.write("a", b"0\n")
    project.tool(a=b"1\n")
    project.turn(2)
    project.tool(a=b"2\n")
    return project


def journal(project: ProjectWithTools) -> Path:
    return project.state / "journal.jsonl"


def flip(project: ProjectWithTools, line: int) -> None:
    """One bit of the line, the first being 0."""
    lines = journal(project).read_bytes().split(b"\n")
    lines[line] = lines[line][:40] + bytes([lines[line][40] ^ 1]) + lines[line][41:]
    journal(project).write_bytes(b"\n".join(lines))


@pytest.mark.parametrize(("line", "is_certain"), [(0, True), (1, True), (2, False), (3, False)])
def test_an_unreadable_line_is_counted_and_an_older_turn_is_uncertain(
    two_turns: ProjectWithTools, line: int, is_certain: bool
) -> None:
    flip(two_turns, line)
    history = two_turns.checkpoints.history("c_1")
    assert history.content.unreadable == (line + 1,)
    assert f"1 line of the checkpoint journal cannot be read (line {line + 1})" in history.content.damage
    assert history.is_certain(history.last_turn()) is is_certain
    assert not history.is_certain(())


@pytest.mark.parametrize("body", [b"garbage", b"garbage\n", b"\0" * 9 + b"x\n", b"deadbeef {}\n" * 3])
def test_a_journal_of_garbage_is_damage(two_turns: ProjectWithTools, body: bytes) -> None:
    journal(two_turns).write_bytes(body)
    assert len(two_turns.checkpoints.history("c_1").content.unreadable) == max(1, body.count(b"\n"))


def test_a_beginning_that_is_missing_is_damage(two_turns: ProjectWithTools) -> None:
    lines = journal(two_turns).read_bytes().splitlines(keepends=True)
    journal(two_turns).write_bytes(b"".join((*lines[:2], lines[3])))
    history = two_turns.checkpoints.history("c_1")
    assert (history.content.unreadable, history.is_certain(history.last_turn())) == ((3,), False)


@pytest.mark.parametrize("left", [1, 5, 9, 30, -2])
@pytest.mark.parametrize("nothing", [b"", b"\0\0"])
def test_a_line_that_a_crash_cut_off_is_no_damage(project: ProjectWithTools, left: int, nothing: bytes) -> None:
    project.tool(a=b"1\n")
    whole = journal(project).read_bytes()
    journal(project).write_bytes(whole + whole.splitlines()[0][:left] + nothing)
    assert project.checkpoints.history("c_1").content.damage == ""
    project.turn(2)
    project.tool(a=b"2\n")
    assert project.checkpoints.history("c_1").content.damage == ""
    project.undo()
    project.undo()
    assert project.files() == {}


def test_a_damaged_journal_and_its_versions_are_not_pruned(two_turns: ProjectWithTools) -> None:
    flip(two_turns, 2)
    before, count = journal(two_turns).read_bytes(), versions(two_turns.state)
    later = Checkpoints(two_turns.state, FakeDay(40), keep_days=30)
    assert later.prune() == 0
    assert "cannot be read" in later.take_notices()[-1]
    with pytest.raises(Damaged, match="cannot be read"):
        later.forget("c_1")
    assert versions(two_turns.state) == count
    assert journal(two_turns).read_bytes().startswith(before), "an end may have been added"


def test_a_file_in_place_of_the_folder_is_said(project: ProjectWithTools) -> None:
    project.state.parent.mkdir()
    project.state.write_text("no folder")
    with pytest.raises(Damaged, match="is not a folder"):
        project.checkpoints.history("c_1")


def test_an_end_of_a_change_that_was_found_interrupted_is_no_damage(two_turns: ProjectWithTools) -> None:
    (record, *_) = two_turns.checkpoints.history("c_1").records
    two_turns.checkpoints.journal.add(Ended(record.id, interrupted=True))
    assert two_turns.checkpoints.history("c_1").content.damage == ""


def test_a_first_change_that_is_killed_before_its_line_is_no_lost_journal(
    project: ProjectWithTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    project.write("a", b"0\n")
    with monkeypatch.context() as patched:
        patched.setattr(Journal, "add", killed)
        with pytest.raises(KeyboardInterrupt):
            project.tool(a=b"1\n")
    assert list((project.state / "blobs").glob("*/*"))
    assert check_checkpoints(project.state) == ()
    journal(project).unlink()
    assert [problem.what for problem in check_checkpoints(project.state)] == ["journal"]
