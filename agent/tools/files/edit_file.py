"""The tools `edit_file`, which replaces an exact text in a file, and `write_file`, which writes a whole file."""

from typing import Any

from agent.permissions.action import Access, Action
from agent.permissions.tool_facts import OutcomeStyle, SubjectKind, declare_tool
from agent.tools.files.changes import FileChanges, PlannedChange
from agent.tools.files.nearest import nearest_place
from agent.tools.files.text_file import TextEdit, TextFile
from agent.tools.port import ToolFailure, ToolPurpose, ToolRun, UsualTool, flag_argument, string_argument, text_argument
from models.messages import Tool
from models.prompts import prompt

_SHOWN_LINES = 8  # of the places where an ambiguous text was found


class EditFile(UsualTool):
    """Replaces an exact text, which must be there once, or everywhere with `all`."""

    purpose = ToolPurpose.PROJECT
    facts = declare_tool(
        "edit_file", Access.EDIT, SubjectKind.PATH, OutcomeStyle.FIRST_LINE, other_names=("Edit", "MultiEdit")
    )
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "old": {"type": "string"},
                "new": {"type": "string"},
                "all": {"type": "boolean"},
            },
            "required": ["path", "old", "new"],
        },
    )

    def __init__(self, changes: FileChanges) -> None:
        self._changes = changes

    def action(self, arguments: dict[str, Any]) -> Action:
        return self._changes.action(self.facts.name, "edit", [self._plan(arguments)[0]])

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        planned, lines = self._plan(arguments)
        action = self._changes.action(self.facts.name, "edit", [planned])
        self._changes.apply(self.facts.name, action, [planned], run)
        count = len(lines)
        return f"{planned.place.shown}: {count:,} replacement{'' if count == 1 else 's'} at {_line_list(lines)}."

    def _plan(self, arguments: dict[str, Any]) -> tuple[PlannedChange, list[int]]:
        """The change, and the lines where the text was found."""
        place = self._changes.project.locate(string_argument(arguments, "path"))
        old = text_argument(arguments, "old").replace("\r\n", "\n")
        new = text_argument(arguments, "new").replace("\r\n", "\n")
        if not old:
            raise ToolFailure("Missing argument", "“old” must not be empty. write_file writes a whole file.")
        if not place.exists:
            raise ToolFailure("No such file", f"{place.shown} does not exist. write_file makes files.")
        data, text = self._changes.known_text(place)
        offsets = _occurrences(old, text.text)
        lines = _line_numbers(text.text, offsets)
        if not offsets:
            near = nearest_place(old, text.text)
            raise ToolFailure("Not found", f"“old” is not in {place.shown}.", near or "Nothing there is like it.")
        if len(offsets) > 1 and not flag_argument(arguments, "all"):
            where = f"{place.shown} {len(offsets):,} times, at {_line_list(lines)}"
            raise ToolFailure("Not unique", f"“old” is in {where}.", "Give more of the text around it, or `all`.")
        raw = text.replace_spans([TextEdit(offset, offset + len(old), new) for offset in offsets])
        return PlannedChange(place, data, text.encode(raw, place.shown)), lines


class WriteFile(UsualTool):
    """Writes a whole file; one that exists must have been read."""

    purpose = ToolPurpose.PROJECT
    facts = declare_tool("write_file", Access.EDIT, SubjectKind.PATH, OutcomeStyle.FIRST_LINE, other_names=("Write",))
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
    )

    def __init__(self, changes: FileChanges) -> None:
        self._changes = changes

    def action(self, arguments: dict[str, Any]) -> Action:
        return self._changes.action(self.facts.name, "write", [self._plan(arguments)])

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        planned = self._plan(arguments)
        action = self._changes.action(self.facts.name, "write", [planned])
        self._changes.apply(self.facts.name, action, [planned], run)
        return f"{planned.place.shown}: {len(planned.after or b''):,} bytes written."

    def _plan(self, arguments: dict[str, Any]) -> PlannedChange:
        place = self._changes.project.locate(string_argument(arguments, "path"))
        if not isinstance(arguments.get("content"), str):
            raise ToolFailure("Missing argument", "“content” must be a string.")
        content = text_argument(arguments, "content")
        if not place.parts:
            raise ToolFailure("Not a file", f"{place.shown} is a folder.")
        if not place.exists:
            return PlannedChange(place, None, TextFile(content).encode(content, place.shown))
        data = self._changes.known(place)
        text = TextFile.decode(data) or TextFile("")
        raw = content if text.line_end == "\n" else content.replace("\r\n", "\n").replace("\n", "\r\n")
        return PlannedChange(place, data, text.encode(raw, place.shown))


def _occurrences(old: str, text: str) -> list[int]:
    """The offsets at which `old` is in the text, without overlaps."""
    offsets, at = list[int](), text.find(old)
    while at >= 0:
        offsets.append(at)
        at = text.find(old, at + len(old))
    return offsets


def _line_numbers(text: str, offsets: list[int]) -> list[int]:
    lines, line, at = list[int](), 1, 0
    for offset in offsets:
        line += text.count("\n", at, offset)
        at = offset
        lines.append(line)
    return lines


def _line_list(lines: list[int]) -> str:
    shown = ", ".join(f"{line:,}" for line in lines[:_SHOWN_LINES])
    more = f" and {len(lines) - _SHOWN_LINES:,} more" if len(lines) > _SHOWN_LINES else ""
    return f"line{'' if len(lines) == 1 else 's'} {shown}{more}"
