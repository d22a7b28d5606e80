"""The checkpoints of a session, and which files of the project are secured before a command."""

from agent.checkpoints.snapshot import FileCoverage
from agent.checkpoints.versioned import VersionedCheckpoints
from agent.tools.files.concerns import VERSION_CONTROL, comparable, is_secret, is_state
from agent.tools.files.project import ProjectFolders
from agent.tools.settings import ToolSettings
from foundation.clock import Clock
from foundation.paths import Workspace
from foundation.sizes import MEGABYTE
from memory.versions.file_history import FileHistory


def project_coverage(project: ProjectFolders, workspace: Workspace, settings: ToolSettings) -> FileCoverage:
    """The project folders, but for a home folder: without what .gitignore leaves out (files of keys excepted), and what
    the program writes in the workspace."""
    return FileCoverage(
        folders=lambda: () if project.concern else project.folders,
        left_out=is_state,
        always=lambda name: is_secret((name,)),
        is_history=lambda name: comparable(name) in VERSION_CONTROL,
        without=frozenset({workspace.conversations, workspace.memory_dir, workspace.memory_md}),
        file_bytes=settings.checkpoint_mb * MEGABYTE,
        ignored=settings.checkpoint_ignored,
    )


def open_checkpoints(
    workspace: Workspace, history: FileHistory, clock: Clock, project: ProjectFolders, settings: ToolSettings
) -> VersionedCheckpoints:
    """The checkpoints of a session."""
    coverage = project_coverage(project, workspace, settings)
    days = settings.checkpoint_days
    return VersionedCheckpoints(workspace, history, clock, project.folders, keep_days=days, coverage=coverage)
