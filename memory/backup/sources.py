"""Which files of a workspace are saved.

All that a person wrote, and all of `.palimpsest/` but what is made again. What refers is listed before what it refers
to: notes and mirrors, lists of versions and checkpoints, the database; then packs, contents of versions, and pictures.
None of the latter is ever changed, so that what an earlier list names is there, unless it was deleted meanwhile.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Final, NamedTuple

from foundation.files import scan, status
from foundation.files.folders import WINDOWS
from foundation.paths import LINKABLE_FILES, LINKABLE_FOLDERS, Workspace
from foundation.terminal_text import visible

MADE_AGAIN = frozenset(
    {
        "pages",
        "postings",
        "vectors",
        "prompt-caches",
        "pack-cache",
        "cold.db-writers",
        "backup",
        "backup.json",
        "upkeep.json",
        "imported-files",
        "checkpoints/secured",
    }
)
"""Paths in `.palimpsest/` that are not saved: caches, locks, and the state of backups and of upkeep."""

_REWRITTEN = (".manifest", "/workspace.id", "/deleted.ids")
_BODIES = ("packs", "versions/objects", "checkpoints/objects", "knowledge")


_FILES: Final = frozenset({*LINKABLE_FILES, "entities.yaml"})
_FOLDERS: Final = (*LINKABLE_FOLDERS, "conversations", ".palimpsest")
_MIRROR: Final = re.compile(r"[^/]+\.md")
_BREAKS: Final = frozenset("\t\n\r\v\f\x85\u2028\u2029")
_REPOSITORY: Final = frozenset({"head"})  # git takes no folder without it for a repository, whatever the folder's name
_STATE_REPOSITORY: Final = frozenset({"refs", "commondir"})  # nor one without either; versions have a file `head`
_MOST_PARTS: Final = 64
_MOST_CHARACTERS: Final = 1_024


def is_savable(path: str) -> bool:
    """Whether a backup may hold a file of this path in the workspace, with `/`.

    It leads to no place outside, and is one of the user's files or in one of the folders that are saved. No part below
    these is hidden or makes a repository of its folder: shells, editors and git run such files by themselves.
    `conversations/` holds mirrors only. What an earlier release saved in `.palimpsest/` is accepted, a journal of the
    database is not.
    """
    if len(path) > _MOST_CHARACTERS or path.count("/") >= _MOST_PARTS:
        return False
    first, slash, below = path.partition("/")
    if not slash:
        return first in _FILES
    is_state = first == ".palimpsest"
    refused = _STATE_REPOSITORY if is_state else _REPOSITORY
    if first not in _FOLDERS or not all(_is_plain(part, refused) for part in below.split("/")):
        return False
    if is_state:
        return not below.casefold().startswith("cold.db-")
    return first != "conversations" or bool(_MIRROR.fullmatch(below))


def _is_plain(part: str, refused: Collection[str]) -> bool:
    """Whether the name hides nothing, on any file system: some ignore format characters, case, or dots at the end."""
    shown = "".join(letter for letter in part if unicodedata.category(letter) != "Cf").casefold().rstrip(". ")
    is_hidden = not shown or shown.startswith(".") or shown in refused
    odd = _BREAKS | {*"\\:"} if WINDOWS else _BREAKS
    return not is_hidden and visible(part) == part and not odd & {*part}


class WorkspaceFile(NamedTuple):
    """A file to save, and its path in the workspace. `path` may be elsewhere, where its owner allowed a link."""

    name: str
    path: Path


class Sources:
    """The files of one workspace. `skipped` collects names that are not saved: links, sockets, too deep paths."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.skipped: set[str] = set()

    def notes(self) -> Iterator[WorkspaceFile]:
        """The person's own files, and the mirrors of conversations."""
        for name in (*LINKABLE_FILES, "entities.yaml"):
            yield from self._single(name, self._workspace.followed(name))
        for name in LINKABLE_FOLDERS:
            yield from self._below(name, self._workspace.followed(name))
        yield from self._below("conversations", self._workspace.conversations)

    def state(self) -> Iterator[WorkspaceFile]:
        """The program's own files, but the database and `bodies`."""
        yield from self._below(self._workspace.state.name, self._workspace.state, without=self._is_no_state)

    def manifests(self) -> Iterator[WorkspaceFile]:
        """Files beside the packs that are rewritten in a transaction of the database."""
        return (source for source in self.bodies() if source.name.endswith(_REWRITTEN))

    def bodies(self) -> Iterator[WorkspaceFile]:
        """Files that the database and the lists refer to. But for `manifests` none is ever changed."""
        for name in _BODIES:
            below = f"{self._workspace.state.name}/{name}"
            yield from self._below(below, self._workspace.root / below)

    def _is_no_state(self, name: str) -> bool:
        own = name.removeprefix(self._workspace.state.name + "/")
        return (
            own in MADE_AGAIN
            or own in _BODIES
            or own.startswith(("cold.db", "log.txt"))
            or own.endswith((".lock", ".tmp"))
        )

    def _single(self, name: str, path: Path) -> Iterator[WorkspaceFile]:
        found = status(path)
        if found is None:
            return
        if S_ISREG(found.st_mode):
            yield WorkspaceFile(name, path)
        else:
            self.skipped.add(name)

    def _below(
        self, name: str, folder: Path, *, without: Callable[[str], bool] = lambda name: name.endswith(".tmp")
    ) -> Iterator[WorkspaceFile]:
        found = status(folder)
        if found is None:
            return
        if not S_ISDIR(found.st_mode):
            self.skipped.add(name)
            return
        for path, file_status in scan(folder):
            below = f"{name}/{path.name}"
            if without(below):
                continue
            if not is_savable(below):
                self.skipped.add(below)
            elif S_ISDIR(file_status.st_mode):
                yield from self._below(below, path, without=without)
            elif S_ISREG(file_status.st_mode) and _is_utf8(below):
                yield WorkspaceFile(below, path)
            else:
                self.skipped.add(below)


def _is_utf8(name: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in name)
