"""The tool `read_file`: lines of a text file of the project, pages of a document, or a picture."""

from typing import Any

from agent.permissions.action import Access, Action
from agent.tools.files.changes import FileChanges
from agent.tools.files.text_file import TextFile
from agent.tools.output import text_lines
from agent.tools.port import ToolFailure, ToolRun, string_argument, whole_argument
from models.messages import Tool


class ReadFile:
    """Reads a file of the project, whole or in part."""

    stores_arguments = False
    structured = False
    only_reads = True
    definition = Tool(
        "read_file",
        "Read a project file, whole or `limit` lines from `offset` (1 is the first).",
        {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "offset": {"type": "integer"},
                "limit": {"type": "integer"},
            },
            "required": ["path"],
        },
    )

    def __init__(self, changes: FileChanges) -> None:
        self._changes = changes

    def action(self, arguments: dict[str, Any]) -> Action:
        project = self._changes.project
        place = project.locate(string_argument(arguments, "path"))
        return Action(
            tool=self.definition.name,
            access=Access.READ,
            summary=f"read {place.shown}",
            subject=place.shown,
            concern=project.reading_concern(place),
        )

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        place = self._changes.project.permitted(string_argument(arguments, "path"), run)
        offset, limit = whole_argument(arguments, "offset", 1, least=1), whole_argument(arguments, "limit", 0)
        data = self._changes.read(place)
        if (text := TextFile.decode(data)) is None:
            raise ToolFailure("Not text", f"{place.shown} is no text file.")
        self._changes.note_read(place, data)
        if offset == 1 and not limit:
            return text.text
        lines = text_lines(text.text)
        if offset > len(lines):
            raise ToolFailure("No such line", f"{place.shown} has {len(lines):,} lines.")
        return "".join(lines[offset - 1 : offset - 1 + limit if limit else None])
