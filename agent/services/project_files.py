"""The files and folders of the project by parts of their names. They are read on a thread of their own,
and so is what git knows of them."""

import re
import time
from collections.abc import Callable, Iterator
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Final

from msgspec import Struct

from agent.project.git_files import GitFiles
from agent.services.path_completion import is_generated
from agent.tools.files.project import ProjectFolders
from agent.tools.files.walk import ProjectWalk
from agent.tools.port import ToolFailure
from foundation.terminal_text import escape_name, unescape_name

FRESH_S: Final = 20.0  # seconds until the names are read anew
FRESH_READINGS: Final = 10  # times that a reading took, until the next: a large project is read less often
MAX_FILES: Final = 2_000_000  # of a project; a name takes about 100 bytes
FIRST_WAIT_S: Final = 0.3  # seconds that a search waits for the first reading
_SLICE: Final = 2_000  # names that are compared before somebody else has a turn


class _Search(Struct, frozen=True):
    """The last search: among which names, how many there were, and what was found."""

    names: list[str]
    size: int
    typed: str
    found: list[str]


class ProjectFiles:
    """Finds files, and folders with a slash at the end. What .gitignore leaves out is left out; no link is followed."""

    def __init__(self, project: ProjectFolders, here: Path) -> None:
        """`here` is the folder that names are relative to."""
        self._project = project
        self._here = here
        folders = [(folder, "" if folder == here else f"{_typed(folder, here)}/") for folder in project.folders]
        self._git = GitFiles(folders)
        self._names: list[str] = []  # with slashes, as they are typed
        self._last = _Search(self._names, 0, "", [])
        self._lock = Lock()
        self._reading: Thread | None = None
        self._stopped = Event()
        self._read_at = 0.0  # on the monotonic clock; 0 for never
        self._took = 0.0  # seconds of the last reading

    @property
    def is_read(self) -> bool:
        """Whether all names were read once."""
        return bool(self._read_at)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is being read."""
        return self._git.is_settled and (self._reading is None or not self._reading.is_alive())

    def close(self) -> None:
        """Ends the reading."""
        self._stopped.set()

    def search(self, typed: str, most: int, is_stale: Callable[[], bool] = lambda: False) -> list[str]:
        """The best `most` names for what was typed, also while they are being read; [] once `is_stale`. Blocks.

        A file whose own name begins with it comes first, then one whose name has it, then one whose path has it, then
        one whose path has its letters in order; generated and binary files come last. Of these, files that git has as
        changed come first, then tracked ones; the shorter before the longer.
        """
        self._refresh()
        git = self._git.names()
        wanted, names = typed.lower(), self._names
        last = self._last
        if last.names is names and last.size == len(names) and wanted.startswith(last.typed):
            names = last.found  # what has the letters in order has the earlier ones, too
        size = len(self._names)
        has_letters = _letters_in_order(wanted).match
        found: list[str] = []
        for piece in _slices(names):
            if is_stale():
                return []
            found += [name for name in piece if has_letters(name)]
            time.sleep(0)  # the screen has its turn
        self._last = _Search(self._names, size, wanted, found)
        return nsmallest(
            most,
            found,
            key=lambda name: (is_generated(name), _rank(wanted, name.lower()), git.rank(name), len(name), name),
        )

    def changed(self, most: int) -> list[str]:
        """Files that git has as changed, in alphabetical order. Waits a moment for its first answer."""
        return nsmallest(most, self._git.names(FIRST_WAIT_S).changed, key=lambda name: (is_generated(name), name))

    def ignored(self, names: list[str]) -> frozenset[str]:
        """Those of the names in one folder that .gitignore leaves out. Blocks."""
        below = {name.removesuffix("/").rpartition("/")[2]: name for name in map(unescape_name, names)}
        folder = next(iter(below.values()), "").removesuffix("/").rpartition("/")[0]
        try:
            place = self._project.locate(str(self._here / folder))
        except ToolFailure:  # outside of the project
            return frozenset()
        left_out = ProjectWalk(self._project, self._stopped).ignored(
            place, [(own, name.endswith("/")) for own, name in below.items()]
        )
        return frozenset(escape_name(below[own]) for own in left_out)

    def _refresh(self) -> None:
        """Has the names read anew where they are old; waits a moment for the first reading."""
        with self._lock:
            is_old = not self._read_at or time.monotonic() - self._read_at > max(FRESH_S, FRESH_READINGS * self._took)
            if is_old and (self._reading is None or not self._reading.is_alive()) and not self._stopped.is_set():
                self._reading = Thread(target=self._read, name="project files", daemon=True)
                self._reading.start()
            reading = self._reading
        if not self._read_at and reading is not None:
            reading.join(FIRST_WAIT_S)

    def _read(self) -> None:
        names: list[str] = []
        began, last_folder = time.monotonic(), tuple[str, ...]()
        if not self._read_at:
            self._names = names  # a search may look at what is there so far
        walk = ProjectWalk(self._project, self._stopped, MAX_FILES)
        try:
            places = tuple(self._project.locate(str(folder)) for folder in self._project.folders)
            for found in walk.files(places):
                folder = found.parts[:-1]
                if folder != last_folder:
                    names += [
                        f"{_typed(found.root.joinpath(*new), self._here)}/" for new in _new_folders(folder, last_folder)
                    ]
                    last_folder = folder
                names.append(_typed(found.root.joinpath(*found.parts), self._here))
        except ToolFailure:  # closed, or a folder that is gone
            return
        self._names, self._read_at = names, time.monotonic()
        self._took = self._read_at - began


def _slices(names: list[str]) -> Iterator[list[str]]:
    rest = iter(names)
    while piece := list(islice(rest, _SLICE)):
        yield piece


def _new_folders(folder: tuple[str, ...], last: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The folders that are entered on the way from the folder of the last file to this one."""
    shared = 0
    while shared < min(len(folder), len(last)) and folder[shared] == last[shared]:
        shared += 1
    for depth in range(shared + 1, len(folder) + 1):
        yield folder[:depth]


def _typed(path: Path, here: Path) -> str:
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


def _letters_in_order(typed: str) -> re.Pattern[str]:
    return re.compile("".join(f"[^{letter}]*{letter}" for letter in map(re.escape, typed)), re.IGNORECASE)


def _rank(typed: str, name: str) -> int:
    own = name.removesuffix("/").rpartition("/")[2]
    if own.startswith(typed):
        return 0
    if typed in own:
        return 1
    return 2 if typed in name else 3
