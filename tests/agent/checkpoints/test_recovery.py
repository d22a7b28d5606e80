"""What a killed process left is cleared up: no text of the person is lost, and undo knows what was changed."""

import errno
from pathlib import Path

import pytest
from msgspec import structs

from agent.checkpoints.change import ChangedFile, CheckpointRecord, NotChanged, is_beside
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.journal import Begun, Ended
from foundation.clock import SystemClock
from foundation.files import STAGED
from tests.agent.checkpoints.conftest import ProjectWithTools


def interrupted(project: ProjectWithTools, **new: bytes | None) -> tuple[CheckpointRecord, list[Path]]:
    """A change of which only the beginning is in the journal, all files changed; and the temporary files' paths."""
    record = project.tool(**new)
    journal = project.checkpoints.journal
    journal.rewrite(line for line in journal.lines() if line != Ended(record.id))
    return record, [file.place.with_name(file.beside) for file in record.files]


def recovered(project: ProjectWithTools) -> str:
    """The notice of another process that finds it."""
    [notice] = Checkpoints(project.state, SystemClock(), (project.folder,)).take_notices()
    assert list(project.folder.rglob(".*.checkpoint*")) == []
    return notice


def changed(project: ProjectWithTools) -> list[str]:
    return [file.path for record in project.checkpoints.history("c_1").records for file in record.files]


