"""The git folders of a project, and the parts of them by which git decides what it runs.

These parts are read-only in the sandbox. A mount does not follow the folder above it when that one is renamed
(`mv .git x && cp -r x .git` would replace both), so each folder on the way is pinned by a mount of its own.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from agent.tools.commands.git_settings import ADDRESSES, HARMLESS, MAX_CONFIG_BYTES, settings_in
from foundation.files import make_folder, write_atomically
from foundation.files.untrusted import read_own_bytes

CONTROL: Final = ("hooks", "config", "config.worktree", "commondir", "gitdir", "info/attributes")
"""Whoever writes one of these in a git folder has git run programs, or read settings elsewhere."""
_STEPS: Final = {
    "rebase-merge/git-rebase-todo": re.compile(r"^\s*(?:x|exec)\s.*", re.MULTILINE),
    "rebase-merge/strategy": re.compile(r"^(?!(?:ort|recursive|resolve|octopus|ours|subtree)$).+", re.MULTILINE),
    "sequencer/opts": re.compile(r"^\s*strategy\s*=.*", re.MULTILINE | re.IGNORECASE),
}
"""Files of an unfinished command of git, with the lines that name programs."""
_MAX_FOLDERS: Final = 500  # of submodules and worktrees


def git_folders(repository: Path) -> list[Path]:
    """The git folders, without links, of the repository in this folder: its own, a shared one, those below.

    A bare repository is its own git folder. Some may not exist.
    """
    own = own_git_folder(repository)
    shared = own / _first_line(own / "commondir") if os.path.lexists(own / "commondir") else own
    found = dict.fromkeys([own, Path(os.path.realpath(shared))])
    for folder in list(found):
        for top in ("modules", "worktrees"):
            found.update(dict.fromkeys(islice(_below(folder / top), _MAX_FOLDERS)))
    return list(found)


def own_git_folder(repository: Path) -> Path:
    """The git folder of a repository, without links, which its `.git` is or names."""
    named = repository / ".git"
    if not os.path.lexists(named):
        return repository
    if named.is_file():
        return Path(os.path.realpath(repository / _first_line(named).removeprefix("gitdir:").strip()))
    return Path(os.path.realpath(named))


def steps(folder: Path) -> dict[Path, str]:
    """The programs that an unfinished command of git in this git folder would run, by the file that names them."""
    found: dict[Path, str] = {}
    for name, pattern in _STEPS.items():
        with suppress(OSError, ValueError):
            found[folder / name] = "\n".join(pattern.findall(_text(folder / name)))
    return {path: lines for path, lines in found.items() if lines}


def add_missing(folder: Path) -> None:
    """Creates empty what git reads in the git folder and what is missing: it could not be read-only otherwise."""
    with suppress(OSError, ValueError):  # also where the folder cannot be entered
        if not (folder / "HEAD").is_file() or os.path.lexists(folder / "commondir"):
            return
        make_folder(folder / "hooks", mode=0o777)
        if "worktreeconfig" in _text(folder / "config").casefold():
            for own in (folder, *_below(folder / "worktrees")):
                if not os.path.lexists(own / "config.worktree"):
                    write_atomically(own / "config.worktree", b"", sync=False)


def folders_between(folder: Path, path: Path) -> list[str]:
    """The folders below `folder` on the way to the path, without either, outermost first."""
    if not path.is_relative_to(folder):
        return []
    return [str(parent) for parent in reversed(path.parents) if parent.is_relative_to(folder) and parent != folder]


def named_tree(folder: Path) -> Path | None:
    """The folder of files that the settings of a git folder name; None for none."""
    with suppress(OSError, ValueError):
        for setting in settings_in(_text(folder / "config")):
            if setting.key == "core.worktree":
                return folder / setting.value.strip(' "')
    return None


def danger(repository: Path, known: Sequence[Path] = ()) -> str:
    """Why git may run programs of this repository, as the end of a sentence; "" where it does not.

    As `git init`, `clone`, `submodule` and `worktree` leave it, it runs none. `known` are git folders that no command
    made, or that were judged.
    """
    named = repository / ".git"
    try:
        if named.is_symlink():
            return "is a link"
        if named.is_file() and not _text(named).startswith("gitdir:"):
            return ""  # git reads no further
        is_bare = not os.path.lexists(named)
        return danger_in(own_git_folder(repository), None if is_bare else repository, known)
    except (OSError, ValueError):  # no text, or no path
        return "cannot be read"


def danger_in(folder: Path, repository: Path | None, known: Sequence[Path] = ()) -> str:
    """The same of a git folder, whose files are in `repository`. Raises OSError and ValueError."""
    hooks = folder / "hooks"
    names = [path.name for path in hooks.iterdir()] if hooks.is_dir() else []
    if os.path.lexists(hooks) and (hooks.is_symlink() or any(not name.endswith(".sample") for name in names)):
        return "has hooks"
    is_worktree = folder.parent.name == "worktrees" and folder.parent.parent in known
    if os.path.lexists(folder / "commondir") and not (is_worktree and _first_line(folder / "commondir") == "../.."):
        return "has settings elsewhere"
    if steps(folder):
        return "has steps that run programs"
    if os.path.lexists(folder / "info/attributes"):
        return "has attributes"
    for name in ("config", "config.worktree"):
        if setting := _foreign_setting(_text(folder / name), folder, repository):
            return f"sets {setting}"
    return ""


def _foreign_setting(text: str, folder: Path, repository: Path | None) -> str:
    """The first setting that git does not make by itself; "" for none."""
    for setting in settings_in(text):
        value = setting.value.strip(' "')
        if not setting.key:
            return "what cannot be read"
        if setting.key == "core.worktree" and repository is not None:  # of a submodule
            is_harmless = os.path.realpath(folder / value) == os.path.realpath(repository)
        elif setting.key in ADDRESSES:
            is_harmless = "::" not in value and not value.startswith("-")
        else:
            is_harmless = setting.key in HARMLESS
        if not is_harmless:
            return setting.shown
    return ""


def _text(file: Path) -> str:
    """The text of the file; "" where there is none. Raises ValueError where it is no text, too long, or special."""
    try:
        return read_own_bytes(file, most=MAX_CONFIG_BYTES).decode()
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _first_line(file: Path) -> str:
    try:
        return _text(file).partition("\n")[0].strip().replace("\0", "")
    except (OSError, ValueError):
        return ""


def _below(top: Path) -> Iterator[Path]:
    """The git folders below, and the folders on the way to them: a submodule's name may have slashes."""
    with suppress(OSError), os.scandir(top) as entries:
        for entry in sorted(entries, key=lambda found: found.name):
            if entry.is_dir(follow_symlinks=False):
                below = Path(entry.path)
                yield below
                if top.name == "worktrees":
                    continue
                is_git_folder = (below / "HEAD").exists()
                yield from _below(below / "modules" if is_git_folder else below)
                if is_git_folder:
                    yield from _below(below / "worktrees")
