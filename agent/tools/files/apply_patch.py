"""The tool `apply_patch`: changes several files at once, all or none."""

from typing import Any

from agent.permissions.action import Access, Action
from agent.permissions.tool_facts import OutcomeStyle, SubjectKind, declare_tool
from agent.tools.files.changes import FileChanges, PlannedChange
from agent.tools.files.nearest import nearest_place
from agent.tools.files.patch import FilePatch, Hunk, parse_patch
from agent.tools.files.project import ProjectPath
from agent.tools.files.text_file import TextEdit, TextFile
from agent.tools.output import text_lines
from agent.tools.port import ToolFailure, ToolPurpose, ToolRun, UsualTool, string_argument
from models.messages import Tool
from models.prompts import prompt


class ApplyPatch(UsualTool):
    """Applies a patch; nothing is changed unless each hunk fits exactly one place."""

    purpose = ToolPurpose.EXTRA
    facts = declare_tool(
        "apply_patch", Access.EDIT, SubjectKind.PATH, OutcomeStyle.FIRST_LINE, other_names=("MultiEdit",)
    )
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {"type": "object", "properties": {"patch": {"type": "string"}}, "required": ["patch"]},
    )

    def __init__(self, changes: FileChanges) -> None:
        self._changes = changes

    def action(self, arguments: dict[str, Any]) -> Action:
        return self._changes.action(self.facts.name, "patch", self._plan(arguments))

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        planned = self._plan(arguments)
        action = self._changes.action(self.facts.name, "patch", planned)
        self._changes.apply(self.facts.name, action, planned, run)
        verbs = [("added" if one.before is None else "deleted" if one.after is None else "changed") for one in planned]
        return "\n".join(f"{verb} {one.place.shown}" for verb, one in zip(verbs, planned, strict=True))

    def _plan(self, arguments: dict[str, Any]) -> list[PlannedChange]:
        planned = [change for patch in parse_patch(string_argument(arguments, "patch")) for change in self._of(patch)]
        names = [change.place.shown for change in planned]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ToolFailure("Not a patch", f"It names {twice} twice.")
        return planned

    def _of(self, patch: FilePatch) -> list[PlannedChange]:
        place = self._changes.project.locate(patch.path)
        if patch.content is not None:
            if place.exists:
                raise ToolFailure("File exists", f"{place.shown} exists. Update it, or delete it first.")
            return [PlannedChange(place, None, TextFile(patch.content).encode(patch.content, place.shown))]
        if not place.exists:
            raise ToolFailure("No such file", f"{place.shown} does not exist.")
        if patch.deletes and not patch.hunks:
            return [PlannedChange(place, self._changes.known(place), None)]
        data, text = self._changes.known_text(place)
        after = text.encode(text.replace_spans(_edits(patch.hunks, text, place)), place.shown)
        if patch.deletes:
            if after.strip():
                raise ToolFailure("Not the file", f"{place.shown} holds more than the patch deletes.")
            return [PlannedChange(place, data, None)]
        if not patch.move_to:
            return [PlannedChange(place, data, after)]
        target = self._changes.project.locate(patch.move_to)
        if target.exists:
            raise ToolFailure("File exists", f"{target.shown} exists.")
        return [PlannedChange(place, data, None), PlannedChange(target, None, after)]


def _edits(hunks: tuple[Hunk, ...], text: TextFile, place: ProjectPath) -> list[TextEdit]:
    """The edits of the hunks, in order. Raises ToolFailure where one fits no place, or several."""
    lines = text_lines(text.text)
    plain = [line.removesuffix("\n") for line in lines]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    edits, at = list[TextEdit](), 0
    for number, hunk in enumerate(hunks, 1):
        first = _line_of(hunk, plain, at, f"Hunk {number} of {place.shown}")
        at = first + len(hunk.old)
        edits.append(TextEdit(starts[first], starts[at], _new_text(hunk, lines, first, at)))
    return edits


def _new_text(hunk: Hunk, lines: list[str], first: int, end: int) -> str:
    """The new lines; the file's last line keeps having no line end, where it has none."""
    new = "".join(f"{line}\n" for line in hunk.new)
    unended = bool(lines) and not lines[-1].endswith("\n")
    if first == end == len(lines) and unended and new:
        return "\n" + new.removesuffix("\n")
    return new.removesuffix("\n") if unended and end == len(lines) and end > first else new


def _line_of(hunk: Hunk, plain: list[str], at: int, what: str) -> int:
    """The line (from 0) at which the hunk's old lines are, from line `at` on."""
    for header in hunk.after:
        found = [number for number in range(at, len(plain)) if plain[number].strip() == header.strip()]
        if not found:
            raise ToolFailure("Not found", f"{what}: there is no line {header!r} from line {at + 1} on.")
        at = found[0] + 1
    old = list(hunk.old)
    if not old:
        return _line_of_addition(hunk, plain, at, what)
    found = [number for number in range(at, len(plain) - len(old) + 1) if plain[number : number + len(old)] == old]
    if hunk.last:
        found = [number for number in found if number + len(old) == len(plain)]
    if hunk.line and hunk.line - 1 in found:
        return hunk.line - 1
    if not found:
        near = nearest_place("\n".join(old), "\n".join(plain))
        after = f" from line {at + 1} on" if at else ""
        raise ToolFailure("Not found", f"{what}: its old lines are not there{after}.", near)
    if len(found) > 1 and not hunk.after:
        where = ", ".join(str(number + 1) for number in found[:8])
        raise ToolFailure("Not unique", f"{what}: its old lines are at lines {where}. Give more lines around them.")
    return found[0]


def _line_of_addition(hunk: Hunk, plain: list[str], at: int, what: str) -> int:
    if hunk.line and at <= hunk.line <= len(plain):
        return hunk.line  # a unified diff names the line above the addition
    if hunk.after and not hunk.last:
        raise ToolFailure("Not found", f"{what} only adds lines. Give a line before or after them.")
    return len(plain)
