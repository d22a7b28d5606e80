"""What the first character of a prompt makes of it: `!command` for the shell, `#note` for MEMORY.md."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Final, Literal

from msgspec import Struct

SHELL: Final = "!"
TERMINAL: Final = "!!"
NOTE: Final = "#"
HINTS: Final = {
    SHELL: "Enter runs it in the shell; the model does not see it",
    TERMINAL: "Enter runs it in the terminal, then returns to the chat",
    NOTE: "Enter adds it to MEMORY.md",
}
FULL_SCREEN: Final = {
    "vi", "vim", "nvim", "view", "vimdiff", "nano", "pico", "emacs", "micro", "hx", "joe", "less", "more", "most",
    "man", "info", "top", "htop", "btop", "atop", "watch", "tmux", "screen", "mc", "ranger", "nnn", "lf", "tig",
    "lazygit", "gitui", "k9s", "fzf", "ssh", "mosh", "telnet", "ftp", "sftp", "gdb", "lldb",
}  # fmt: skip
"""Programs that need the terminal for themselves."""
_INTERPRETER: Final = re.compile(
    r"(?:python|python[23][.\d]*|ipython3?|node|irb|ghci|bash|sh|zsh|fish|dash|ksh)(?:\s+-i)?"
)
_DATABASE: Final = re.compile(r"(?:sqlite3|psql|mysql|mariadb|duckdb)(?:\s+[^\s-]\S*)?")
"""They read what is typed, unless they are given a script, a statement or a pipe."""
_ASKS: Final = re.compile(r"(?:read|select)\b")
_NOTE: Final = re.compile(r"#(?!#)\s*(\S[^\n]*)\s*")


class Prefixed(Struct, frozen=True):
    """What is meant: a command line for the shell, one for the terminal itself, or a note."""

    kind: Literal["!", "!!", "#"]
    text: str

    @property
    def fills_screen(self) -> bool:
        """Whether its program leaves nothing to read when it ends."""
        return _program(self.text) in FULL_SCREEN


def prefixed(text: str) -> Prefixed | None:
    """What a prompt means by its first character; None for a message. A space before it makes it a message.

    A note is one line and `##` none: several lines that begin with a heading are a message.
    """
    if text.startswith(TERMINAL) and (line := text[2:].strip()):
        return Prefixed(TERMINAL, line)
    if text.startswith(SHELL) and (line := text[1:].strip().lstrip(SHELL).strip()):
        return Prefixed(TERMINAL if _needs_terminal(line) else SHELL, line)
    if note := _NOTE.fullmatch(text):
        return Prefixed(NOTE, note[1].strip())
    return None


def separate_prompts(texts: Sequence[str]) -> list[str]:
    """Joins neighbouring messages. A text whose first character may make it a command stays alone: joined, what follows
    it would run as well, and after a message it would be text for the model."""
    prompts: list[str] = []
    for is_alone, group in groupby(filter(str.strip, texts), lambda text: text.startswith((SHELL, NOTE, "/"))):
        neighbours = [*group]
        prompts += neighbours if is_alone else ["\n\n".join(neighbours)]
    return prompts


def _needs_terminal(line: str) -> bool:
    """Whether it draws on the terminal, or reads what is typed there."""
    if _program(line) in FULL_SCREEN:
        return True
    if "|" in line or "<" in line:
        return False
    name, *rest = line.split(maxsplit=1)
    command = " ".join([name.rpartition("/")[2], *rest])
    return bool(_INTERPRETER.fullmatch(command) or _DATABASE.fullmatch(command) or _ASKS.match(command))


def _program(line: str) -> str:
    """The name of the program that has the terminal: the last of a pipeline."""
    words = line.rsplit("|", 1)[-1].split()
    while words and "=" in words[0]:  # a variable for it
        words.pop(0)
    return words[0].rpartition("/")[2] if words else ""


def line_beside(text: str) -> str:
    """The command that needs not wait for the end of an answer: `#tea` is `/remember tea`; "" for what must wait."""
    if (own := prefixed(text)) is not None:
        return f"/remember {own.text}" if own.kind == NOTE else ""
    from agent.commands import registry  # not before first paint

    command = registry.find(text.strip().partition(" ")[0]) if text.startswith("/") else None
    return text.strip() if command is not None and command.beside_turns else ""
