"""Skills: `skills/<name>/SKILL.md`, with a name and a description in the front matter, and the body below.

---
name: packing
description: Make a packing list from the weather and the length of a trip.
triggers: [packing list, what to pack]
---
…
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from msgspec import Struct

from context.notice import FileNotice
from context.sources.conditions import has_keyword
from context.sources.file_state import SourceFile, refreshed
from foundation.clock import Clock
from foundation.files import UnsafePath, resolve_within, scan
from foundation.paths import Workspace
from foundation.workspace_trust import trust_command
from foundation.yaml import BadYaml, load_yaml

DESCRIPTION_CHARACTERS = 300
_FOLDER = "skills"
_MOST_TOOLS = 100
_CHANGED = "new or changed since you trusted this workspace; not used until you run `{}`."


class Skill(Struct, frozen=True):
    """A skill. `digest` is the digest of its whole file. `allowed_tools` are the items of `allowed-tools`, as written:
    `Bash(git diff:*)`."""

    name: str
    description: str
    triggers: tuple[str, ...]
    body: str
    path: str
    digest: str
    allowed_tools: tuple[str, ...] = ()

    def called_by(self, text: str) -> bool:
        """Whether the message contains one of its triggers."""
        return has_keyword(text, self.triggers)


def _skill_files(folder: Path) -> list[Path]:
    """`<folder>/*/SKILL.md`. Raises UnsafePath where the folder is a link that leads out of the workspace."""
    inside = resolve_within(folder, folder.parent)
    files = [folder / entry.name / "SKILL.md" for entry, _ in scan(inside)]
    return [path for path in files if path.exists()]


class SkillRegistry:
    """Registry of a workspace's skills, read again when they change."""

    def __init__(self, workspace: Workspace, clock: Clock, is_trusted: Callable[[str], bool] = lambda _: True) -> None:
        """`is_trusted` tells whether the owner trusts the present content of a skill's file, by relative path."""
        self._workspace = workspace
        self._folder = workspace.skills
        self._is_trusted = is_trusted
        self._clock = clock
        self._files: dict[Path, SourceFile] = {}
        self._skills: dict[Path, Skill | None] = {}
        self._leads_out = False  # the folder is a link that is not followed
        self._has_read = False
        self._left_out: frozenset[str] = frozenset()  # paths of files that are not trusted
        self.skills: tuple[Skill, ...] = ()

    def refresh(self) -> tuple[FileNotice, ...]:
        """Reads the changed files; returns a notice for each that cannot be used."""
        notices: list[FileNotice] = []
        self._folder = self._workspace.skills
        try:
            paths = _skill_files(self._folder)
            self._leads_out = False
        except UnsafePath as error:
            paths = []
            if not self._leads_out and not self._workspace.is_read_only:
                command = trust_command(self._workspace, "--allow", _FOLDER)
                text = f"it links to a place outside the workspace; allow it with `{command}`."
                notices.append(FileNotice("warning", text if error.reason == "outside" else error.message, _FOLDER))
            self._leads_out = True
        files = {
            path: refreshed(self._files.get(path) or SourceFile(path), self._clock, self._workspace.bounds_of(path))
            for path in paths
        }
        skills: dict[Path, Skill | None] = {}
        for path, file in files.items():
            previous = self._files.get(path)
            if previous is not None and previous.digest == file.digest and previous.problem == file.problem:
                skills[path] = self._skills[path]
                continue
            relative_path = _relative(path)
            if file.problem:
                skills[path] = None
                notices.append(FileNotice("warning", f"{file.problem}; the skill is ignored.", relative_path))
            else:
                skills[path], problems = read_skill(file.text, file.digest, relative_path)
                notices += problems
        self._files, self._skills = files, skills
        left_out = frozenset(skill.path for skill in skills.values() if skill and not self._is_trusted(skill.path))
        if self._has_read and not self._workspace.is_read_only:  # opening the workspace reports the first read
            text = _CHANGED.format(trust_command(self._workspace))
            notices += [FileNotice("warning", text, name) for name in sorted(left_out - self._left_out)]
        self._left_out, self._has_read = left_out, True
        by_name = {s.name: s for s in reversed(list(skills.values())) if s and s.path not in left_out}
        self.skills = tuple(by_name[name] for name in sorted(by_name))
        return tuple(notices)

    @property
    def files(self) -> dict[str, SourceFile]:
        """The files as last read, by relative name."""
        return {_relative(path): file for path, file in self._files.items()}

    def find(self, name: str) -> Skill | None:
        """The skill of this name, compared case-insensitively."""
        return find_skill(self.skills, name)


def _relative(path: Path) -> str:
    return f"{_FOLDER}/{path.parent.name}/SKILL.md"


def find_skill(skills: Sequence[Skill], name: str) -> Skill | None:
    """The skill of this name, compared case-insensitively."""
    folded_name = name.strip().casefold()
    return next((skill for skill in skills if skill.name.casefold() == folded_name), None)


def read_skill(text: str, digest: str, relative_path: str) -> tuple[Skill | None, list[FileNotice]]:
    """Parses a SKILL.md; returns None and a notice where its front matter cannot be used."""
    lines = text.split("\n")
    if lines[0].strip() != "---":
        return None, [
            FileNotice(
                "warning", "a skill begins with front matter between `---` lines; it is ignored.", relative_path, 1
            )
        ]
    end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    if end is None:
        return None, [
            FileNotice("warning", "the front matter is not closed with `---`; the skill is ignored.", relative_path, 1)
        ]
    try:
        front = load_yaml("\n".join(lines[1:end]))
    except BadYaml as error:
        return None, [FileNotice("warning", f"{error.problem}; the skill is ignored.", relative_path, error.line + 1)]
    fields = cast("dict[str, object]", front) if isinstance(front, dict) else dict[str, object]()
    name, description = (_scalar_text(fields.get(key)) for key in ("name", "description"))
    if not name or not description:
        missing = "name" if not name else "description"
        return None, [
            FileNotice("warning", f"the front matter needs a {missing}; the skill is ignored.", relative_path, 1)
        ]
    triggers: object = fields.get("triggers") or []
    trigger_values = cast("list[object]", triggers) if isinstance(triggers, list) else [triggers]
    body = "\n".join(lines[end + 1 :]).strip()
    summary = " ".join(description.split())[:DESCRIPTION_CHARACTERS]
    trigger_words = tuple(word for word in map(_scalar_text, trigger_values) if word)
    return Skill(" ".join(name.split()), summary, trigger_words, body, relative_path, digest, _tools(fields)), []


_TOOL = re.compile(r"[^\s,()]{1,100}(?:\([^()]{0,300}\))?")


def _tools(fields: dict[str, object]) -> tuple[str, ...]:
    """The items of `allowed-tools`: a list, or a text with blanks or commas between them."""
    value = fields.get("allowed-tools")
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    return tuple(tool for item in items for tool in _TOOL.findall(_scalar_text(item)))[:_MOST_TOOLS]


def _scalar_text(value: object) -> str:
    """A scalar value as text; "" for a list or a mapping."""
    return "" if value is None or isinstance(value, list | dict | set) else str(value).strip()