def test_files_that_were_changed_stay_and_undo_takes_them_back(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    _, [beside, _] = interrupted(project, a=b"2\n", b=b"new\n")
    beside.write_bytes(b"1\n")
    assert "2 changed (a, b); /undo" in recovered(project)
    project.undo()
    assert project.files() == {"a": b"1\n"}


def test_a_file_that_was_not_changed_yet_is_not_undone(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    _, [beside, _] = interrupted(project, a=b"2\n", b__c=b"new\n")
    project.write("a", b"1\n")
    beside.write_bytes(b"2\n")
    (project.folder / "b" / "c").unlink()
    assert "none changed" in recovered(project)
    assert (project.files(), project.folders()) == ({"a": b"1\n"}, [])
    assert changed(project) == []


def test_the_text_of_another_program_that_had_just_come_out_goes_back(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    _, [beside] = interrupted(project, a=b"2\n")
    beside.write_bytes(b"mine\n")
    recovered(project)
    assert project.files() == {"a": b"mine\n"}
    assert changed(project) == []


def test_it_goes_back_where_the_file_was_to_be_deleted(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    _, [beside] = interrupted(project, a=None)
    beside.write_bytes(b"mine\n")
    recovered(project)
    assert project.files() == {"a": b"mine\n"}


def test_it_is_kept_beside_where_the_program_wrote_again(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    record, [beside] = interrupted(project, a=b"2\n")
    beside.write_bytes(b"mine\n")
    project.write("a", b"mine again\n")
    place = project.state / "conflicts" / record.id / "a"
    assert str(place) in recovered(project)
    assert (project.files(), place.read_bytes()) == ({"a": b"mine again\n"}, b"mine\n")


def test_a_file_that_a_file_system_without_exchange_had_moved_aside_comes_back(project: ProjectWithTools) -> None:
    project.write("a[1]", b"1\n")
    _, [beside] = interrupted(project, **{"a[1]": b"2\n"})
    (project.folder / "a[1]").rename(project.folder / ".a[1].0123456789ab.aside")
    (project.folder / ".a[1].0123456789ab.aside").write_bytes(b"1\n")
    beside.write_bytes(b"2\n")
    recovered(project)
    assert project.files() == {"a[1]": b"1\n"}


def test_an_undo_that_was_interrupted_can_be_done_again(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    project.write("b", b"1\n")
    project.tool(a=b"2\n", b=b"2\n")
    project.undo()
    journal = project.checkpoints.journal
    *lines, last, _ = journal.lines()
    assert isinstance(last, Begun)
    journal.rewrite([*lines, last])
    project.write("b", b"2\n")
    assert "1 changed (a)" in recovered(project)
    project.undo()
    assert project.files() == {"a": b"1\n", "b": b"1\n"}


@pytest.mark.parametrize("path", ["../outside", "/outside"])
def test_a_forged_path_is_not_opened(project: ProjectWithTools, path: str) -> None:
    record = project.tool(a=b"2\n")
    forged = structs.replace(record, id="ck_forged", files=(structs.replace(record.files[0], path=path),))
    project.checkpoints.journal.add(Begun(forged))
    outside = project.folder.parent / "outside"
    outside.write_bytes(b"mine\n")
    recovered(project)
    assert outside.read_bytes() == b"mine\n"
    assert changed(project) == ["a"]


def test_a_forged_name_of_a_temporary_file_moves_and_deletes_nothing(project: ProjectWithTools) -> None:
    record = project.tool(a=b"2\n")
    project.write("victim", b"2\n")
    forged = structs.replace(record, id="ck_forged", files=(structs.replace(record.files[0], beside="victim"),))
    project.checkpoints.journal.add(Begun(forged))
    recovered(project)
    assert project.files() == {"a": b"2\n", "victim": b"2\n"}


def test_a_long_name_has_room_for_a_temporary_file(project: ProjectWithTools) -> None:
    name = "锅" * 80 + ".txt"
    project.tool(**{name: b"1\n"})
    project.tool(**{name: b"2\n"})
    project.undo()
    assert project.files() == {}


def test_a_new_file_that_was_cut_off_while_it_was_written_is_removed(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    _, [beside_a, beside_b] = interrupted(project, a=b"2 and more\n", b=b"new and long\n")
    project.write("a", b"1\n")
    (project.folder / "b").unlink()
    staged = [beside.with_name(beside.name + STAGED) for beside in (beside_a, beside_b)]
    staged[0].write_bytes(b"2 an")
    staged[1].write_bytes(b"\0\0\0")
    assert "none changed" in recovered(project)
    assert project.files() == {"a": b"1\n"}
    assert not (project.state / "conflicts").exists()


def test_a_text_of_another_program_goes_back_though_ours_begins_with_it(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    _, [beside_a, beside_b] = interrupted(project, a=b"2 and more\n", b=b"new and long\n")
    (project.folder / "b").unlink()
    beside_a.write_bytes(b"2 an")
    beside_b.write_bytes(b"new")
    recovered(project)
    assert project.files() == {"a": b"2 an", "b": b"new"}


def test_a_change_is_staged_under_its_own_name(project: ProjectWithTools, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed before its bytes are on the disk leaves a name that the recovery knows."""
    project.write("a", b"1\n")
    record = project.tool(a=b"2\n")
    names: list[str] = []

    def cut_off(source: Path, target: Path) -> None:
        names.extend((source.name, target.name))
        raise OSError(errno.EIO, "the power goes")

    monkeypatch.setattr("foundation.files.conditional.replace", cut_off)
    with pytest.raises(NotChanged, match="the power goes"):
        project.tool(a=b"3\n")
    assert names[0] == names[1] + STAGED and is_beside(names[1], record.files[0].place)


def test_what_an_interrupted_rewind_took_back_stays_taken_back_and_the_rest_is_undone(
    project: ProjectWithTools,
) -> None:
    """Of one file three turns were taken back, of the other none."""
    project.write("a", b"1\n")
    project.write("b", b"1\n")
    for turn, text in enumerate((b"2\n", b"3\n", b"4\n"), 1):
        project.turn(turn)
        project.tool(a=text, b=text)
    record = project.rewind(1).record
    assert record is not None and project.files() == {"a": b"1\n", "b": b"1\n"}
    project.write("b", b"4\n")
    journal = project.checkpoints.journal
    journal.rewrite(line for line in journal.lines() if line != Ended(record.id))
    journal.add(Ended(record.id, changed=(0,), interrupted=True))
    for text in (b"3\n", b"2\n"):
        restored = project.undo()
        assert restored.plan.conflicts == () and project.files() == {"a": b"1\n", "b": text}
    project.redo()
    assert project.files() == {"a": b"1\n", "b": b"3\n"}
    project.rewind(1)
    assert project.files() == {"a": b"1\n", "b": b"1\n"}


def test_an_interrupted_redo_is_in_effect_for_the_files_that_it_made_again(project: ProjectWithTools) -> None:
    project.tool(a=b"1\n", b=b"1\n")
    undone = project.undo().record
    again = project.redo().record
    assert undone is not None and again is not None
    (project.folder / "b").unlink()
    journal = project.checkpoints.journal
    journal.rewrite(line for line in journal.lines() if line != Ended(again.id))
    journal.add(Ended(again.id, changed=(0,), interrupted=True))
    project.redo()
    assert project.files() == {"a": b"1\n", "b": b"1\n"}
    project.undo()
    assert project.files() == {}


@pytest.mark.parametrize("way", ["outside", "project/../outside"])
def test_a_forged_change_outside_the_project_folders_is_left(project: ProjectWithTools, way: str) -> None:
    record = project.tool(a=b"2\n")
    outside = project.folder.parent / "outside"
    (outside / "empty").mkdir(parents=True)
    beside = outside / ".x.aaaaaaaaaaaa.checkpoint"
    beside.write_bytes(b"mine\n")
    forged = ChangedFile(
        folder=str(project.folder.parent / way), path="x", after="a" * 64, beside=beside.name, folders=("empty",)
    )
    project.checkpoints.journal.add(Begun(structs.replace(record, id="ck_forged", files=(forged,))))
    recovered(project)
    assert sorted(path.name for path in outside.iterdir()) == [beside.name, "empty"]
    assert project.undo().plan.conflicts == ()


def test_folders_that_a_forged_change_names_and_that_are_not_above_its_file_stay(project: ProjectWithTools) -> None:
    record = project.tool(a=b"2\n")
    (project.folder / "empty").mkdir()
    forged = structs.replace(record.files[0], path="x", folders=("empty",))
    project.checkpoints.journal.add(Begun(structs.replace(record, id="ck_forged", files=(forged,))))
    recovered(project)
    assert project.folders() == ["empty"]


@pytest.mark.parametrize("path", ["../a", "/a", "", "a\0b"])
def test_a_forged_path_stops_no_undo(project: ProjectWithTools, path: str) -> None:
    project.write("a", b"1\n")
    record = project.tool(a=b"2\n", b=b"2\n")
    journal = project.checkpoints.journal
    files = (structs.replace(record.files[0], path=path), *record.files)
    journal.rewrite([Begun(structs.replace(record, files=files)), Ended(record.id, changed=(0, 1, 2))])
    forged = structs.replace(record, id="ck_forged", files=files[:1])
    journal.add(Begun(forged))
    journal.add(Ended(forged.id))
    project.undo()
    assert project.files() == {"a": b"1\n"}
    project.redo()
    assert project.files() == {"a": b"2\n", "b": b"2\n"}
