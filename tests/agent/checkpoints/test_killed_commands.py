"""While a command runs, its versions are kept; where its session is killed, the next one finds what it changed."""

import pytest

from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.command_changes import UnfinishedCommand
from foundation.clock import SystemClock
from tests.agent.checkpoints.conftest import ProjectWithTools


def begun(project: ProjectWithTools, seconds: float = 3600) -> UnfinishedCommand:
    """A command runs in a project in which a tool changed a file."""
    project.write("a", b"x=1\n")
    project.tool(a=b"x=2\n")
    running = project.checkpoints.before_command("e_3", label="run_command", seconds=seconds)
    assert running is not None
    return running


def test_versions_stay_when_another_process_deletes_a_conversation_meanwhile(project: ProjectWithTools) -> None:
    project.write("a", b"x=1\n")
    project.tool(a=b"x=2\n")
    project.write("a", b"mine, x=2\n")
    running = project.checkpoints.before_command("e_3", seconds=60)
    other = ProjectWithTools(project.folder, project.state)
    other.checkpoints.begin_turn("c_other", "e_9")
    other.tool(b=b"1\n")
    assert other.checkpoints.forget("c_other") == 1
    project.write("a", b"mine, x = 2\n")
    project.checkpoints.after_command(running)
    [made] = project.checkpoints.take_made("e_3")
    assert project.checkpoints.blobs.get(made.files[0].before) == b"mine, x=2\n"
    assert list((project.state / "commands").iterdir()) == []


def test_what_a_command_changed_whose_session_was_killed_is_undone(project: ProjectWithTools) -> None:
    running = begun(project)
    project.write("a", b"x = 2\n")
    running.lock.release()
    other = Checkpoints(project.state, SystemClock(), (project.folder,))
    assert other.take_notices() == ("A command was cut off with its session; /undo undoes its changes to a.",)
    assert list((project.state / "commands").iterdir()) == []
    assert project.undo().plan.conflicts == ()
    assert project.files() == {"a": b"x=1\n"}
    project.redo()
    assert project.files() == {"a": b"x = 2\n"}


def test_a_command_that_runs_is_left_alone_by_other_processes(project: ProjectWithTools) -> None:
    running = begun(project)
    project.write("a", b"x = 2\n")
    other = Checkpoints(project.state, SystemClock(), (project.folder,))
    assert other.take_notices() == ()
    assert len(other.history("c_1").records) == 1
    project.checkpoints.after_command(running)
    project.checkpoints.commands.settle()
    assert len(other.history("c_1").records) == 2


@pytest.mark.parametrize("deleted", [False, True])
def test_what_was_changed_after_the_command_can_have_run_is_the_persons(
    project: ProjectWithTools, deleted: bool
) -> None:
    begun(project, seconds=-1).lock.release()
    if deleted:
        (project.folder / "a").unlink()
    else:
        project.write("a", b"mine\n")
    assert project.checkpoints.take_notices() == ()
    assert len(project.checkpoints.history("c_1").records) == 1
    before = project.files()
    project.undo()
    assert project.files() == before


def test_a_killed_command_goes_with_its_conversation(project: ProjectWithTools) -> None:
    begun(project).lock.release()
    assert project.checkpoints.forget("c_1") == 1
    assert list((project.state / "commands").iterdir()) == []
    assert [path for path in (project.state / "blobs").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff"])
def test_a_damaged_file_of_a_command_is_dropped(project: ProjectWithTools, body: bytes) -> None:
    begun(project).lock.release()
    [place] = (project.state / "commands").glob("*.json")
    place.write_bytes(body)
    assert project.checkpoints.take_notices() == ()
    assert list(place.parent.iterdir()) == []
