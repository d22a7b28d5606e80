"""The tool `open_skill`: the instructions of a skill, and the further files of its folder.

Opening a skill puts its `allowed-tools` in force for the rest of the turn (agent.permissions.skill_rules). A file that
is new or changed since the workspace was trusted is not read.
"""

import threading
from pathlib import Path
from typing import Any, Final

from agent.events import Notice
from agent.permissions.action import Access, Action
from agent.permissions.tool_facts import SubjectKind, declare_tool
from agent.tools.files.concerns import is_secret
from agent.tools.files.text_file import TextFile
from agent.tools.port import ToolFailure, ToolPurpose, ToolRun, UsualTool, string_argument
from context.sources.skills import Skill, SkillRegistry
from foundation.clock import SystemClock
from foundation.files import FileTooLarge, UnsafePath, is_file, list_files, list_folders, read_bytes, resolve_beneath
from foundation.files.resolve import resolve_within
from memory.memory import Memory
from models.messages import Tool
from models.prompts import prompt

_MOST_BYTES: Final = 2_000_000
_MOST_LISTED: Final = 50
_DEEPEST: Final = 4  # folders below the skill's own that are listed
_SKILL: Final = "SKILL.md"


class OpenSkill(UsualTool):
    """Reads a skill, or a file of its folder."""

    purpose = ToolPurpose.EXTRA
    only_reads = False  # it allows tools, and shows that
    facts = declare_tool("open_skill", Access.READ, SubjectKind.PATH)
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {
            "type": "object",
            "properties": {"skill": {"type": "string"}},
            "required": ["skill"],
        },
    )

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._registry = SkillRegistry(memory.workspace, SystemClock(), memory.has_skill)
        self._lock = threading.Lock()

    @property
    def is_offered(self) -> bool:
        """Whether the workspace has skills."""
        folder = self._memory.workspace.skills
        try:
            return any(is_file(path / _SKILL) for path in list_folders(resolve_within(folder, self._bounds)))
        except (OSError, UnsafePath):  # a link that is not followed
            return False

    def action(self, arguments: dict[str, Any]) -> Action:
        skill, path = self._named(string_argument(arguments, "skill"))
        subject = f"{_folder(skill)}/{path}"
        parts = tuple(subject.split("/"))
        return Action(
            tool=self.facts.name,
            access=self.facts.access,
            summary=f"open the skill {skill.name}" + (f": {path}" if path != _SKILL else ""),
            subject=subject,
            concern=f"{subject} looks like a file of keys or passwords." if is_secret(parts) else "",
        )

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        skill, path = self._named(string_argument(arguments, "skill"))
        root = self._root(skill)
        if path != _SKILL:
            return self._file(skill, root, path)
        for sentence in run.open_skill(skill):
            run.emit(Notice("info", sentence))
        files = _files(root)
        listed = f"\n\nFiles in {root}: {', '.join(files)}" if files else ""
        return f"{skill.name}\n{skill.body}{listed}"

    def _named(self, text: str) -> tuple[Skill, str]:
        """The skill, by its name or its folder's, and the path of a file below its folder. Raises ToolFailure."""
        wanted = text.strip().removeprefix("skills/").rstrip("/")
        with self._lock:
            self._registry.refresh()
            skills = self._registry.skills
        for skill in skills:
            for name in (skill.name, _folder(skill).partition("/")[2]):
                if wanted.casefold() == name.casefold():
                    return skill, _SKILL
                if wanted.casefold().startswith(f"{name.casefold()}/"):
                    return skill, wanted[len(name) + 1 :]
        known = ", ".join(skill.name for skill in skills) or "none"
        raise ToolFailure("No such skill", f"There is no skill “{text}”. The skills are: {known}.")

    @property
    def _bounds(self) -> Path:
        """The folder that holds the skills, where a link that the user allowed may lead."""
        workspace = self._memory.workspace
        return workspace.bounds_of(workspace.skills / _SKILL)

    def _root(self, skill: Skill) -> Path:
        """The skill's folder, without links."""
        folder = self._memory.workspace.skills / _folder(skill).partition("/")[2]
        try:
            return resolve_within(folder, self._bounds)
        except UnsafePath as error:
            raise ToolFailure("Not readable", error.message) from error

    def _file(self, skill: Skill, root: Path, path: str) -> str:
        shown = f"{_folder(skill)}/{path}"
        try:
            found = resolve_beneath((root,), path)
            if found.status is None:
                names = ", ".join(_files(root)) or "none"
                raise ToolFailure("No such file", f"{shown} does not exist. The skill's files are: {names}.")
            name = "/".join((_folder(skill), *found.parts))
            if not self._memory.has_skill(name):
                raise ToolFailure("Not trusted", f"{name} is new or changed since the user trusted the workspace.")
            data = read_bytes(found.path, most=_MOST_BYTES)
        except UnsafePath as error:
            text = f"{path} is not in the skill's folder." if error.reason == "outside" else error.message
            raise ToolFailure("Out of bounds", text) from error
        except FileTooLarge as error:
            raise ToolFailure("Too large", f"{shown} is larger than {_MOST_BYTES:,} bytes.") from error
        except OSError as error:
            raise ToolFailure("Not readable", f"{shown}: {error.strerror or error}.") from error
        if (text_file := TextFile.decode(data)) is None:
            raise ToolFailure("Not text", f"{shown} is no text file.")
        return text_file.text


def _folder(skill: Skill) -> str:
    """`skills/NAME`."""
    return skill.path.rpartition("/")[0]


def _files(root: Path) -> list[str]:
    """The further files of a skill's folder, relative to it; links are left out."""
    waiting, names = [root], list[str]()
    while waiting and len(names) <= _MOST_LISTED:
        here = waiting.pop(0)
        try:
            names += [path.relative_to(root).as_posix() for path in list_files(here)]
            if len(here.relative_to(root).parts) < _DEEPEST:
                waiting += [path for path in list_folders(here) if not path.name.startswith(".")]
        except OSError:
            continue
    names = [name for name in names if name != _SKILL]
    return [*names[:_MOST_LISTED], "…"] if len(names) > _MOST_LISTED else names
