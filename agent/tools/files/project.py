"""The project folders: where tools read and change files, and what in them needs care.

A path is resolved by folder descriptors (foundation.files.beneath), so that it has no link, and it is opened by
`foundation.files`, which follows no link: a folder swapped for a link after the check is refused.
"""

import os
import re
import stat
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.permissions.action import Access
from agent.permissions.command import runs_code
from agent.permissions.programs import SHELLS, program_name
from agent.tools.files.concerns import changing_concern, comparable, is_instruction, is_secret, is_state
from agent.tools.port import ToolFailure, ToolRun
from foundation.files import UnsafePath, resolve_beneath, resolve_path
from foundation.paths import config_dir

_DEVICE_NAMES: Final = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {
    f"{port}{number}" for port in ("com", "lpt") for number in range(10)
}


class ProjectPath(Struct, frozen=True):
    """A path in a project folder. `path` has no links; `shown` is relative to the first folder where it lies there.

    `parts` is the path below `root`, a project folder. `exists` and `is_file`
    (a regular one) as of its resolution.
    """

    path: Path
    shown: str
    root: Path
    parts: tuple[str, ...]
    exists: bool
    is_file: bool = False


class ProjectFolders:
    """The folders where tools work. The first is where the person stands; relative names are resolved there."""

    def __init__(self, folders: Sequence[Path], workspace: Path | None = None) -> None:
        """`workspace` has instructions and memory of its own, wherever it is in the folders."""
        self.programs: frozenset[Path] = frozenset()  # files that run outside the sandbox: of hooks and MCP servers
        self.written: set[Path] = set()  # what tools wrote since a command last started or ended
        given = tuple(folder.absolute() for folder in folders)
        resolved = tuple(dict.fromkeys(map(resolve_path, given)))
        self.folders = tuple(
            folder
            for folder in resolved
            if folder == resolved[0] or not any(folder != other and folder.is_relative_to(other) for other in resolved)
        )
        self._spellings = {str(folder): str(resolve_path(folder)) for folder in given}
        self._workspace = resolve_path(workspace) if workspace else None

    def add(self, folder: Path) -> None:
        """Adds a folder without links, unless one of the folders holds it."""
        if not any(folder.is_relative_to(other) for other in self.folders):
            self.folders = (*self.folders, folder)

    @property
    def root(self) -> Path:
        return self.folders[0]

    def locate(self, name: str) -> ProjectPath:
        """The path that a model names. Raises ToolFailure where it lies outside, or in the program's own state."""

        quoted = printable(name[:200])

        def check(component: str) -> None:
            if is_state(component):
                raise ToolFailure("Out of bounds", f"{quoted} belongs to the program's own state, which recall reads.")

        for part in self.root.parts:
            check(part)
        try:
            found = resolve_beneath(self.folders, self._absolute(name), check)
        except UnsafePath as error:
            if error.reason == "outside":
                where = ", ".join(map(str, self.folders))
                message = f"{name} is not in the project: {where}. The user can add a folder with /add-dir."
                raise ToolFailure("Out of bounds", message) from error
            raise ToolFailure("Not a path", error.message) from error
        except (OSError, ValueError) as error:
            raise ToolFailure("Not a path", f"{quoted}: {getattr(error, 'strerror', '') or error}.") from error
        is_file = found.status is not None and stat.S_ISREG(found.status.st_mode)
        return self.place(found.root, found.parts, exists=found.status is not None, is_file=is_file)

    def locate_to_read(self, name: str) -> ProjectPath:
        """As `locate`; a file outside the project too, where its whole path is named and no link leads there."""
        path = Path(os.path.normpath(Path(name).expanduser())) if name.startswith(("/", "~")) else Path(name)
        is_inside = any(path.is_relative_to(folder) for folder in (*self.folders, *map(Path, self._spellings)))
        if not path.is_absolute() or is_inside or any(map(is_state, path.parts)):
            return self.locate(name)
        try:
            found = resolve_beneath((resolve_path(path.parent),), path.name)
        except (UnsafePath, OSError, ValueError):
            return self.locate(name)
        if any(map(is_state, found.path.parts)) or any(found.path.is_relative_to(folder) for folder in self.folders):
            return self.locate(str(found.path))
        is_file = found.status is not None and stat.S_ISREG(found.status.st_mode)
        return self.place(found.root, found.parts, exists=found.status is not None, is_file=is_file)

    def has_file(self, name: str) -> bool:
        """Whether there is a file of that name in the project."""
        try:
            return self.locate(name).is_file
        except ToolFailure:
            return False

    def permitted(self, name: str, run: ToolRun, *, to_read: bool = False) -> ProjectPath:
        """The path, where it is still the one that the call was permitted for. Raises ToolFailure as `locate` does,
        and where a link leads elsewhere by now. `to_read`: see `locate_to_read`, for a permitted call."""
        place = self.locate_to_read(name) if to_read and run.action is not None else self.locate(name)
        if run.action is not None and run.action.subject != place.shown:
            raise ToolFailure(
                "The path changed",
                f"It led to {run.action.subject} when this call was permitted, and leads to {place.shown} now.",
            )
        return place

    def place(self, root: Path, parts: tuple[str, ...], *, exists: bool = True, is_file: bool = False) -> ProjectPath:
        """The path of `parts` below a project folder."""
        path = root.joinpath(*parts)
        return ProjectPath(path, self.shown(path), root, parts, exists, is_file)

    def shown(self, path: Path) -> str:
        """The path as the model sees it: relative to the first folder, else absolute; with `/`."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.as_posix()

    @property
    def concern(self) -> str:
        """Why reading anything here asks first; "" in a project's folder."""
        home = resolve_path(Path.home())
        if holder := next((folder for folder in self.folders if home.is_relative_to(folder)), None):
            return (
                f"{holder} is or contains your home folder, so each file needs confirmation. Start in a "
                "project folder instead."
            )
        return ""

    def reading_concern(self, place: ProjectPath) -> str:
        """Why reading asks first; "" where it needs no permission."""
        if place.path.is_relative_to(config_dir(os.environ)):
            return f"{place.shown} belongs to Palimpsest's own settings and rules."
        if is_secret(place.path.parts):
            return f"{place.shown} looks like a file of keys or passwords."
        if place.root not in self.folders:
            return f"{place.shown} is outside the project; /add-dir adds a folder to it."
        return self.concern

    def changing_access(self, place: ProjectPath) -> Access:
        """NOTE for what each request is made of, EDIT for other files."""
        if not self._workspace or not place.path.is_relative_to(self._workspace):
            return Access.EDIT
        return Access.NOTE if is_instruction(place.path.relative_to(self._workspace).parts) else Access.EDIT

    def changing_concern(self, place: ProjectPath) -> str:
        """Why changing the file asks whatever the rules; "" where nothing does."""
        if place.path in self.programs:
            return f"{place.shown} is run by a hook or an MCP server, outside the sandbox."
        return changing_concern(place.parts, place.shown) or self.reading_concern(place)

    def new_file(self, place: ProjectPath) -> None:
        """Raises ToolFailure where no file should be made under this name."""
        for part in place.parts:
            if problem := _name_problem(part):
                raise ToolFailure("Not a file name", f"{place.shown}: {part!r} {problem}.")

    def _absolute(self, name: str) -> str:
        """The name with `~` and other spellings of the project folders resolved."""
        if name == "~" or name.startswith("~/"):
            name = f"{Path.home()}{name[1:]}"
        for given, resolved in self._spellings.items():
            if name == given or name.startswith(f"{given}/"):
                return resolved + name[len(given) :]
        return name


