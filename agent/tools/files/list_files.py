"""The tool `list_files`: the names in one folder of the project."""

from threading import Event
from typing import Any

from agent.permissions.action import Access, Action
from agent.tools.files.concerns import is_state
from agent.tools.files.project import ProjectFolders, ProjectPath, printable
from agent.tools.files.walk import ProjectWalk
from agent.tools.port import ToolFailure, ToolRun, text_argument
from foundation.files import list_kinds, read_link
from models.messages import Tool


class ListFiles:
    """Lists one folder of the project: folders end with /, links say where they lead."""

    stores_arguments = False
    structured = False
    only_reads = True
    definition = Tool(
        "list_files",
        "List a folder of the project.",
        {"type": "object", "properties": {"path": {"type": "string"}}},
    )

    def __init__(self, project: ProjectFolders) -> None:
        self._project = project

    def action(self, arguments: dict[str, Any]) -> Action:
        place = self._project.locate(text_argument(arguments, "path") or ".")
        return Action(
            tool=self.definition.name,
            access=Access.READ,
            summary=f"list {place.shown}",
            subject=place.shown,
            concern=self._project.reading_concern(place),
        )

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        place = self._project.permitted(text_argument(arguments, "path") or ".", run)
        try:
            entries = [entry for entry in list_kinds(place.path) if not is_state(entry.name)]
        except OSError as error:
            raise ToolFailure("Not a folder", f"{place.shown}: {error.strerror or error}.") from error
        names = [(name, kind == "folder") for name, kind in entries]
        ignored = ProjectWalk(self._project, Event()).ignored(place, names)
        lines = [_line(place, name, kind, name in ignored) for name, kind in entries]
        return "\n".join([f"{place.shown}: {len(lines):,} entr{'y' if len(lines) == 1 else 'ies'}", *lines])


def _line(place: ProjectPath, name: str, kind: str, ignored: bool) -> str:
    shown = printable(name)
    if kind == "link":
        try:
            shown = f"{shown} -> {printable(read_link(place.path / name))}"
        except OSError:  # removed meanwhile
            shown = f"{shown} -> ?"
    elif kind == "folder":
        shown += "/"
    elif kind == "special":
        shown += " (no file)"
    return f"{shown} (ignored)" if ignored else shown
