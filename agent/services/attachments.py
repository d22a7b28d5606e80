"""Attachments by `@file` in a message, on the command line and in the chat."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from foundation.paths import expand_home
from foundation.terminal_text import unescape_name

MENTION: Final = re.compile(r'(?<!\S)@(?:"([^"]+)"|(\S+))')
NAME_ENDS: Final = ".,;:!?)"  # punctuation after a name


def mentioned_files(text: str, here: Path) -> list[Path]:
    """The existing files that a message mentions with @, without duplicates, in order; a folder where the mention ends
    with a slash.

    A hidden character in a name is written as its number, as the completion inserts it: `@a⟨U+001B⟩c.txt`.
    """
    paths: dict[Path, None] = {}
    for match in MENTION.finditer(text):
        typed = match[1] or match[2]
        exists = Path.exists if typed.rstrip(NAME_ENDS).endswith("/") else Path.is_file
        if (path := mentioned_path(typed, here, exists)) is not None:
            paths[path] = None
    return list(paths)


def mentioned_path(typed: str, here: Path, exists: Callable[[Path], bool]) -> Path | None:
    """The path that a mention names, where it `exists`: as it is written, or without the end of a sentence."""
    bare = typed.rstrip(NAME_ENDS)
    spellings = (unescape_name(typed), unescape_name(bare), typed, bare)
    return next((path for name in spellings if (path := _path(name, here, exists))), None)


def _path(name: str, here: Path, exists: Callable[[Path], bool]) -> Path | None:
    try:
        path = here / expand_home(name) if name.startswith("~") else here / name
        return path if name and exists(path) else None
    except (OSError, ValueError, RuntimeError):  # a NUL, a name that is too long, an unknown home folder
        return None
