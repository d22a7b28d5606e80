"""What the first character of a prompt makes of it: `!command` for the shell, `#note` for MEMORY.md."""

import re
from typing import Final, Literal

from msgspec import Struct

SHELL: Final = "!"
NOTE: Final = "#"
HINTS: Final = {
    SHELL: "Enter runs it in the shell; no model sees it",
    NOTE: "Enter adds it to MEMORY.md",
}
_NOTE: Final = re.compile(r"#(?!#)\s*(\S[^\n]*)\s*")


class Prefixed(Struct, frozen=True):
    """What is meant: a command line for the shell, or a note."""

    kind: Literal["!", "#"]
    text: str


def prefixed(text: str) -> Prefixed | None:
    """What a prompt means by its first character; None for a message. A space before it makes it a message.

    A note is one line and `##` none: several lines that begin with a heading are a message.
    """
    if text.startswith(SHELL) and text[1:].strip():
        return Prefixed(SHELL, text[1:].strip())
    if note := _NOTE.fullmatch(text):
        return Prefixed(NOTE, note[1].strip())
    return None
