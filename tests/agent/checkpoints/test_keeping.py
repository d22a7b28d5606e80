"""What is kept and for how long; what commands changed; full disks, other processes and other programs."""

import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.checkpoints.change import ChangedFile, CheckpointKind
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.conflicts import keep_beside
from agent.checkpoints.merge import merge_bytes
from agent.tools.commands.commands import Commands
from agent.tools.commands.run_command import RunCommand
from agent.tools.commands.sandbox import Sandbox, SandboxFolders
from agent.tools.files.project import ProjectFolders
from agent.tools.port import ToolRun, ToolSettings
from foundation.clock import SystemClock
from foundation.errors import PalimpsestError
from tests.agent.checkpoints.conftest import ProjectWithTools


class FakeDay(SystemClock):
    """A clock that is so many days ahead."""

    def __init__(self, days: int) -> None:
        self._days = days

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=self._days)


def versions(state: Path) -> int:
    return sum(path.is_file() for path in (state / "blobs").rglob("*"))


def test_checkpoints_of_conversations_that_rest_are_removed(project: ProjectWithTools) -> None:
    project.tool(a=b"1\n")
    project.tool(a=b"2\n")
    project.checkpoints.begin_turn("c_2", "e_2")
    project.tool(b=b"1\n")
    later = Checkpoints(project.state, FakeDay(40), keep_days=30)
    later.begin_turn("c_2", "e_2")
    assert later.prune() == 2
    assert later.history("c_1").records == ()
    assert len(later.history("c_2").records) == 1, "the open conversation keeps its own"
    assert versions(project.state) == 1


@pytest.mark.parametrize(
    ("checkpoint", "path"),
    [("ck_1", "../../../evil"), ("ck_1", "/evil"), ("ck_1", "a/../../../../evil"), ("../../..", "evil"), ("ck_1", "")],
)
def test_a_forged_journal_keeps_nothing_outside_its_folder(tmp_path: Path, checkpoint: str, path: str) -> None:
    folder = tmp_path / "state" / "checkpoints"
    folder.mkdir(parents=True)
    file = ChangedFile(folder=str(tmp_path / "project"), path=path, before="", after="", beside="")
    with pytest.raises(PalimpsestError):
        keep_beside(folder, checkpoint, file, b"evil")
    assert not [found for found in tmp_path.rglob("*") if found.is_file()]


def test_a_merge_of_very_many_lines_is_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = (b"1\n2\n3\n4\n", b"one\n2\n3\n4\n", b"1\n2\n3\nfour\n")
    assert merge_bytes(*sides) == b"one\n2\n3\nfour\n"
    monkeypatch.setattr("agent.checkpoints.merge._MOST_LINES", 3)
    assert merge_bytes(*sides) is None


@pytest.mark.parametrize(("days", "keep_days"), [(20, 30), (4000, 0)])
def test_checkpoints_are_kept_as_long_as_the_setting_says(project: ProjectWithTools, days: int, keep_days: int) -> None:
    project.tool(a=b"1\n")
    assert Checkpoints(project.state, FakeDay(days), keep_days=keep_days).prune() == 0
    assert len(project.checkpoints.history("c_1").records) == 1


def test_those_of_a_deleted_conversation_go_with_it(project: ProjectWithTools) -> None:
    project.write("a", b"secret\n")
    project.tool(a=b"2\n")
    project.write("a", b"mine\n")
    project.undo()
    assert project.checkpoints.forget("c_1") == 2, "the tool's, and the undo that could restore nothing"
    left = [path for path in project.state.rglob("*") if path.is_file()]
    assert sorted(path.name for path in left) == ["journal.jsonl", "journal.lock"]
    assert (project.state / "journal.jsonl").read_bytes() == b""


def test_undo_goes_back_past_a_command_that_changed_the_same_lines(project: ProjectWithTools) -> None:
    project.write("a", b"x=1\n")
    project.tool(a=b"x=2\n")
    running = project.checkpoints.before_command("e_3", label="run_command")
    project.write("a", b"x = 2\n")
    project.checkpoints.after_command(running)
    [made] = project.checkpoints.take_made("e_3")
    assert [file.path for file in made.files] == ["a"]
    restored = project.undo()
    assert project.files() == {"a": b"x=1\n"}
    assert [file.command for file in restored.plan.files] == [True]
    project.redo()
    assert project.files() == {"a": b"x = 2\n"}


def test_a_command_that_changed_nothing_makes_no_checkpoint(project: ProjectWithTools) -> None:
    project.checkpoints.after_command(project.checkpoints.before_command("e_2"))
    project.tool(a=b"1\n")
    project.checkpoints.after_command(project.checkpoints.before_command("e_3"))
    assert project.checkpoints.take_made("e_3") == ()
    assert list((project.state / "commands").iterdir()) == []


def test_two_processes_change_files_one_after_the_other(project: ProjectWithTools) -> None:
    """Each change reads the file and adds a line; where another was first, it tries again."""
    from foundation.files.conditional import UnexpectedContent

    other = ProjectWithTools(project.folder, project.state)
    project.write("a", b"")

    def add_lines(tools: ProjectWithTools, name: str) -> None:
        for number in range(15):
            while True:
                body = (tools.folder / "a").read_bytes()
                try:
                    tools.checkpoints.apply([tools.change_from("a", body, body + f"{name}{number}\n".encode())], "e_2")
                except UnexpectedContent:
                    continue
                break

    threads = [threading.Thread(target=add_lines, args=pair) for pair in ((project, "x"), (other, "y"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(project.files()["a"].splitlines())) == 30
    assert len(project.checkpoints.history("c_1").records) == 30


def test_the_tool_that_runs_commands_makes_a_checkpoint_of_what_it_changed(project: ProjectWithTools) -> None:
    project.tool(a=b"x=1\n")
    sandbox = Sandbox(SandboxFolders(writable=[project.folder], home=project.folder), enabled=False)
    commands = Commands(ProjectFolders([project.folder]), sandbox, ToolSettings(), os.environ)
    try:
        run = ToolRun("e_9", threading.Event())
        RunCommand(commands, project.checkpoints).run({"command": "echo 'x = 1' > a"}, run)
    finally:
        commands.close()
    [made] = project.checkpoints.take_made("e_9")
    assert (made.kind, made.label) == (CheckpointKind.COMMAND, "run_command")
    project.undo()
    assert project.files() == {}
