"""The parts of a project's repositories that name programs: git runs these later, outside the sandbox.

Hooks and settings are read-only in the sandbox. A mount does not follow the folder above it when that one is renamed
(`mv .git x && cp -r x .git` would replace both), so each folder on the way is pinned by a mount of its own.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from foundation.files.untrusted import UnreadableFile, read_own_bytes

_READ_ONLY: Final = ("hooks", "config", "config.worktree", "commondir", "gitdir")
_HOOK_FOLDERS: Final = (".husky", ".githooks", ".hooks")  # by convention, whatever core.hooksPath says
_HOOKS_PATH: Final = re.compile(r"""hookspath\s*=\s*"?([^"\n;#]+)""", re.IGNORECASE)
_REDIRECTION: Final = "commondir"  # makes git read hooks and settings elsewhere; a main git folder has none
_QUARANTINE: Final = "commondir.made-by-a-command"
_MOST_FOLDERS: Final = 500  # of submodules and worktrees
MOST_SEARCHED: Final = 2_000  # folders that are searched for repositories
_MOST_DEPTH: Final = 6
_NOT_SEARCHED: Final = frozenset(
    {".git", ".palimpsest", "node_modules", ".venv", "venv", "__pycache__", "site-packages", "target", ".tox"}
)
_MOST_CONFIG: Final = 200_000  # bytes of a git configuration that are read


class GitPaths(NamedTuple):
    """`read_only` paths exist; `pinned` folders keep their names."""

    read_only: list[str]
    pinned: list[str]


def repositories(folder: Path) -> list[Path]:
    """The folders with a `.git`, at or below this one: breadth first, no links followed, as far as the bounds go."""
    found: list[Path] = []
    level = [str(folder)]
    searched = 0
    for _ in range(_MOST_DEPTH):
        below: list[str] = []
        for path in level[: MOST_SEARCHED - searched]:
            searched += 1
            with suppress(OSError), os.scandir(path) as entries:
                for entry in entries:
                    if entry.name.casefold() == ".git":
                        found.append(Path(path))
                    elif entry.name not in _NOT_SEARCHED and entry.is_dir(follow_symlinks=False):
                        below.append(entry.path)
        level = sorted(below)
    return found


def git_paths(folder: Path, found: Sequence[Path], settings: Sequence[Path] = ()) -> GitPaths:
    """What is protected of the repositories `found` in the folder: of their own, their submodules and worktrees.

    `settings` are git's own files of settings, which may name a folder of hooks for every repository.
    """
    result = GitPaths([], [])
    for repository in found:
        with suppress(PermissionError):  # no command can enter it either
            own = _git_paths(repository)
            hooks = [path for path in _hook_folders(repository, settings) if path.is_relative_to(folder)]
            result.read_only.extend([*own.read_only, *(str(path) for path in hooks if path.is_dir())])
            for path in (repository / ".git", *hooks):
                result.pinned.extend(folders_between(folder, path))
            result.pinned.extend(own.pinned)
    return result


def folders_between(folder: Path, path: Path) -> list[str]:
    """The folders below `folder` on the way to the path, without either, outermost first."""
    if not path.is_relative_to(folder):
        return []
    return [str(parent) for parent in reversed(path.parents) if parent.is_relative_to(folder) and parent != folder]


def _git_paths(folder: Path) -> GitPaths:
    own = folder / ".git"
    if own.is_file():  # of a worktree or a submodule: it names the git folder
        return GitPaths([str(own)], [])
    if not own.is_dir():
        return GitPaths([], [])
    pinned = [os.path.realpath(own)]
    for top in ("modules", "worktrees"):
        below = [path for _, path in zip(range(_MOST_FOLDERS), _git_folders(own / top), strict=False)]
        pinned += [str(own / top), *below] if below else []
    found = [Path(path) / name for path in pinned for name in _READ_ONLY]
    return GitPaths([str(path) for path in found if path.exists() and not path.is_symlink()], pinned)


def _hook_folders(repository: Path, settings: Sequence[Path]) -> list[Path]:
    """Where git may find hooks beside `.git/hooks`, without links."""
    named = [value for file in (repository / ".git" / "config", *settings) for value in _hooks_paths(file)]
    folders = [Path(os.path.realpath(repository / name)) for name in (*_HOOK_FOLDERS, *named)]
    return [folder for folder in folders if not repository.is_relative_to(folder)]


def _hooks_paths(file: Path) -> list[str]:
    try:
        text = read_own_bytes(file, most=_MOST_CONFIG).decode("utf-8", "replace")
    except (OSError, UnreadableFile):
        return []
    values = [match[1].strip() for match in _HOOKS_PATH.finditer(text)]
    return [f"{Path.home()}{value[1:]}" if value.startswith("~/") else value for value in values if "\0" not in value]


def add_hook_folders(folder: Path, found: Sequence[Path]) -> None:
    """Creates `.git/hooks`, and the folder that core.hooksPath names, in repositories without: what does not exist
    cannot be made read-only."""
    for repository in found:
        own = repository / ".git"
        with suppress(OSError):  # also where the folder cannot be entered
            if not (own / "HEAD").is_file():
                continue
            (own / "hooks").mkdir(exist_ok=True)
            for name in _hooks_paths(own / "config"):
                if (path := Path(os.path.realpath(repository / name))).is_relative_to(folder):
                    path.mkdir(parents=True, exist_ok=True)


def has_redirection(folder: Path) -> bool:
    return os.path.lexists(folder / ".git" / _REDIRECTION)


def set_redirection_aside(folder: Path) -> bool:
    """Renames a `commondir` that a command made, so that git does not read it; says whether there was one."""
    own = folder / ".git"
    if not has_redirection(folder) or own.is_file():
        return False
    with suppress(OSError):
        (own / _REDIRECTION).replace(own / _QUARANTINE)
    return True


def _git_folders(top: Path) -> Iterator[str]:
    """The git folders below, and the folders on the way to them: a submodule's name may have slashes."""
    with suppress(OSError), os.scandir(top) as entries:
        for entry in sorted(entries, key=lambda found: found.name):
            if entry.is_dir(follow_symlinks=False):
                yield entry.path
                below = Path(entry.path)
                yield from _git_folders(below / "modules" if (below / "HEAD").exists() else below)
