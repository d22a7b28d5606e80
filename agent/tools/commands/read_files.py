"""The files that a command line reads which only reads, and whether a file tool would ask before it reads them."""

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Final

from agent.permissions.action import FilesRead
from agent.permissions.read_only_commands import path_texts, read_only_commands, searched_paths
from agent.tools.files.concerns import is_secret
from agent.tools.files.project import ProjectFolders
from agent.tools.files.read_file import ReadFile
from agent.tools.files.walk import MOST_FILES, ProjectWalk
from agent.tools.port import ToolFailure
from foundation.files.untrusted import UnreadableFile, read_own_text

_MOST_EXPANDED: Final = 1_000  # paths that the globs of a word may name
_RUNS_PROGRAMS: Final = re.compile(
    r"^(?:\s*\[.*\])?\s*(?:fsmonitor|external|textconv|command|clean|process|program|pager|showsignature|path)\s*=",
    re.MULTILINE | re.IGNORECASE,
)
"""Settings by which git runs programs while it reads; `path` is that of another configuration."""


def files_read(line: str, project: ProjectFolders) -> FilesRead | None:
    """What the line reads; None where it may do more. Blocks."""
    commands, named, below = read_only_commands(line), list[Path | None](), list[Path | None]()
    folders = [project.root]  # where a command may start: `cd` may fail, or not be reached
    for command in commands:
        named += [path for folder in folders for path in _named(command[1:], project, folder)]
        if command[0] == "cd":
            folders += [path for path in named if path and path.is_dir()]
        if command[0] == "git" and (set(folders) != {project.root} or _git_runs_programs(project.root)):
            named.append(None)
        searched = [path for folder in folders for path in _named(searched_paths(command), project, folder)]
        below += _below(command[0], project, [path for path in searched if path and path.is_dir()])
    shown = (tuple(project.shown(path) for path in paths if path) for paths in (named, below))
    return FilesRead(ReadFile.facts.name, *shown, asks=None in (*named, *below)) if commands else None


def _named(words: tuple[str, ...], project: ProjectFolders, folder: Path) -> Iterator[Path | None]:
    """The paths that the words name; None stands beside one that is read only with a question."""
    for text in path_texts(words):
        pattern = re.sub(r"\[[^/]*\]", "*", text)  # wider than what a shell expands
        is_glob = re.search("[*?]", pattern) is not None and not pattern.startswith("/")
        expanded = list(islice(folder.glob(pattern), _MOST_EXPANDED)) if is_glob else []
        if len(expanded) == _MOST_EXPANDED:
            yield None
        for path in expanded or [folder / text]:
            try:
                if os.path.lexists(path) or path.is_relative_to(project.root):
                    place = project.locate(str(path))
                    yield place.path
                    if project.reading_concern(place):
                        yield None
            except (ToolFailure, OSError, ValueError):
                yield from (path, None)


def _below(program: str, project: ProjectFolders, folders: list[Path]) -> list[Path | None]:
    """The files below that the program reads, with None where one is of keys, or there are too many."""
    if program in {"git", "rg"}:  # they leave out what is ignored
        walk = ProjectWalk(project, Event(), MOST_FILES + 1)
        places = tuple(project.locate(str(folder)) for folder in folders)
        files = [found.root.joinpath(*found.parts) for found in walk.files(places)]
    else:
        files = [path for folder in folders for path in islice(folder.rglob("*"), MOST_FILES + 1)]
    asks = len(files) > MOST_FILES or any(is_secret(path.parts) for path in files)
    return [*files, *([None] if asks else [])]


def _git_runs_programs(folder: Path) -> bool:
    """Whether the repository's settings have git run programs when it reads, or cannot be read."""
    own = next((each / ".git" for each in (folder, *folder.parents) if os.path.lexists(each / ".git")), folder)
    try:
        places = [own]
        if own.is_file():  # of a worktree or a submodule: it names the git folder
            named = own.parent / read_own_text(own).removeprefix("gitdir:").strip()
            places = [named, named.parent.parent]
        configs = [place / name for place in places for name in ("config", "config.worktree")]
        texts = [read_own_text(config) for config in configs if config.exists()]
    except (UnreadableFile, OSError, ValueError):
        return True
    return (folder / "HEAD").exists() or any(map(_RUNS_PROGRAMS.search, texts))
