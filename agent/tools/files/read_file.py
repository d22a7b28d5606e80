"""The tool `read_file`: lines of a text file of the project, pages of a document, or a picture."""

from collections.abc import Callable
from typing import Any

from agent.permissions.action import Access, Action
from agent.permissions.tool_facts import SubjectKind, declare_tool
from agent.tools.files.changes import FileChanges
from agent.tools.files.documents import OpenOcr, document_text, is_document, picture
from agent.tools.files.project import ProjectPath
from agent.tools.files.text_file import TextFile
from agent.tools.output import text_lines
from agent.tools.port import ToolFailure, ToolPurpose, ToolRun, UsualTool, string_argument, whole_argument
from models.messages import Tool
from models.prompts import prompt


class ReadFile(UsualTool):
    """Reads a file of the project, whole or in part."""

    purpose = ToolPurpose.PROJECT
    only_reads = True
    facts = declare_tool("read_file", Access.READ, SubjectKind.PATH, other_names=("Read",))
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
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

    def __init__(
        self,
        changes: FileChanges,
        open_ocr: OpenOcr = lambda: None,
        sees_pictures: Callable[[], bool] = lambda: False,
    ) -> None:
        """`sees_pictures` says whether the model of the turn does; another gets the words in them."""
        self._changes = changes
        self._open_ocr = open_ocr
        self._sees_pictures = sees_pictures

    def action(self, arguments: dict[str, Any]) -> Action:
        project = self._changes.project
        place = project.locate_to_read(string_argument(arguments, "path"))
        return Action(
            tool=self.facts.name,
            access=self.facts.access,
            summary=f"read {place.shown}",
            subject=place.shown,
            concern=project.reading_concern(place),
        )

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        place = self._changes.project.permitted(string_argument(arguments, "path"), run, to_read=True)
        offset, limit = whole_argument(arguments, "offset", 1, least=1), whole_argument(arguments, "limit", 0)
        data = self._changes.read(place)
        text = None if is_document(data) else TextFile.decode(data)
        if text is None:
            return self._document(place, data, (offset, limit), run)
        self._changes.note_read(place, data)
        if offset == 1 and not limit:
            return text.text
        lines = text_lines(text.text)
        if offset > len(lines):
            raise ToolFailure("No such line", f"{place.shown} has {len(lines):,} lines.")
        return "".join(lines[offset - 1 : offset - 1 + limit if limit else None])

    def _document(self, place: ProjectPath, data: bytes, pages: tuple[int, int], run: ToolRun) -> str:
        """A picture, which the model sees, or the text of a document."""
        if self._sees_pictures() and (image := picture(data, place.shown)) is not None:
            text = f"{place.shown}: a picture of {image.width}×{image.height} pixels, shown with this result."
            run.show(image)
        else:
            text = document_text(data, place.shown, *pages, self._open_ocr)
        self._changes.note_read(place, data)
        return text
