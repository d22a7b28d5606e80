"""`@file` in a message: the files that go with it, on the command line as in the chat."""

import re
from pathlib import Path

from context import Attachment, load_attachment

_MENTION = re.compile(r'(?<!\S)@(?:"([^"]+)"|(\S+))')
_ENDS = ".,;:!?)"  # of a sentence, not of a name


def mentioned(text: str, here: Path) -> list[Path]:
    """The files that a message mentions with @ and that exist, each once, in order."""
    found: dict[Path, None] = {}
    for match in _MENTION.finditer(text):
        typed = match[1] or match[2]
        for name in (typed, typed.rstrip(_ENDS)):
            path = here / Path(name).expanduser() if name.startswith("~") else here / name
            if name and path.is_file():
                found[path] = None
                break
    return list(found)


def attached(text: str, here: Path) -> tuple[Attachment, ...]:
    """The same, read. Raises BadAttachment."""
    return tuple(load_attachment(path) for path in mentioned(text, here))
