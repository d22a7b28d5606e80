"""What happened to files is said: at the end of a run without a screen, or when the next session opens."""

import os
from pathlib import Path

import pytest

from agent.checkpoints.change import ChangedFile, FileChange
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.journal import Ended
from agent.headless.run import opened
from agent.session import Session
from foundation.clock import SystemClock
from foundation.paths import Workspace
from tests.agent.checkpoints.conftest import ProjectWithTools
from tests.agent.checkpoints.test_keeping import FakeDay
from tests.agent.sessions import open_session

posix = pytest.mark.skipif(os.name == "nt", reason="an open file cannot be replaced")


def write(session: Session, *names: str) -> tuple[ChangedFile, ...]:
    """As a tool does: new files."""
    session.checkpoints.begin_turn("c_1", "e_1")
    changes = [FileChange(folder=session.project.root, path=name, expected=None, new=b"tool\n") for name in names]
    return session.checkpoints.apply(changes, "e_2").files


def interrupt(session: Session, files: tuple[ChangedFile, ...]) -> list[Path]:
    """Leaves the last change as a process does that is killed in it; the temporary files."""
    journal = session.checkpoints.journal
    journal.rewrite(line for line in journal.lines() if not isinstance(line, Ended))
    besides = [file.place.with_name(file.beside) for file in files]
    for beside in besides:
        beside.write_bytes(b"tool\n")
    return besides


@posix
def test_a_late_save_that_is_found_at_the_end_is_given_by_the_next_session(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    with (project.folder / "a").open("r+b") as editor:
        project.tool(a=b"2\n")
        editor.write(b"mine\n")
    project.checkpoints.close()
    other = Checkpoints(project.state, SystemClock())
    [notice] = other.take_notices()
    assert "a was saved while a tool was changing it" in notice
    assert Path(notice.rpartition(" is ")[2].rstrip(".")).read_bytes() == b"mine\n"
    assert other.take_notices() == Checkpoints(project.state, SystemClock()).take_notices() == ()


@pytest.mark.parametrize("body", [b"{", b"[1]", b"\xff", b""])
def test_a_damaged_file_of_notices_is_dropped(project: ProjectWithTools, body: bytes) -> None:
    project.state.mkdir(parents=True)
    (project.state / "notices.json").write_bytes(body)
    assert project.checkpoints.take_notices() == ()
    assert not (project.state / "notices.json").exists()


@posix
def test_a_full_disk_at_a_late_save_ends_no_session(project: ProjectWithTools, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agent.checkpoints.late_edits.keep_beside", full)
    project.write("a", b"1\n")
    with (project.folder / "a").open("r+b") as editor:
        project.tool(a=b"2\n")
        editor.write(b"mine\n")
    project.checkpoints.close()
    [notice] = project.checkpoints.take_notices()
    assert "could not be kept: the disk is full" in notice


@posix
async def test_a_run_without_a_screen_says_it_at_its_end(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a").write_bytes(b"1\n")

    async def session() -> Session:
        return open_session(workspace, tmp_path, project=(project,))

    with (project / "a").open("r+b") as editor:
        async with opened(session) as running:
            change = FileChange(folder=project, path="a", expected=b"1\n", new=b"2\n")
            running.checkpoints.apply([change], "e_2")
            editor.write(b"mine\n")
            editor.flush()
            assert capsys.readouterr().err == ""
    assert "a was saved while a tool was changing it" in capsys.readouterr().err


async def test_a_session_that_opens_clears_up_after_one_that_was_killed_and_names_five_files(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    killed = open_session(workspace, tmp_path, project=(project,))
    besides = interrupt(killed, write(killed, *(f"f{number}" for number in range(8))))
    await killed.close()

    async def session() -> Session:
        return open_session(workspace, tmp_path, project=(project,))

    async with opened(session):
        assert [path for path in besides if path.exists()] == []
        assert "8 changed (f0, f1, f2, f3, f4 and 3 more); /undo" in capsys.readouterr().err
    assert capsys.readouterr().err == ""


def test_the_conversation_that_is_resumed_keeps_its_checkpoints(project: ProjectWithTools) -> None:
    project.tool(a=b"1\n")
    later = Checkpoints(project.state, FakeDay(40), keep_days=30)
    later.prune_once("c_1")
    assert len(later.history("c_1").records) == 1
