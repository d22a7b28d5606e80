"""A project with every file tool."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.checkpoints.checkpoints import Checkpoints
from agent.permissions.action import Action
from agent.permissions.policy import Policy
from agent.permissions.rules import RuleSet, Verdict, parse_rule
from agent.tools.files.apply_patch import ApplyPatch
from agent.tools.files.changes import FileChanges
from agent.tools.files.edit_file import EditFile, WriteFile
from agent.tools.files.find_files import FindFiles
from agent.tools.files.project import ProjectFolders
from agent.tools.files.read_file import ReadFile
from agent.tools.files.search_files import SearchFiles
from agent.tools.port import AgentTool, ToolRun
from foundation.clock import SystemClock


class ProjectTools:
    """The file tools on the folder `root`; `call` runs one as a turn does, permission included."""

    def __init__(self, root: Path, *more: Path, state: Path | None = None, rules: Sequence[str] = ()) -> None:
        self.root = root
        self.project = ProjectFolders((root, *more), root)
        checkpoints = Checkpoints(state or root.parent / f"{root.name}-state", SystemClock())
        self.changes = changes = FileChanges(self.project, checkpoints)
        parsed = (rule.partition(" ") for rule in rules)
        policy = Policy(RuleSet(parse_rule(Verdict(verdict), text) for verdict, _, text in parsed))
        tools: tuple[AgentTool, ...] = (
            FindFiles(self.project, policy.withheld),
            SearchFiles(self.project, policy.withheld, ripgrep=""),
            ReadFile(changes),
            WriteFile(changes),
            EditFile(changes),
            ApplyPatch(changes),
        )
        self.tools = {tool.definition.name: tool for tool in tools}

    def action(self, name: str, **arguments: Any) -> Action:
        return self.tools[name].action(arguments)

    def run(self, name: str, action: Action | None = None, **arguments: Any) -> str:
        return self.tools[name].run(arguments, ToolRun("e_test", threading.Event(), action=action))

    def call(self, name: str, **arguments: Any) -> str:
        return self.run(name, self.action(name, **arguments), **arguments)

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[ProjectTools]:
    root = tmp_path / "project"
    root.mkdir()
    yield ProjectTools(root)
