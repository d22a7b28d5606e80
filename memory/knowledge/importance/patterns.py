"""Which files a pattern means: `contracts/*.pdf`, `*.md`, a name, a path, or an id."""

import glob
import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from memory.knowledge.records import KnowledgeRecord


def means(pattern: str, known: KnowledgeRecord) -> bool:
    """Whether the pattern means the file: its id, its name as it is listed, the end of that or of its path from some
    folder on, or a folder that it lies in. An absolute path is held against the whole one."""
    if is_named(pattern, known):
        return True
    typed, source = _typed(pattern), PurePath(known.source).as_posix()
    if PurePath(typed).is_absolute():
        return fnmatchcase(source, typed) or fnmatchcase(source, f"{typed}/*")
    whole = (known.name, f"/{known.name}", source)
    return fnmatchcase(known.name, typed) or any(
        fnmatchcase(path, form) for path in whole for form in (f"*/{typed}", f"*/{typed}/*")
    )


def is_named(name: str, known: KnowledgeRecord) -> bool:
    """The same of a name as it stands, in which `[`, `]`, `*` and `?` are letters like others."""
    typed, source = _typed(name), PurePath(known.source).as_posix()
    if typed in {known.id, known.name, source}:
        return True
    if PurePath(typed).is_absolute():
        return source.startswith(f"{typed}/")
    return any(f"/{path}".endswith(f"/{typed}") or f"/{typed}/" in f"/{path}" for path in (known.name, source))


def meant(pattern: str, memories: Iterable[KnowledgeRecord]) -> list[KnowledgeRecord]:
    """Those so named, to the letter; where none is, those that the pattern means."""
    memories = list(memories)
    return [one for one in memories if is_named(pattern, one)] or [one for one in memories if means(pattern, one)]


def as_pattern(name: str) -> str:
    """A pattern that means what is so named, and nothing else."""
    return glob.escape(name)


def _typed(pattern: str) -> str:
    """With the slashes of a stored path, and none at its end."""
    typed = pattern.replace("\\", "/") if os.name == "nt" else pattern
    return typed.rstrip("/") or typed


def importance_of(known: KnowledgeRecord, patterns: Iterable[tuple[str, float]], default: float) -> float:
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
