"""Guards the files of a project that git, editors, agents, shells and CI run or obey by themselves.

What exists is read-only in the sandbox. What a command created or changed all the same is undone when it ends: the new
file gets another name, the old one is written anew. Nothing is deleted.
"""

import os
import re
import stat
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from agent.tools.commands.git_folders import (
    CONTROL,
    add_missing,
    danger,
    danger_in,
    folders_between,
    git_folders,
    named_tree,
    own_git_folder,
    steps,
)
from agent.tools.commands.git_settings import named_paths
from agent.tools.files.concerns import comparable, is_instruction, runs_by_itself
from foundation.files import make_folder, replace, write_atomically
from foundation.files.atomic import read_bytes

SUFFIX: Final = ".made-by-a-command"
MAX_FOLDERS: Final = 20_000  # folders of a project that are searched
_MAX_NEW_FOLDERS: Final = 200_000  # the same after a command, which may make many to hide one
_MAX_FILES: Final = 2_000  # files in one guarded folder
_MAX_BYTES: Final = 1_000_000  # of a file whose content is stored
_MAX_STORED: Final = 50_000_000  # bytes of all of them
_ASIDE: Final = re.compile(re.escape(SUFFIX) + r"(?:-\d+)?\Z")
_RECENT_NS: Final = 100_000_000  # a folder that changed so recently may change again within the tick of the clock
_DEPENDENCIES: Final = frozenset(
    {".palimpsest", "node_modules", ".venv", "venv", "__pycache__", "site-packages", "target", ".tox"}
)
"""Folders of packages and builds: only repositories directly in them are guarded."""


class _Folder(NamedTuple):
    """A folder as it was when it was listed."""

    changed_ns: int
    below: tuple[str, ...]
    guarded: tuple[str, ...]
    is_repository: bool


class _Search(NamedTuple):
    repositories: list[Path]
    guarded: list[Path]


class _Entry(NamedTuple):
    """A file, a link or a folder; `content` is None where it is not stored."""

    kind: int
    mode: int
    content: bytes | None
    links: int
    status: tuple[int, ...]

    def is_same(self, other: "_Entry | None") -> bool:
        if other is None or (self.kind, self.mode) != (other.kind, other.mode):
            return False
        return self.content == other.content if self.content is not None else self.status == other.status


class GuardedPaths(NamedTuple):
    """`read_only` paths exist; `pinned` folders keep their names."""

    read_only: list[Path]
    pinned: list[str]


