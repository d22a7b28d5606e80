"""Checkpoints that are also versions of the workspace's own files."""

from collections.abc import Sequence
from pathlib import Path

from agent.checkpoints.change import CheckpointKind, CheckpointRecord, FileChange
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.snapshot import FileCoverage
from foundation.clock import Clock
from foundation.paths import Workspace
from memory.versions.cause import Author, Cause
from memory.versions.file_history import FileHistory, is_versioned


class VersionedCheckpoints(Checkpoints):
    """Records what tools and their undoing make of MEMORY.md, AGENTS.md, skills and the like."""

    def __init__(
        self,
        workspace: Workspace,
        history: FileHistory,
        clock: Clock,
        folders: Sequence[Path],
        *,
        keep_days: int,
        coverage: FileCoverage | None = None,
    ) -> None:
        super().__init__(workspace.checkpoints, clock, folders, keep_days=keep_days, coverage=coverage)
        self._root = workspace.root
        self._history = history

    def make(
        self,
        changes: Sequence[FileChange],
        kind: CheckpointKind,
        *,
        entry: str = "",
        label: str = "",
        reverts: tuple[str, ...] = (),
        conversation: str | None = None,
    ) -> CheckpointRecord:
        record = super().make(changes, kind, entry=entry, label=label, reverts=reverts, conversation=conversation)
        is_tool = kind is CheckpointKind.TOOL
        words = f"tool {label}" if is_tool else label or kind.value
        cause = Cause(
            Author.MODEL if is_tool else Author.USER,
            f"{words} in {record.conversation}" if record.conversation else words,
        )
        for change in changes:
            if (name := self._name(change.place)) and is_versioned(name):
                replaced = () if change.expected is None else (change.expected,)
                self._history.wrote(name, replaced, change.new, cause)
        return record

    def _name(self, place: Path) -> str:
        return place.relative_to(self._root).as_posix() if place.is_relative_to(self._root) else ""
