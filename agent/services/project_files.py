"""The files of the project by their names, for a person who types a part of one. Reads them on a thread of its own."""

import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Final

from agent.tools.files.project import ProjectFolders
from agent.tools.files.walk import ProjectWalk
from agent.tools.port import ToolFailure

FRESH_S: Final = 20.0  # seconds until the names are read anew
FIRST_WAIT_S: Final = 0.3  # seconds that a search waits for the first reading
_SLICE: Final = 2_000  # names that are compared before somebody else has a turn


class ProjectFiles:
    """Finds files by parts of their names. What .gitignore leaves out is left out; no link is followed."""

    def __init__(self, project: ProjectFolders, here: Path) -> None:
        """`here` is the folder that names are relative to."""
        self._project = project
        self._here = here
        self._names: list[str] = []  # with slashes, as they are typed
        self._lock = Lock()
        self._reading: Thread | None = None
        self._stopped = Event()
        self._read_at = 0.0  # on the monotonic clock; 0 for never

    @property
    def is_read(self) -> bool:
        """Whether all names were read once."""
        return bool(self._read_at)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is being read."""
        return self._reading is None or not self._reading.is_alive()

    def close(self) -> None:
        """Ends the reading."""
        self._stopped.set()

    def search(self, typed: str, most: int, is_stale: Callable[[], bool] = lambda: False) -> list[str]:
        """The best `most` names for what was typed, also while they are being read; [] once `is_stale`. Blocks.

        A file whose own name begins with it comes first, then one whose name has it, then one whose path has it, then
        one whose path has its letters in order; the shorter before the longer.
        """
        self._refresh()
        wanted = typed.lower()
        ranked: list[tuple[int, int, str]] = []
        for names in _slices(self._names):
            if is_stale():
                return []
            ranked += [(rank, len(name), name) for name in names if (rank := _rank(wanted, name.lower())) is not None]
            time.sleep(0)  # the screen has its turn
        ranked.sort()
        return [name for _, _, name in ranked[:most]]

    def _refresh(self) -> None:
        """Has the names read anew where they are old; waits a moment for the first reading."""
        with self._lock:
            is_old = not self._read_at or time.monotonic() - self._read_at > FRESH_S
            if is_old and (self._reading is None or not self._reading.is_alive()) and not self._stopped.is_set():
                self._reading = Thread(target=self._read, name="project files", daemon=True)
                self._reading.start()
            reading = self._reading
        if not self._read_at and reading is not None:
            reading.join(FIRST_WAIT_S)

    def _read(self) -> None:
        names: list[str] = []
        if not self._read_at:
            self._names = names  # a search may look at what is there so far
        walk = ProjectWalk(self._project, self._stopped)
        try:
            places = tuple(self._project.locate(str(folder)) for folder in self._project.folders)
            for found in walk.files(places):
                names.append(_typed(found.root.joinpath(*found.parts), self._here))
        except ToolFailure:  # closed, or a folder that is gone
            return
        self._names, self._read_at = names, time.monotonic()


def _slices(names: list[str]) -> Iterator[list[str]]:
    rest = iter(names)
    while piece := list(islice(rest, _SLICE)):
        yield piece


def _typed(path: Path, here: Path) -> str:
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


def _rank(typed: str, name: str) -> int | None:
    own = name.rpartition("/")[2]
    if own.startswith(typed):
        return 0
    if typed in own:
        return 1
    if typed in name:
        return 2
    left = iter(name)
    return 3 if all(letter in left for letter in typed) else None
