"""A project folder, its checkpoints, and a tool's edit."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.checkpoints.change import CheckpointKind, CheckpointRecord, FileChange
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.restore import Restored, restore
from agent.checkpoints.snapshot import FileCoverage
from foundation.clock import SystemClock


class ProjectWithTools:
    """A project folder in which `tool` changes files as a tool does, and the test as a person does."""

    def __init__(self, folder: Path, state: Path, *, coverage: FileCoverage | None = None) -> None:
        self.folder = folder
        self.state = state
        self.coverage = coverage
        self.checkpoints = Checkpoints(state, SystemClock(), (folder,), coverage=coverage)
        self.turn(1)

    def turn(self, number: int) -> None:
        self.checkpoints.begin_turn("c_1", f"e_{number}")

    def tool(self, **new: bytes | None) -> CheckpointRecord:
        """Changes files by name (`__` for `/`), whatever they hold."""
        changes = [self.change(name.replace("__", "/"), body) for name, body in new.items()]
        return self.checkpoints.apply(changes, "e_result", label="write_file")

    def change(self, path: str, new: bytes | None, mode: int | None = None) -> FileChange:
        place = self.folder / path
        expected = place.read_bytes() if place.exists() else None
        return FileChange(folder=self.folder, path=path, expected=expected, new=new, mode=mode)

    def change_from(self, path: str, expected: bytes | None, new: bytes | None) -> FileChange:
        return FileChange(folder=self.folder, path=path, expected=expected, new=new)

    def undo(self) -> Restored:
        records = self.checkpoints.history("c_1").last_turn()
        return restore(self.checkpoints, records, CheckpointKind.UNDO, (self.folder,))

    def redo(self) -> Restored:
        reversal = self.checkpoints.history("c_1").last_reversal()
        assert reversal is not None
        return restore(self.checkpoints, (reversal,), CheckpointKind.REDO, (self.folder,))

    def rewind(self, turn: int) -> Restored:
        """To before the turn."""
        records = tuple(r for r in self.checkpoints.history("c_1").edits() if int(r.message[2:]) >= turn)
        return restore(self.checkpoints, records, CheckpointKind.REWIND, (self.folder,))

    def command(self, line: str, entry: str = "e_result", shell: str = "bash") -> tuple[CheckpointRecord, ...]:
        """Runs a command line as `run_command` does, whatever its exit status; the checkpoints that it made."""
        running = self.checkpoints.before_command(entry, label="run_command", seconds=60)
        subprocess.run([shell, "-c", line], cwd=self.folder, check=False, capture_output=True, stdin=subprocess.DEVNULL)
        self.checkpoints.after_command(running)
        return self.checkpoints.take_made(entry)

    def write(self, path: str, body: bytes) -> None:
        """As the person does."""
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_bytes(body)

    def files(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.folder).as_posix(): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }

    def folders(self) -> list[str]:
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_dir())

    def problems(self, restored: Restored) -> dict[str, str]:
        return {file.file.path: file.problem for file in restored.plan.conflicts}


def secured_project(tmp_path: Path, **settings: Any) -> ProjectWithTools:
    """A project of which the files are secured before commands. `settings` are fields of FileCoverage."""
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    coverage = FileCoverage(
        folders=lambda: (folder,),
        left_out=lambda name: name == ".palimpsest",
        is_history=lambda name: name == ".git",
        always=lambda name: name == ".env",
        **settings,
    )
    return ProjectWithTools(folder, tmp_path.resolve() / ".palimpsest" / "checkpoints", coverage=coverage)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ProjectWithTools]:
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    made = ProjectWithTools(folder, tmp_path.resolve() / ".palimpsest" / "checkpoints")
    yield made
    made.checkpoints.close()
