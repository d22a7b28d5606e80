"""The line on where and when a conversation takes place, for the opening of its requests."""

import platform
from datetime import datetime
from pathlib import Path
from typing import Final

from agent.project.git_files import GitFiles, branch_of
from agent.tools.commands.process import shell_arguments
from context.assembly.environment import date_sentence
from foundation.paths import home_shortened
from models.fence import label

GIT_WAIT_S: Final = 1.0  # seconds that a request waits for git; without an answer the line says nothing of changes
_SYSTEMS: Final = {"Darwin": "macOS"}


class Environment:
    """Describes the session's environment; outside a project only the date and the time zone."""

    def __init__(self, folder: Path, root: Path, *, is_project: bool) -> None:
        """`folder` is where the user is, `root` the project's root."""
        self._folder, self._root, self._is_project = folder, root, is_project
        self._git = GitFiles([(root, "")])

    def line(self, now: datetime, is_small: bool = False) -> str:
        """The line for a local time. A small model, which repeats it, has none outside a project. Waits at most
        `GIT_WAIT_S`."""
        if is_small and not self._is_project:
            return ""
        offset = f"{now:%z}"
        when = f"{date_sentence(now)} Time zone: {now.tzname()} (UTC{offset[:3]}:{offset[3:5]})."
        if not self._is_project:
            return when
        system, shell = platform.system(), Path(shell_arguments("")[0]).name
        names = f"Working folder: {label(home_shortened(self._folder))} (project {label(self._root.name)})"
        return f"{when} System: {_SYSTEMS.get(system, system)}, shell {shell}. {names}{self._git_state()}."

    def _git_state(self) -> str:
        branch = branch_of(self._root)
        if not branch:
            return ""
        names = self._git.names(GIT_WAIT_S, is_fresh=True)
        state = ", with uncommitted changes" if names.changed else ", clean" if names.tracked else ""
        return f", git branch {label(branch, 100)}{state}"
