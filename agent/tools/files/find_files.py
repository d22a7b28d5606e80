"""The tool `find_files`, which lists a folder or finds files by a glob, and the globs by which tools choose files."""

import re
from collections.abc import Callable, Iterable
from threading import Event
from typing import Any, Final

from agent.permissions.action import Access, Action
from agent.permissions.tool_facts import SubjectKind, declare_tool
from agent.tools.files.concerns import is_state
from agent.tools.files.project import ProjectFolders, ProjectPath, printable
from agent.tools.files.walk import FoundFile, ProjectWalk, Withheld, nothing_withheld, withheld_note
from agent.tools.port import ToolFailure, ToolPurpose, ToolRun, UsualTool, string_argument, text_argument
from foundation.files import list_kinds, read_link
from foundation.gitignore import compile_glob
from models.messages import Tool
from models.prompts import prompt

MOST_BRACES: Final = 64  # globs that one with braces stands for
_BRACES: Final = re.compile(r"\{([^{}]*)\}")


class FindFiles(UsualTool):
    """Finds files of the project by a glob; without one it lists a folder: folders end with /, links say where they
    lead."""

    purpose = ToolPurpose.PROJECT
    only_reads = True
    facts = declare_tool(
        "find_files", Access.READ, SubjectKind.PATH, former_names=("list_files",), other_names=("Glob", "LS")
    )
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {
            "type": "object",
            "properties": {"pattern": {"type": "string"}, "path": {"type": "string"}},
        },
    )

    def __init__(self, project: ProjectFolders, withheld: Withheld = nothing_withheld) -> None:
        self._project = project
        self._withheld = withheld

    def action(self, arguments: dict[str, Any]) -> Action:
        pattern = text_argument(arguments, "pattern").strip()
        if not pattern:
            place = self._project.locate(text_argument(arguments, "path") or ".")
            return Action(
                tool=self.facts.name,
                access=self.facts.access,
                summary=f"list {place.shown}",
                subject=place.shown,
                concern=self._project.reading_concern(place),
            )
        places = search_places(self._project, arguments)
        return Action(
            tool=self.facts.name,
            access=self.facts.access,
            summary=f"find files {pattern}",
            subject=places[0].shown,
            concern=self._project.concern,
        )

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        if not text_argument(arguments, "pattern").strip():
            place = self._project.permitted(text_argument(arguments, "path") or ".", run)
            return self._listing(place, self._withheld(run.action or self.action(arguments)))
        places = search_places(self._project, arguments)
        walk = ProjectWalk(self._project, run.stopped)
        matches = glob_filter(string_argument(arguments, "pattern"), places)
        withheld = self._withheld(run.action or self.action(arguments))
        found = [found.shown for found in walk.files(places) if matches(found)]
        names = [name for name in found if not withheld(name)]
        notes = withheld_note(len(found) - len(names)) + walk_notes(walk)
        return "\n".join([f"{len(names):,} file{'' if len(names) == 1 else 's'}{notes}", *names])

    def _listing(self, place: ProjectPath, withheld: Callable[[str], bool]) -> str:
        """The names in one folder. Raises ToolFailure."""
        try:
            every = [entry for entry in list_kinds(place.path) if not is_state(entry.name)]
        except OSError as error:
            raise ToolFailure("Not a folder", f"{place.shown}: {error.strerror or error}.") from error
        entries = [entry for entry in every if not withheld(self._project.shown(place.path / entry.name))]
        names = [(name, kind == "folder") for name, kind in entries]
        ignored = ProjectWalk(self._project, Event()).ignored(place, names)
        lines = [_line(place, name, kind, name in ignored) for name, kind in entries]
        note = withheld_note(len(every) - len(entries))
        return "\n".join([f"{place.shown}: {len(lines):,} entr{'y' if len(lines) == 1 else 'ies'}{note}", *lines])


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


def walk_notes(walk: ProjectWalk) -> str:
    """What a walk left out that nobody asked to leave out."""
    notes = [f"; {walk.not_text:,} with names that are no text are left out"] if walk.not_text else []
    return "".join([*notes, "; only a part of the project was looked at: name a path"] if walk.cut_short else notes)


def search_places(project: ProjectFolders, arguments: dict[str, Any]) -> tuple[ProjectPath, ...]:
    """The folders that a call searches: the one it names, else every project folder."""
    if path := text_argument(arguments, "path"):
        return (project.locate(path),)
    return tuple(project.place(folder, ()) for folder in project.folders)


def glob_filter(pattern: str, places: Iterable[ProjectPath]) -> Callable[[FoundFile], bool]:
    """Whether a file below one of the places matches the glob, relative to the place. Raises ToolFailure."""
    depths = {place.root: len(place.parts) for place in places}
    globs = [_glob(part) for part in _without_braces(pattern)]

    def matches(found: FoundFile) -> bool:
        path = "/".join(found.parts[depths[found.root] :])
        return any(glob(path) for glob in globs)

    return matches


def _glob(pattern: str) -> Callable[[str], bool]:
    plain = pattern.removeprefix("./")
    if plain.endswith("/"):
        plain += "**"
    rule = compile_glob("\\" + plain if plain.startswith(("!", "#")) else plain)
    if rule is None:
        raise ToolFailure("Not a glob", f"{pattern!r} is no glob. Write *.py, src/** or src/**/*.py.")
    expression, whole_folders = rule[1], plain == "**" or plain.endswith("/**")

    def matches(path: str) -> bool:
        match = expression.search(path)
        return match is not None and (whole_folders or match.groupdict().get("ps_d") is None)

    return matches


def _without_braces(pattern: str) -> list[str]:
    done, pending = list[str](), [pattern]
    while pending:
        glob = pending.pop(0)
        if (match := _BRACES.search(glob)) is None:
            done.append(glob)
        else:
            pending += [glob[: match.start()] + part + glob[match.end() :] for part in match[1].split(",")]
        if len(done) + len(pending) > MOST_BRACES:
            raise ToolFailure("Not a glob", f"{pattern[:100]!r} stands for more than {MOST_BRACES} globs.")
    return done