def script_words(command: Sequence[str]) -> list[str]:
    """The words of a command that name what it runs: the program, a script; not files that it reads and writes."""
    name, *arguments = command
    plain = [word for word in arguments if not word.startswith("-")]
    runs_file = runs_code(name) or program_name(name) in SHELLS or name in {".", "source"}
    return [name, *plain[: int(runs_file)], *(word for word in arguments if _SCRIPT.search(word))]


_SCRIPT: Final = re.compile(
    r"\.(?:sh|bash|zsh|fish|py|pyz|js|mjs|cjs|ts|mts|rb|pl|php|lua|tcl|awk|ps1|bat|cmd|exe|jar|go|r)\b", re.IGNORECASE
)


def named_paths(words: Iterable[str], project: Path, folders: Sequence[Path]) -> list[Path]:
    """The paths in the project that words of a command line name, in `folders` where they are relative.

    Links are not resolved, and nothing need be there. Parts of words count too (`--config=a.js`, `dir:file`), so that
    too much is found rather than too little.
    """
    given = [PROJECT_VARIABLE.sub(".", word) for word in words]
    names = {*given, *(part for word in given for part in _BREAKS.split(_QUOTES.sub("", word)))}
    usable = [name for name in names if name and "\0" not in name and not name.startswith("~")]
    usable += [f"{Path.home()}{name[1:]}" for name in names if name.startswith("~/") and "\0" not in name]
    paths = {Path(os.path.normpath(folder / name)) for folder in folders for name in usable}
    return sorted(path for path in paths if path.is_relative_to(project) and path != project)


def program_files(paths: Iterable[Path], project: Path) -> set[Path]:
    """The files of the project at these paths, without links."""
    resolved = {resolve_path(path) for path in paths}
    return {path for path in resolved if path.is_relative_to(project) and path.is_file()}


_BREAKS: Final = re.compile(r"[\s;&|()<>`=,:]+")
_QUOTES: Final = re.compile(r"[\"']")
PROJECT_VARIABLE: Final = re.compile(r"\$\{?(?:CLAUDE|PALIMPSEST)_PROJECT_DIR\}?|\$\{?PWD\}?")


def printable(name: str) -> str:
    """The name on one line; what is no text, as a byte that is not UTF-8, becomes an escape."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in name)


def _name_problem(name: str) -> str:
    if any(letter < " " or letter == "\x7f" for letter in name):
        return "has control characters"
    if "\\" in name:
        return "has a backslash; folders are separated by /"
    if sys.platform == "win32" and (
        name != name.rstrip(". ") or comparable(name.split(".", maxsplit=1)[0]) in _DEVICE_NAMES
    ):
        return "is no file name on Windows"
    return ""
