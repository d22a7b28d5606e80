"""Undo, redo and rewind: files are restored, and no edit of the person is overwritten."""

import errno
import os
import stat
from pathlib import Path

import pytest

from agent.checkpoints.change import CheckpointKind
from agent.checkpoints.restore import restore
from tests.agent.checkpoints.conftest import ProjectWithTools

LINES = b"".join(b"line %d\n" % n for n in range(1, 21))


def test_undo_takes_the_last_turn_back_and_redo_makes_it_again(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    project.tool(a=b"2\n")
    project.turn(2)
    project.tool(a=b"3\n", new__deep__file=b"x")
    project.tool(a=b"4\n", b=b"b")
    project.undo()
    assert project.files() == {"a": b"2\n"}
    assert project.folders() == []
    project.undo()
    assert project.files() == {"a": b"1\n"}
    project.redo()
    assert project.files() == {"a": b"2\n"}
    project.redo()
    assert project.files() == {"a": b"4\n", "b": b"b", "new/deep/file": b"x"}
    assert project.checkpoints.history("c_1").last_reversal() is None
    project.undo()
    assert project.files() == {"a": b"2\n"}


def test_rewind_goes_back_over_turns_that_were_undone_in_part(project: ProjectWithTools) -> None:
    project.write("a", b"0\n")
    for turn in (1, 2, 3):
        project.turn(turn)
        project.tool(a=b"%d\n" % turn, **{f"made{turn}": b"x"})
    project.undo()
    project.turn(4)
    project.tool(a=b"4\n")
    project.rewind(2)
    assert project.files() == {"a": b"1\n", "made1": b"x"}
    project.redo()
    assert project.files() == {"a": b"4\n", "made1": b"x", "made2": b"x"}
    project.rewind(1)
    assert project.files() == {"a": b"0\n"}


def test_a_new_edit_ends_what_can_be_made_again(project: ProjectWithTools) -> None:
    project.tool(a=b"1\n")
    project.undo()
    project.turn(2)
    project.tool(b=b"1\n")
    assert project.checkpoints.history("c_1").last_reversal() is None


def test_an_edit_made_since_is_kept_where_the_lines_differ(project: ProjectWithTools) -> None:
    project.write("a", LINES)
    project.tool(a=LINES.replace(b"line 3\n", b"tool's line 3\n"))
    project.write("a", (project.folder / "a").read_bytes().replace(b"line 15\n", b"my line 15\n"))
    restored = project.undo()
    assert project.files() == {"a": LINES.replace(b"line 15\n", b"my line 15\n")}
    assert [file.merged for file in restored.plan.files] == [True]


def test_edits_between_several_changes_are_kept(project: ProjectWithTools) -> None:
    project.write("a", LINES)
    project.tool(a=LINES.replace(b"line 3\n", b"tool's line 3\n"))
    project.write("a", (project.folder / "a").read_bytes().replace(b"line 15\n", b"my line 15\n"))
    project.tool(a=(project.folder / "a").read_bytes().replace(b"line 9\n", b""))
    project.undo()
    assert project.files() == {"a": LINES.replace(b"line 15\n", b"my line 15\n")}


def test_a_conflict_leaves_the_file_and_keeps_the_other_version_beside(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    project.write("b", b"1\n")
    project.tool(a=b"2\n", b=b"2\n")
    project.write("a", b"mine\n")
    restored = project.undo()
    assert project.files() == {"a": b"mine\n", "b": b"1\n"}
    assert project.problems(restored) == {"a": "was changed since, in the same lines"}
    [(path, place)] = restored.kept
    assert (path, place.read_bytes()) == (project.folder / "a", b"1\n")
    assert place.is_relative_to(project.state)


def test_a_turn_of_which_nothing_can_be_restored_counts_as_taken_back(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    project.write("b", b"1\n")
    project.tool(b=b"2\n")
    project.turn(2)
    project.tool(a=b"2\n")
    project.write("a", b"mine\n")
    restored = project.undo()
    assert [place.read_bytes() for _, place in restored.kept] == [b"1\n"]
    assert project.files() == {"a": b"mine\n", "b": b"2\n"}
    project.undo()
    assert project.files() == {"a": b"mine\n", "b": b"1\n"}
    assert project.checkpoints.history("c_1").last_turn() == ()
    assert len(list((project.state / "conflicts").iterdir())) == 1, "kept once"
    project.redo()
    assert project.files() == {"a": b"mine\n", "b": b"2\n"}
    project.redo()
    project.write("a", b"2\n")
    project.undo()
    assert project.files() == {"a": b"1\n", "b": b"2\n"}


def test_folders_that_a_turn_made_go_with_the_last_of_its_files(project: ProjectWithTools) -> None:
    for name in ("new__a", "new__deep__b", "new__deep__c", "new__d"):
        project.tool(**{name: b"x"})
    project.undo()
    assert (project.files(), project.folders()) == ({}, [])
    project.redo()
    assert sorted(project.files()) == ["new/a", "new/d", "new/deep/b", "new/deep/c"]
    (project.folder / "new/a").unlink()
    project.undo()
    assert (project.files(), project.folders()) == ({}, [])


def test_several_files_of_a_folder_make_room_for_a_file(project: ProjectWithTools) -> None:
    project.write("new", b"file\n")
    project.tool(new=None)
    project.tool(new__a=b"x")
    project.tool(new__b=b"x")
    project.undo()
    assert project.files() == {"new": b"file\n"}


@pytest.mark.parametrize("within", ["", "mine"])
def test_a_folder_in_place_of_a_deleted_file_is_a_conflict_of_that_file_alone(
    project: ProjectWithTools, within: str
) -> None:
    project.write("a", b"1\n")
    project.write("b", b"1\n")
    project.tool(a=None, b=b"2\n")
    (project.folder / "a" / within).mkdir(parents=True)
    restored = project.undo()
    assert project.problems(restored) == {"a": "is a folder now"}
    assert project.files() == {"b": b"1\n"}
    assert restored.kept[0][1].read_bytes() == b"1\n"


def test_a_folder_in_place_of_a_changed_file_is_called_so(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    project.tool(a=b"2\n")
    (project.folder / "a").unlink()
    (project.folder / "a").mkdir()
    assert project.problems(project.undo()) == {"a": "is a folder now"}


def test_a_file_in_place_of_a_folder_is_a_conflict_of_the_files_below_alone(project: ProjectWithTools) -> None:
    project.write("d/a", b"1\n")
    project.write("b", b"1\n")
    project.tool(d__a=None, b=b"2\n")
    (project.folder / "d").rmdir()
    project.write("d", b"mine\n")
    assert project.problems(project.undo()) == {"d/a": "would be below a path that is now a file"}
    assert project.files() == {"b": b"1\n", "d": b"mine\n"}


def test_a_version_that_cannot_be_kept_beside_is_said_with_what_was_restored(
    project: ProjectWithTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_full(*_: object) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    project.write("a", b"1\n")
    project.write("b", b"1\n")
    project.tool(a=b"2\n", b=b"2\n")
    project.write("a", b"mine\n")
    monkeypatch.setattr("agent.checkpoints.restore.keep_beside", is_full)
    restored = project.undo()
    assert restored.unkept == ((project.folder / "a", "No space left on device"),)
    assert [file.file.path for file in restored.plan.changes] == ["b"]
    assert project.files() == {"a": b"mine\n", "b": b"1\n"}


@pytest.mark.parametrize(
    ("before", "after", "now", "problem"),
    [
        (b"1\n", b"2\n", None, "was deleted since"),
        (b"1\n", None, b"mine\n", "was created again after it was deleted"),
        (None, b"2\n", b"mine\n", "was created by a tool and changed since"),
        (b"\0a\n", b"\0b\n", b"\0c\n", "is not text and was changed since"),
    ],
)
def test_each_conflict_says_what_it_is(
    project: ProjectWithTools, before: bytes | None, after: bytes | None, now: bytes | None, problem: str
) -> None:
    if before is not None:
        project.write("a", before)
    project.tool(a=after)
    (project.folder / "a").unlink(missing_ok=True)
    if now is not None:
        project.write("a", now)
    assert project.problems(project.undo()) == {"a": problem}
    assert project.files() == ({} if now is None else {"a": now})


def test_what_is_as_it_was_already_counts_as_undone(project: ProjectWithTools) -> None:
    project.write("a", b"0\n")
    project.tool(a=b"1\n")
    project.turn(2)
    project.tool(a=b"2\n")
    project.write("a", b"1\n")
    project.undo()
    project.undo()
    assert project.files() == {"a": b"0\n"}


def test_a_folder_that_became_a_file_becomes_a_folder_again(project: ProjectWithTools) -> None:
    project.write("a/b", b"below\n")
    project.tool(a__b=None)
    (project.folder / "a").rmdir()
    project.tool(a=b"file\n")
    project.undo()
    assert project.files() == {"a/b": b"below\n"}
    project.redo()
    assert project.files() == {"a": b"file\n"}


def test_a_folder_with_a_file_of_the_person_stays(project: ProjectWithTools) -> None:
    project.tool(new__file=b"x")
    project.write("new/mine", b"mine")
    project.undo()
    assert project.files() == {"new/mine": b"mine"}


def test_moved_files_move_back(project: ProjectWithTools) -> None:
    project.write("old.py", b"x = 1\n")
    moved = [project.change("old.py", None), project.change("pkg/new.py", b"x = 1\n")]
    project.checkpoints.apply(moved, "e_result")
    assert project.files() == {"pkg/new.py": b"x = 1\n"}
    project.undo()
    assert (project.files(), project.folders()) == ({"old.py": b"x = 1\n"}, [])


@pytest.mark.skipif(os.name == "nt", reason="permission bits")
def test_modes_are_restored_and_those_that_the_person_set_since_are_kept(project: ProjectWithTools) -> None:
    for name in ("a", "b"):
        project.write(name, b"1\n")
        (project.folder / name).chmod(0o640)
    project.checkpoints.apply([project.change("a", b"1\n", 0o755), project.change("b", b"2\n", 0o755)], "e_result")
    (project.folder / "b").chmod(0o700)
    project.undo()
    modes = {name: stat.S_IMODE((project.folder / name).stat().st_mode) for name in ("a", "b")}
    assert modes == {"a": 0o640, "b": 0o700}


def test_files_outside_of_the_project_folders_are_left(project: ProjectWithTools) -> None:
    project.tool(a=b"1\n")
    records = project.checkpoints.history("c_1").last_turn()
    restored = restore(project.checkpoints, records, CheckpointKind.UNDO, (project.folder.parent / "other",))
    assert project.problems(restored) == {"a": "is not in the current project folders"}
    assert project.files() == {"a": b"1\n"}


def test_each_conversation_has_changes_of_its_own(project: ProjectWithTools) -> None:
    project.tool(a=b"1\n")
    project.checkpoints.begin_turn("c_2", "e_9")
    project.tool(b=b"1\n")
    project.undo()
    assert project.files() == {"b": b"1\n"}


def test_a_damaged_version_is_said_and_the_file_stays(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    record = project.tool(a=b"2\n")
    blob = next((project.state / "blobs").rglob(record.files[0].before))
    blob.write_bytes(b"rubbish")
    assert "cannot be restored" in project.problems(project.undo())["a"]
    assert project.files() == {"a": b"2\n"}


def test_a_line_that_was_cut_off_is_skipped(project: ProjectWithTools) -> None:
    project.tool(a=b"1\n")
    with (project.state / "journal.jsonl").open("ab") as journal:
        journal.write(b'00000000 {"line":"begin","rec')
    project.turn(2)
    project.tool(a=b"2\n")
    project.undo()
    project.undo()
    assert project.files() == {}


def test_a_folder_that_the_person_made_in_place_of_a_file_stays(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    project.write("b", b"1\n")
    project.tool(a=None, b=b"2\n")
    project.write("a/mine", b"mine\n")
    assert project.problems(project.undo()) == {"a": "is a folder now"}
    assert project.files() == {"a/mine": b"mine\n", "b": b"1\n"}


def test_a_line_that_was_changed_on_disk_is_skipped(project: ProjectWithTools) -> None:
    project.tool(a=b"1\n")
    journal = project.state / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"path":"a"', b'"path":"b"'))
    assert project.checkpoints.history("c_1").records == ()
