"""Texts that no file of the project holds are kept beside, none over another, and go with their own conversation."""

import os
from pathlib import Path

import pytest

from agent.checkpoints.change import CheckpointKind, FileChange
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.conflicts import keep_beside
from agent.checkpoints.journal import Begun, Ended
from agent.checkpoints.restore import restore
from foundation.clock import SystemClock
from tests.agent.checkpoints.conftest import ProjectWithTools

posix = pytest.mark.skipif(os.name == "nt", reason="an open file cannot be replaced")


def kept(project: ProjectWithTools) -> list[bytes]:
    return sorted(path.read_bytes() for path in (project.state / "conflicts").rglob("*") if path.is_file())


def other_conversation(project: ProjectWithTools) -> None:
    """Another conversation changes a file, and is deleted."""
    project.checkpoints.begin_turn("c_other", "e_9")
    project.tool(other=b"1\n")
    assert project.checkpoints.forget("c_other") == 1


@posix
def test_a_late_save_stays_when_another_conversation_is_deleted(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    with (project.folder / "a").open("r+b") as editor:
        project.tool(a=b"2\n")
        editor.write(b"mine\n")
    project.checkpoints.take_notices()
    other_conversation(project)
    assert kept(project) == [b"mine\n"]
    project.checkpoints.forget("c_1")
    assert kept(project) == []


def test_the_version_of_an_undo_that_restored_nothing_stays_when_another_conversation_is_deleted(
    project: ProjectWithTools,
) -> None:
    project.write("a", b"1\n")
    project.tool(a=b"2\n")
    project.write("a", b"mine\n")
    assert project.undo().record.files == ()
    other_conversation(project)
    assert kept(project) == [b"1\n"]
    project.checkpoints.forget("c_1")
    assert kept(project) == []


def test_what_no_line_of_the_journal_names_stays(project: ProjectWithTools) -> None:
    """Earlier versions named some of these folders after nothing."""
    place = project.state / "conflicts" / "ck_0123456789" / "a"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"mine\n")
    other_conversation(project)
    assert place.read_bytes() == b"mine\n"


def test_the_same_name_in_two_project_folders_is_kept_twice(project: ProjectWithTools) -> None:
    second = project.folder.parent / "second"
    second.mkdir()
    folders = (project.folder, second)
    for folder in folders:
        (folder / "a").write_bytes(f"{folder.name} 1\n".encode())
    project.checkpoints.apply(
        [FileChange(folder=folder, path="a", expected=(folder / "a").read_bytes(), new=b"2\n") for folder in folders],
        "e_2",
    )
    for folder in folders:
        (folder / "a").write_bytes(b"mine\n")
    records = project.checkpoints.history("c_1").last_turn()
    restored = restore(project.checkpoints, records, CheckpointKind.UNDO, folders)
    assert {place: copy.read_bytes() for place, copy in restored.kept} == {
        project.folder / "a": b"project 1\n",
        second / "a": b"second 1\n",
    }


def test_a_copy_is_never_written_over_another(project: ProjectWithTools) -> None:
    [file] = project.tool(a=b"1\n").files
    [below] = project.tool(a2__b=b"1\n").files
    places = [keep_beside(project.state, "ck_1", file, body) for body in (b"one\n", b"two\n", b"one\n")]
    assert [place.read_bytes() for place in places] == [b"one\n", b"two\n", b"one\n"]
    assert places[0] == places[2]
    clash = Path(str(places[0].parent)) / "a2"
    clash.write_bytes(b"a file where a folder is needed\n")
    assert keep_beside(project.state, "ck_1", below, b"three\n").read_bytes() == b"three\n"
    assert clash.read_bytes() == b"a file where a folder is needed\n"


def test_an_interrupted_change_of_two_folders_keeps_the_text_of_each(project: ProjectWithTools) -> None:
    second = project.folder.parent / "second"
    second.mkdir()
    changes = [FileChange(folder=folder, path="a", expected=None, new=b"2\n") for folder in (project.folder, second)]
    for change in changes:
        change.place.write_bytes(b"1\n")
    record = project.checkpoints.apply(
        [FileChange(folder=c.folder, path="a", expected=b"1\n", new=b"2\n") for c in changes], "e_2"
    )
    journal = project.checkpoints.journal
    journal.rewrite(line for line in journal.lines() if line != Ended(record.id))
    assert [line for line in journal.lines() if isinstance(line, Begun)]
    for file in record.files:
        file.place.write_bytes(b"mine again\n")
        file.place.with_name(file.beside).write_bytes(f"mine in {file.place.parent.name}\n".encode())
    Checkpoints(project.state, SystemClock(), (project.folder, second)).take_notices()
    assert kept(project) == [b"mine in project\n", b"mine in second\n"]
