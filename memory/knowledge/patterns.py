"""Which files a pattern means: `contracts/*.pdf`, `*.md`, a name, a path, or an id."""

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from memory.knowledge.known import Known


def means(pattern: str, known: Known) -> bool:
    """Whether the pattern means the file: its id, its name, the end of its path from some folder on, or a folder that
    it lies in. An absolute path is held against the whole one."""
    if pattern == known.id:
        return True
    typed = pattern.replace("\\", "/") if "\\" in known.source else pattern
    source = PurePath(known.source).as_posix()
    if PurePath(typed).is_absolute():
        return fnmatchcase(source, typed) or source.startswith(typed.rstrip("/") + "/")
    typed = typed.rstrip("/")
    return fnmatchcase(known.name, typed) or fnmatchcase(source, f"*/{typed}") or f"/{typed}/" in source


def importance_of(known: Known, patterns: Iterable[tuple[str, float]], default: float) -> float:
    """By the pattern that was set last among those that mean the file."""
    found = default
    for pattern, importance in patterns:
        if means(pattern, known):
            found = importance
    return found


def settled(typed: str, here: Path) -> str:
    """A pattern as it is kept: a path that begins with `.`, `~` or `/` is made absolute, for it was typed `here`."""
    if typed.startswith((".", "~", "/")) or Path(typed).is_absolute():
        return os.path.realpath(here / Path(typed).expanduser())
    return typed
