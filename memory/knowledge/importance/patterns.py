"""Matches files by pattern: `contracts/*.pdf`, `*.md`, a name, a path, or an id."""

import glob
import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from memory.knowledge.records import KnowledgeRecord


def matches_pattern(pattern: str, known: KnowledgeRecord) -> bool:
    """Whether the pattern matches the file: its id, its listed name, the end of its name or path from a folder on, or a
    folder that contains it. An absolute pattern is compared with the absolute path."""
    if has_exact_name(pattern, known):
        return True
    typed, source = _typed(pattern), PurePath(known.source).as_posix()
    if PurePath(typed).is_absolute():
        return fnmatchcase(source, typed) or fnmatchcase(source, f"{typed}/*")
    whole = (known.name, f"/{known.name}", source)
    return fnmatchcase(known.name, typed) or any(
        fnmatchcase(path, form) for path in whole for form in (f"*/{typed}", f"*/{typed}/*")
    )


def has_exact_name(name: str, known: KnowledgeRecord) -> bool:
    """The same for a literal name, in which `[`, `]`, `*` and `?` are ordinary characters."""
    typed, source = _typed(name), PurePath(known.source).as_posix()
    if typed in {known.id, known.name, source}:
        return True
    if PurePath(typed).is_absolute():
        return source.startswith(f"{typed}/")
    return any(is_end_of(name, path) or f"/{typed}/" in f"/{path}" for path in (known.name, source))


def is_end_of(name: str, path: str) -> bool:
    """Whether the name is the path, or the end of it from a folder on: whole components, to the letter."""
    return f"/{PurePath(path).as_posix()}".endswith(f"/{_typed(name)}")


def matching_memories(pattern: str, memories: Iterable[KnowledgeRecord]) -> list[KnowledgeRecord]:
    """The files of that literal name; where there is none, the files that it matches as a pattern."""
    memories = list(memories)
    return [memory for memory in memories if has_exact_name(pattern, memory)] or [
        memory for memory in memories if matches_pattern(pattern, memory)
    ]


def as_pattern(name: str) -> str:
    """The pattern that matches this literal name and nothing else."""
    return glob.escape(name)


def _typed(pattern: str) -> str:
    """The pattern with forward slashes, as paths are stored, and no trailing slash."""
    typed = pattern.replace("\\", "/") if os.name == "nt" else pattern
    return typed.rstrip("/") or typed


def importance_of(known: KnowledgeRecord, patterns: Iterable[tuple[str, float]], default: float) -> float:
    """The importance by the last pattern that matches the file; `default` where none does."""
    found = default
    for pattern, importance in patterns:
        if matches_pattern(pattern, known):
            found = importance
    return found


def resolve_pattern(typed: str, here: Path) -> str:
    """The pattern as it is stored: a path that begins with `.`, `~` or `/` is resolved against `here`."""
    if typed.startswith((".", "~", "/")) or Path(typed).is_absolute():
        return os.path.realpath(here / Path(typed).expanduser())
    return typed