class FileGuard:
    """The guarded files of some folders, as they were before the commands that run now."""

    def __init__(self, home: Path, workspace: Path | None = None, git_settings: Sequence[Path] = ()) -> None:
        """`workspace` has instructions and memory of its own; `git_settings` are the user's."""
        self._home = home
        self._git_settings = git_settings
        self._workspace = workspace
        self._folders: dict[str, _Folder] = {}
        self._before: dict[Path, _Entry | None] = {}
        self._repositories: set[Path] = set()
        self._git_folders: list[Path] = []
        self._steps: dict[Path, str] = {}
        self._stored = 0  # bytes of the files whose content is stored
        self._mounted: dict[Path, tuple[int, int]] = {}

    def protect(self, tops: Sequence[Path], *, is_new: bool, creates: bool) -> GuardedPaths:
        """Gives what is read-only. `is_new`: no command runs, so that what is there now is right.

        `creates`: what git reads and what is missing is created empty, as it could not be read-only.
        """
        found = self._search(tops)
        folders = list(dict.fromkeys(path for each in found.repositories for path in git_folders(each)))
        inside = [path for path in folders if _is_below(path, tops)]
        if creates:
            for folder in inside:
                add_missing(folder)
        configs = [folder / name for folder in folders for name in ("config", "config.worktree")]
        configs += self._git_settings
        starts = list(dict.fromkeys([*found.repositories, *folders, *tops]))
        named = named_paths(configs, starts, self._home)
        hooks = [path for path in named.hooks if _is_below(path, tops) and not any(map(path.__eq__, tops))]
        hooks = [path for path in hooks if not any(start.is_relative_to(path) for start in starts)]
        if creates:
            for path in hooks:
                with suppress(OSError):
                    make_folder(path, mode=0o777)
        scripts = [path for path in named.programs if path.is_file() or (not path.is_dir() and _is_path(path, starts))]
        control = [folder / name for folder in inside for name in CONTROL]
        control += [each / ".git" for each in found.repositories]
        control += [*hooks, *named.settings, *scripts]
        git = [path for path in dict.fromkeys(control) if _is_below(path, tops)]
        links = [path for each in (*git, *found.guarded) for path in (each, *_inside(each)) if path.is_symlink()]
        targets = [path for path in (Path(os.path.realpath(link)) for link in links) if _is_below(path, tops)]
        guarded = list(dict.fromkeys([*git, *found.guarded, *(path for path in targets if path not in tops)]))
        existing = [path for path in guarded if path.exists() and not path.is_symlink()]
        read_only = [path for path in existing if path.name != ".git" or path.is_file()]
        if is_new:
            self._stored = 0
            self._before = {path: self._entry(path) for each in guarded for path in (each, *_inside(each))}
            self._repositories, self._git_folders = set(found.repositories), folders
            self._steps = {path: lines for folder in inside for path, lines in steps(folder).items()}
            self._mounted = {path: _identity(path.parent) for path in read_only} if creates else {}
        pinned = [parent for path in (*git, *inside) for top in tops for parent in folders_between(top, path)]
        return GuardedPaths(read_only, [*pinned, *map(str, (path for path in inside if path.is_dir()))])

    @property
    def git_folders(self) -> Sequence[Path]:
        """The git folders of the project's repositories, in the project and outside."""
        return self._git_folders

    def accept(self, paths: Collection[Path]) -> None:
        """What a tool wrote with permission is right."""
        for path in paths:
            guarded = [own for own in (path, *path.parents) if own in self._before or runs_by_itself(own.name)]
            for own in (path, *path.parents):
                if any(own.is_relative_to(each) for each in guarded):
                    self._before[own] = self._entry(own)

    def undo(self, tops: Sequence[Path]) -> list[str]:
        """Undoes what a command changed; gives a sentence for each change."""
        notes = [note for path in sorted(self._before) if (note := self._undo_change(path))]
        found = self._search(tops, _MAX_NEW_FOLDERS)
        for path in sorted({*found.guarded, *self._below_guarded()} - self._before.keys()):
            if os.path.lexists(path) and not self._is_mounted(path):
                notes.append(f"{path} was created by a command, and {_WHY}; {_set_aside(path)}")
        return notes + self._judge(found)

    def _judge(self, found: _Search) -> list[str]:
        """Sets aside repositories, and parts of them, that a command made and that run programs."""
        notes: list[str] = []
        known = list(self._git_folders)
        made = [path for path in found.repositories if path not in self._repositories]
        for path in sorted(made, key=lambda path: not (path / ".git").is_dir()):  # worktrees after their repositories
            folder = own_git_folder(path)
            if why := danger(path, known):
                named = path / (".git" if os.path.lexists(path / ".git") else "HEAD")
                notes.append(
                    f"{named} was created by a command and {why}, so git could run programs; {_set_aside(named)}"
                )
            else:
                known.append(folder)
        for repository in self._repositories:
            for folder in git_folders(repository):
                if folder not in known and (folder / "HEAD").exists():
                    notes += self._judge_part(folder, known)
                for path, lines in steps(folder).items():
                    if self._steps.get(path) != lines:
                        notes.append(f"{path} was created by a command and runs programs; {_set_aside(path)}")
        return notes

    def _judge_part(self, folder: Path, known: list[Path]) -> list[str]:
        """The same of a submodule's or worktree's git folder in a repository that no command made."""
        try:
            why = danger_in(folder, named_tree(folder), known)
        except (OSError, ValueError):
            why = "cannot be read"
        known.append(folder)
        return [f"{folder} was created by a command and {why}; {_set_aside(folder / 'HEAD')}"] if why else []

    def _undo_change(self, path: Path) -> str:
        before, after = self._before[path], self._entry(path)
        if before is after is None or (before is not None and before.is_same(after)):
            return ""
        if before is not None and self._is_mounted(path) and before.links == 1 and (after is None or after.links == 1):
            return ""  # no command could change it: it was somebody else
        if before is not None and after is not None and before.kind == after.kind == stat.S_IFDIR:
            return ""
        done = [_set_aside(path)] if after is not None else []
        if before is not None and path.parent.is_dir():
            done.append(_restore(path, before))
        verb = "created" if before is None else "removed" if after is None else "changed"
        return f"{path} was {verb} by a command, and {_WHY}; {', '.join(done) or 'it could not be restored'}"

    def _is_mounted(self, path: Path) -> bool:
        """Whether no command in the sandbox could change the path, as it or a folder above it is a mount in place."""
        return any(
            _identity(each.parent) == self._mounted[each] for each in (path, *path.parents) if each in self._mounted
        )

    def _below_guarded(self) -> Iterator[Path]:
        for path, entry in self._before.items():
            if entry is not None and entry.kind == stat.S_IFDIR:
                yield from _inside(path)

    def _entry(self, path: Path) -> _Entry | None:
        try:
            status = os.lstat(path)
        except (OSError, ValueError):
            return None
        kind = stat.S_IFMT(status.st_mode)
        known = self._before.get(path)
        facts = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        is_old = time.time_ns() - status.st_ctime_ns > _RECENT_NS
        if known is not None and known.status == facts and is_old:
            return known
        content: bytes | None = None
        with suppress(OSError):
            if kind == stat.S_IFLNK:
                content = os.fsencode(path.readlink())
            elif kind == stat.S_IFREG and status.st_size <= min(_MAX_BYTES, _MAX_STORED - self._stored):
                content = read_bytes(path, most=_MAX_BYTES)
                self._stored += len(content)
            elif kind == stat.S_IFDIR:
                content, facts = b"", facts[:2]
        return _Entry(kind, status.st_mode & 0o111 if kind == stat.S_IFREG else 0, content, status.st_nlink, facts)

    def _search(self, tops: Sequence[Path], most: int = MAX_FOLDERS) -> _Search:
        """The repositories and guarded files at or below the folders: breadth first, no links followed."""
        found = _Search([], [])
        searched = 0
        for top in tops:
            level = [str(top)]
            while level and searched < most:
                below: list[str] = []
                for path in level[: most - searched]:
                    searched += 1
                    folder = self._list(path)
                    if folder.is_repository:
                        found.repositories.append(Path(path))
                    above, name = path.split("/")[-2:]
                    if above in _DEPENDENCIES and path != str(top):
                        continue
                    below.extend(f"{path}/{each}" for each in folder.below)
                    if name not in _DEPENDENCIES or path == str(top):
                        found.guarded.extend(Path(path, each) for each in folder.guarded)
                level = sorted(below, key=lambda path: (path not in self._folders, path))  # the known ones first
        if self._workspace is not None and _is_below(self._workspace, tops):
            names = [path for path in _entries(self._workspace, 1) if is_instruction((path.name,))]
            found.guarded.extend(path for path in names if path not in found.guarded)
        return found

    def _list(self, path: str) -> _Folder:
        """The folder's names, from memory where it did not change."""
        try:
            changed = os.lstat(path).st_ctime_ns
            known = self._folders.get(path)
            if known is not None and known.changed_ns == changed and time.time_ns() - changed > _RECENT_NS:
                return known
            with os.scandir(path) as listed:
                entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in listed]
        except OSError:
            return _Folder(0, (), (), is_repository=False)
        names = {name for name, _ in entries}
        is_repository = any(name[0] == "." and comparable(name) == ".git" for name in names)
        folded = {name.casefold() for name in names}
        is_bare = "head" in folded and ("commondir" in folded or {"objects", "refs"} <= folded)
        guarded = [name for name in names if runs_by_itself(name) and not _ASIDE.search(name)]
        left_out = {".git", "objects", "logs"} if is_bare else {".git"}
        below = sorted(name for name, is_folder in entries if is_folder and comparable(name) not in left_out)
        result = _Folder(changed, tuple(below), tuple(sorted(guarded)), is_repository or is_bare)
        self._folders[path] = result
        return result


