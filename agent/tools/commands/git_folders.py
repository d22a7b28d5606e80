"""The parts of a project's git folder that name programs: git runs these later, outside the sandbox.

Hooks and settings are read-only in the sandbox. A mount does not follow the folder above it when that one is renamed
(`mv .git x && cp -r x .git` would replace both), so each folder on the way is pinned by a mount of its own.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

_READ_ONLY: Final = ("hooks", "config", "config.worktree", "commondir", "gitdir")
_REDIRECTION: Final = "commondir"  # makes git read hooks and settings elsewhere; a main git folder has none
_QUARANTINE: Final = "commondir.made-by-a-command"
_MOST_FOLDERS: Final = 500  # of submodules and worktrees


class GitPaths(NamedTuple):
    """`read_only` paths exist; `pinned` folders keep their names."""

    read_only: list[str]
    pinned: list[str]


def git_paths(folder: Path) -> GitPaths:
    """What is protected in the folder's `.git`: of its own, its submodules and its worktrees."""
    try:
        return _git_paths(folder)
    except PermissionError:  # no command can enter it either
        return GitPaths([], [])


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


def add_hook_folder(folder: Path) -> None:
    """Creates `.git/hooks` in a repository without: what does not exist cannot be made read-only."""
    own = folder / ".git"
    with suppress(OSError):  # also where the folder cannot be entered
        if (own / "HEAD").is_file():
            (own / "hooks").mkdir(exist_ok=True)


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
