"""Attachments by `@file` in a message, on the command line and in the chat."""

import re
from pathlib import Path

from context import Attachment, load_attachment
from foundation.paths import expand_home
from foundation.terminal_text import unescape_name

_MENTION = re.compile(r'(?<!\S)@(?:"([^"]+)"|(\S+))')
_ENDS = ".,;:!?)"  # punctuation after a name


def mentioned_files(text: str, here: Path) -> list[Path]:
    """The existing files that a message mentions with @, without duplicates, in order.

    A hidden character in a name is written as its number, as the completion inserts it: `@a⟨U+001B⟩c.txt`.
    """
    paths: dict[Path, None] = {}
    for match in _MENTION.finditer(text):
        typed = match[1] or match[2]
        spellings = (unescape_name(typed), unescape_name(typed.rstrip(_ENDS)), typed, typed.rstrip(_ENDS))
        if (path := next((path for name in spellings if (path := _file(name, here))), None)) is not None:
            paths[path] = None
    return list(paths)


def _file(name: str, here: Path) -> Path | None:
    try:
        path = here / expand_home(name) if name.startswith("~") else here / name
        return path if name and path.is_file() else None
    except (OSError, ValueError, RuntimeError):  # a NUL, a name that is too long, an unknown home folder
        return None


def attachments_of(text: str, here: Path) -> tuple[Attachment, ...]:
    """The mentioned files, loaded. Raises BadAttachment."""
    return tuple(load_attachment(path) for path in mentioned_files(text, here))