_WHY: Final = "programs run or obey it by themselves"


def _set_aside(path: Path) -> str:
    """Renames the path; gives what was done."""
    for number in range(1, 100):
        aside = path.with_name(f"{path.name}{SUFFIX}" + (f"-{number}" if number > 1 else ""))
        if not os.path.lexists(aside):
            with suppress(OSError):
                replace(path, aside)
                if os.path.lexists(aside / "HEAD"):  # else git would take it for a bare repository
                    replace(aside / "HEAD", aside / f"HEAD{SUFFIX}")
                return f"renamed to {aside.name}"
            break
    return "it could not be renamed"


def _restore(path: Path, before: _Entry) -> str:
    with suppress(OSError):
        if before.kind == stat.S_IFDIR:
            make_folder(path, mode=0o777)
        elif before.kind == stat.S_IFLNK and before.content is not None:
            path.symlink_to(os.fsdecode(before.content))
        elif before.content is not None:
            write_atomically(path, before.content)
            path.chmod(0o644 | before.mode)
        else:
            return "the old one was not stored"
        return "the old one is restored"
    return "the old one could not be restored"


def _entries(folder: Path, depth: int = 20) -> list[Path]:
    """What is below the folder, no links followed."""
    found: list[Path] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in islice(entries, _MAX_FILES):
            if _ASIDE.search(entry.name):
                continue
            found.append(Path(entry.path))
            if depth > 1 and entry.is_dir(follow_symlinks=False) and len(found) < _MAX_FILES:
                found.extend(_entries(found[-1], depth - 1))
    return found


def _inside(guarded: Path) -> list[Path]:
    """What is guarded in a guarded folder: all but a git folder's own files, of which those that count are named."""
    return [] if guarded.name == ".git" else _entries(guarded)


def _is_path(path: Path, starts: Collection[Path]) -> bool:
    """Whether the word that led here looks like a path: with a suffix, or with a folder."""
    return bool(path.suffix) or path.parent not in starts


def _identity(path: Path) -> tuple[int, int]:
    with suppress(OSError):
        status = os.lstat(path)
        return status.st_dev, status.st_ino
    return 0, 0


def _is_below(path: Path, tops: Sequence[Path]) -> bool:
    return any(path.is_relative_to(top) for top in tops)
