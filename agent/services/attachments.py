"""`@file` in a message: the files that go with it, on the command line as in the chat."""

import re
from pathlib import Path

from context import Attachment, load_attachment
from foundation.terminal_text import unspelled

_MENTION = re.compile(r'(?<!\S)@(?:"([^"]+)"|(\S+))')
_ENDS = ".,;:!?)"  # of a sentence, not of a name


def mentioned(text: str, here: Path) -> list[Path]:
    """The files that a message mentions with @ and that exist, each once, in order.

    A hidden character of a name stands there as its number, as the completion puts it: `@a⟨U+001B⟩c.txt`.
    """
    found: dict[Path, None] = {}
    for match in _MENTION.finditer(text):
        typed = match[1] or match[2]
        spellings = (unspelled(typed), unspelled(typed.rstrip(_ENDS)), typed, typed.rstrip(_ENDS))
        if (path := next((path for name in spellings if (path := _file(name, here))), None)) is not None:
            found[path] = None
    return list(found)


def _file(name: str, here: Path) -> Path | None:
    try:
        path = here / Path(name).expanduser() if name.startswith("~") else here / name
        return path if name and path.is_file() else None
    except (OSError, ValueError, RuntimeError):  # a NUL, too long a name, an unknown home: no file is called so
        return None


def attached(text: str, here: Path) -> tuple[Attachment, ...]:
    """The same, read. Raises BadAttachment."""
    return tuple(load_attachment(path) for path in mentioned(text, here))
