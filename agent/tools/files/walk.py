"""Walks the project's folders in order. No link is followed; ignored files, and version control's own, are left out."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Final, TypeAlias

from msgspec import Struct

from agent.permissions.action import Action
from agent.tools.files.concerns import VERSION_CONTROL, comparable, is_state
from agent.tools.files.project import ProjectFolders, ProjectPath, printable
from agent.tools.port import ToolFailure
from foundation.files import UnsafePath, list_kinds, read_bytes
from foundation.gitignore import IgnoreRules, is_ignored

DEEPEST: Final = 100
MOST_FILES: Final = 300_000
MAX_IGNORE_BYTES: Final = 1_000_000
_IGNORE: Final = ".gitignore"
Stack = tuple[tuple[int, IgnoreRules], ...]


class FoundFile(Struct, frozen=True):
    """A file below a project folder. `parts` is relative to `root`; `shown` as the model names it."""

    root: Path
    parts: tuple[str, ...]
    shown: str


Withheld: TypeAlias = Callable[[Action], Callable[[str], bool]]
"""The files that permission rules keep from an action that reads many, by their paths (Policy.withheld)."""


def nothing_withheld(_action: Action) -> Callable[[str], bool]:
    """No rule keeps any file."""
    return lambda _path: False


def withheld_note(count: int) -> str:
    """What is said of files that were left out by rules."""
    return f"; {count:,} file{'' if count == 1 else 's'} left out by the user's rules" if count else ""


class ProjectWalk:
    """The files below some places of the project, sorted by name folder by folder."""

    def __init__(self, project: ProjectFolders, stopped: Event, most: int = MOST_FILES) -> None:
        """`most` files are given."""
        self._project = project
        self._stopped = stopped
        self._most = most
        self.not_text = 0  # names that are no Unicode text, which no tool can name
        self.cut_short = False  # there are more files than are looked at

    def files(self, places: tuple[ProjectPath, ...]) -> Iterator[FoundFile]:
        """The regular files. Raises ToolFailure where the turn is stopped."""
        count = 0
        for place in places:
            prefix = "" if place.root == self._project.root else f"{place.root.as_posix()}/"
            for parts in self._folder(place.root, place.parts, self._rules_above(place)):
                count += 1
                if count > self._most:
                    self.cut_short = True
                    return
                yield FoundFile(place.root, parts, printable(prefix + "/".join(parts)))

    def ignored(self, place: ProjectPath, names: list[tuple[str, bool]]) -> frozenset[str]:
        """The names in the folder `place` that .gitignore leaves out, given with whether each is a folder."""
        stack = self._rules_above(place)
        stack += self._rules(place.root, place.parts)
        return frozenset(name for name, folder in names if is_ignored(stack, (*place.parts, name), folder=folder))

    def _folder(self, root: Path, parts: tuple[str, ...], stack: Stack) -> Iterator[tuple[str, ...]]:
        if self._stopped.is_set():
            raise ToolFailure("Stopped", "The user stopped the turn.")
        try:
            entries = list_kinds(root.joinpath(*parts))
        except (UnsafePath, OSError):  # swapped, removed, or closed to this user
            return
        if any(name == _IGNORE and kind == "file" for name, kind in entries):
            stack += self._rules(root, parts)
        for name, kind in entries:
            if kind not in {"file", "folder"} or is_state(name) or comparable(name) in VERSION_CONTROL:
                continue
            if any("\ud800" <= letter <= "\udfff" for letter in name):
                self.not_text += 1
                continue
            below = (*parts, name)
            if stack and is_ignored(stack, below, folder=kind == "folder"):
                continue
            if kind == "file":
                yield below
            elif len(below) <= DEEPEST:
                yield from self._folder(root, below, stack)

    def _rules_above(self, place: ProjectPath) -> Stack:
        """The rules of the folders above `place`, from its root on; none where it is ignored itself, but named."""
        stack: Stack = ()
        for depth in range(len(place.parts)):
            stack += self._rules(place.root, place.parts[:depth])
            if is_ignored(stack, place.parts[: depth + 1], folder=True):
                return ()
        return stack

    def _rules(self, root: Path, parts: tuple[str, ...]) -> Stack:
        with suppress(OSError, UnicodeDecodeError):
            text = read_bytes(root.joinpath(*parts, _IGNORE), most=MAX_IGNORE_BYTES).decode("utf-8-sig")
            return ((len(parts), IgnoreRules.parse(text)),)
        return ()
