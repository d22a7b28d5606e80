"""Skills: `skills/<name>/SKILL.md`, a name and a description in its front matter, the body below.

---
name: packing
description: Make a packing list from the weather and the length of a trip.
triggers: [packing list, what to pack]
---
…
"""

from collections.abc import Callable
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
_NAME = "skills"
_CHANGED = "it is new or changed since you trusted this workspace; the skill is left out until `{}` allows it."


class Skill(Struct, frozen=True):
    """One skill. `digest` is of its whole file."""

    name: str
    description: str
    triggers: tuple[str, ...]
    body: str
    path: str
    digest: str

    def called_by(self, text: str) -> bool:
        """Whether the message contains one of its triggers."""
        return has_keyword(text, self.triggers)


def _skill_files(folder: Path) -> list[Path]:
    """`<folder>/*/SKILL.md`. Raises UnsafePath where the folder is a link that leads out of the workspace."""
    inside = resolve_within(folder, folder.parent)
    files = [folder / entry.name / "SKILL.md" for entry, _ in scan(inside)]
    return [path for path in files if path.exists()]


class SkillRegistry:
    """The skills of a workspace, read again when they change."""

    def __init__(self, workspace: Workspace, clock: Clock, in_force: Callable[[str], bool] = lambda _: True) -> None:
        """`in_force` tells whether the owner trusted a skill's file (`skills/<name>/SKILL.md`) as it is."""
        self._workspace = workspace
        self._folder = workspace.skills
        self._in_force = in_force
        self._clock = clock
        self._files: dict[Path, SourceFile] = {}
        self._skills: dict[Path, Skill | None] = {}
        self._leads_out = False  # the folder is a link that is not followed
        self._looked = False
        self._left_out: frozenset[str] = frozenset()  # names of files that are not in force
        self.skills: tuple[Skill, ...] = ()

    def refresh(self) -> tuple[FileNotice, ...]:
        """Reads the files that changed; gives a notice for each that cannot be used."""
        notices: list[FileNotice] = []
        self._folder = self._workspace.skills
        try:
            paths = _skill_files(self._folder)
            self._leads_out = False
        except UnsafePath as error:
            paths = []
            if not self._leads_out and not self._workspace.is_read_only:
                command = trust_command(self._workspace, "--allow", _NAME)
                said = f"it is a link that leads out of the workspace; `{command}` follows it."
                notices.append(FileNotice("warning", said if error.reason == "outside" else error.message, _NAME))
            self._leads_out = True
        files = {
            path: refreshed(self._files.get(path) or SourceFile(path), self._clock, self._workspace.bounds_of(path))
            for path in paths
        }
        skills: dict[Path, Skill | None] = {}
        for path, file in files.items():
            known = self._files.get(path)
            if known is not None and known.digest == file.digest and known.trouble == file.trouble:
                skills[path] = self._skills[path]
                continue
            shown = f"{_NAME}/{path.parent.name}/SKILL.md"
            if file.trouble:
                skills[path] = None
                notices.append(FileNotice("warning", f"{file.trouble}; the skill is left out.", shown))
            else:
                skills[path], found = read_skill(file.text, file.digest, shown)
                notices += found
        self._files, self._skills = files, skills
        left_out = frozenset(skill.path for skill in skills.values() if skill and not self._in_force(skill.path))
        if self._looked and not self._workspace.is_read_only:  # said at opening of the whole workspace
            said = _CHANGED.format(trust_command(self._workspace))
            notices += [FileNotice("warning", said, name) for name in sorted(left_out - self._left_out)]
        self._left_out, self._looked = left_out, True
        by_name = {s.name: s for s in reversed(list(skills.values())) if s and s.path not in left_out}
        self.skills = tuple(by_name[name] for name in sorted(by_name))
        return tuple(notices)

    def find(self, name: str) -> Skill | None:
        """The skill of this name, in any case."""
        wanted = name.strip().casefold()
        return next((skill for skill in self.skills if skill.name.casefold() == wanted), None)


def read_skill(text: str, digest: str, shown: str) -> tuple[Skill | None, list[FileNotice]]:
    """Parses a SKILL.md; None and a notice where its front matter cannot be used."""
    lines = text.split("\n")
    if lines[0].strip() != "---":
        return None, [
            FileNotice("warning", "a skill begins with front matter between `---` lines; it is left out.", shown, 1)
        ]
    end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    if end is None:
        return None, [
            FileNotice("warning", "the front matter is not closed with `---`; the skill is left out.", shown, 1)
        ]
    try:
        front = load_yaml("\n".join(lines[1:end]))
    except BadYaml as error:
        return None, [FileNotice("warning", f"{error.said}; the skill is left out.", shown, error.line + 1)]
    fields = cast("dict[str, object]", front) if isinstance(front, dict) else dict[str, object]()
    name, description = (_word(fields.get(key)) for key in ("name", "description"))
    if not name or not description:
        missing = "name" if not name else "description"
        return None, [FileNotice("warning", f"the front matter needs a {missing}; the skill is left out.", shown, 1)]
    triggers: object = fields.get("triggers") or []
    words = cast("list[object]", triggers) if isinstance(triggers, list) else [triggers]
    body = "\n".join(lines[end + 1 :]).strip()
    short = " ".join(description.split())[:DESCRIPTION_CHARACTERS]
    named = tuple(word for word in map(_word, words) if word)
    return Skill(" ".join(name.split()), short, named, body, shown, digest), []


def _word(value: object) -> str:
    """The value as text; "" for a list or a mapping, which is no name."""
    return "" if value is None or isinstance(value, list | dict | set) else str(value).strip()
