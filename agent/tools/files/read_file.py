"""The tool `read_file`: lines of a text file of the project."""

from typing import Any, Final

from agent.permissions.action import Access, Action
from agent.tools.files.project import ProjectFolders
from agent.tools.output import text_lines
from agent.tools.port import ToolFailure, ToolRun, string_argument, whole_argument
from foundation.files import FileTooLarge, read_bytes
from models.messages import Tool

MAX_FILE_BYTES: Final = 20_000_000  # of a file that is read


class ReadFile:
    """Reads a text file of the project, whole or by lines."""

    stores_arguments = False
    structured = False
    only_reads = True
    definition = Tool(
        "read_file",
        "Read a text file of the project, whole or `limit` lines from line `offset` on (1 is the first).",
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

    def __init__(self, project: ProjectFolders) -> None:
        self._project = project

    def action(self, arguments: dict[str, Any]) -> Action:
        place = self._project.locate(string_argument(arguments, "path"))
        return Action(
            tool=self.definition.name,
            access=Access.READ,
            summary=f"read {place.shown}",
            subject=place.shown,
            concern=self._project.reading_concern(place),
        )

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        place = self._project.locate(string_argument(arguments, "path"))
        offset, limit = whole_argument(arguments, "offset", 1, least=1), whole_argument(arguments, "limit", 0)
        try:
            text = read_bytes(place.path, most=MAX_FILE_BYTES).decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise ToolFailure("Not text", f"{place.shown} is not UTF-8 text.") from error
        except FileTooLarge as error:
            raise ToolFailure("Too large", f"{place.shown} is larger than {MAX_FILE_BYTES:,} bytes.") from error
        except OSError as error:
            raise ToolFailure("Not readable", f"{place.shown}: {error.strerror}.") from error
        if offset == 1 and not limit:
            return text
        lines = text_lines(text)
        if offset > len(lines):
            raise ToolFailure("No such line", f"{place.shown} has {len(lines):,} lines.")
        return "".join(lines[offset - 1 : offset - 1 + limit if limit else None])
