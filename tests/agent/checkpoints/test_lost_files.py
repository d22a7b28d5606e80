"""No command loses a file of the project without a way back: each content from before is there again after `/undo`, or
is named as kept beside."""

import shutil
import sys
from pathlib import Path

import pytest

from agent.checkpoints.checkpoints import Checkpoints
from tests.agent.checkpoints.conftest import ProjectWithTools, secured_project
from tests.agent.checkpoints.lost_files import BY_HAND, PLACES, generated

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the lines are of a POSIX shell")


def lost(project: ProjectWithTools, line: str, away: Path) -> list[str]:
    """The files whose content is nowhere after the command, without the temporary folder, and its undoing."""
    shutil.rmtree(project.folder)
    for number, place in enumerate(PLACES):
        project.write(place, b"mine %d, \xe5\xba\x97\n" % number * 3)
    project.write("x/a.py", b"new\n")
    project.write("old/d/e.txt", b"old\n")
    before = {name: body for name, body in project.files().items() if not name.startswith(".git/")}
    away.mkdir()
    project.turn(project_turns(project))
    line = line.replace("{away}", str(away)).replace("{git}", "git -c user.name=a -c user.email=a@b")
    made = project.command(line.replace("{{", "{").replace("}}", "}"))
    shutil.rmtree(away)
    kept: dict[str, bytes] = {}
    if made:
        restored = project.undo()
        kept = {str(place): beside.read_bytes() for place, beside in restored.kept}
    now = project.files()
    return [
        name for name, body in before.items() if now.get(name) != body and kept.get(str(project.folder / name)) != body
    ]


def project_turns(project: ProjectWithTools) -> int:
    return len(project.checkpoints.history("c_1").records) + 2


def all_lost(tmp_path: Path, lines: list[str]) -> dict[str, list[str]]:
    project = secured_project(tmp_path)
    found = {line: lost(project, line, tmp_path / "away") for line in lines}
    project.checkpoints.close()
    return {line: names for line, names in found.items() if names}


def sample(lines: list[str], count: int) -> list[str]:
    return lines[:: max(1, len(lines) // count)]


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_no_command_loses_a_file(tmp_path: Path) -> None:
    assert len(BY_HAND) >= 190
    assert all_lost(tmp_path, [*sample(BY_HAND, 15), *generated(1, 10)]) == {}


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_no_command_of_all_loses_a_file(tmp_path: Path) -> None:
    assert all_lost(tmp_path, [*BY_HAND, *generated(2, 200)]) == {}


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_without_securing_files_are_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control."""

    def nothing(_self: Checkpoints, _entry: str, *, label: str, seconds: float) -> None:
        assert label and seconds

    monkeypatch.setattr(Checkpoints, "before_command", nothing)
    assert len(all_lost(tmp_path, sample(BY_HAND, 6))) >= 5
