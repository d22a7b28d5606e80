"""Completion of the file names that a message mentions with @."""

import os
import re
from pathlib import Path
from typing import Final

from msgspec import Struct

from foundation.paths import expand_home
from foundation.terminal_text import escape_name, unescape_name
from memory.knowledge.ingest.walk import SKIPPED

MAX_PATHS: Final = 50
_MAX_SCANNED: Final = 2_000  # entries of a folder that are read: it can be very large
_BINARY: Final = re.compile(
    r"\.(?:py[cod]|class|o|a|so|dylib|dll|exe|wasm|jar|whl|bin|dat|db|sqlite3?|zip|gz|xz|bz2|zst|tar|7z)$",
    re.IGNORECASE,
)
_OPEN_MENTION = re.compile(r'(?<!\S)@("[^"]*|\S*)$')


class PathSuggestion(Struct, frozen=True):
    """`text` replaces the text typed after the @; control characters of a name are escaped."""

    text: str
    detail: str = ""


def typed_path(before_cursor: str) -> str | None:
    """The text after the @ before the cursor; None if there is no @."""
    match = _OPEN_MENTION.search(before_cursor)
    return match[1].removeprefix('"') if match else None


def typed_mention(before_cursor: str) -> str:
    """The same with its @ and quotation mark; "" if there is no @."""
    match = _OPEN_MENTION.search(before_cursor)
    return match[0] if match else ""


def suggest_paths(typed: str, working_directory: Path) -> list[PathSuggestion]:
    """Files and folders that complete `typed`, best first. Reads one folder. Blocks."""
    folder_typed, slash, name = typed.rpartition("/")
    folder = _resolved(unescape_name(folder_typed + slash), working_directory) if slash else working_directory
    matches: list[tuple[int, str, bool]] = []
    try:
        with os.scandir(folder) as entries:
            for entry, _ in zip(entries, range(_MAX_SCANNED), strict=False):
                if entry.name.startswith(".") and not name.startswith("."):
                    continue
                shown = escape_name(entry.name)
                if (rank := _rank(name.lower(), shown.lower())) is not None:
                    matches.append((rank, shown, entry.is_dir()))
    except (OSError, ValueError):  # an unreadable folder has no completions
        return []
    matches.sort(key=lambda match: (is_generated(match[1]), match[0], not match[2], match[1].lower()))
    return [
        PathSuggestion(f"{folder_typed}{slash}{match}{'/' if is_dir else ''}")
        for _, match, is_dir in matches[:MAX_PATHS]
    ]


def is_generated(path: str) -> bool:
    """Whether a program made the file, or its bytes are no text: it is offered after all others."""
    return _BINARY.search(path) is not None or not SKIPPED.isdisjoint(path.split("/"))


def quote_mention(path: str) -> str:
    """A path as written in a message. The quotation of a folder stays open, for its files."""
    if not any(map(str.isspace, path)):
        return f"@{path}"
    return f'@"{path}' if path.endswith("/") else f'@"{path}"'


def _resolved(typed: str, working_directory: Path) -> Path:
    return working_directory / expand_home(typed) if typed.startswith("~") else working_directory / typed


def _rank(typed: str, name: str) -> int | None:
    """0 if the name starts with `typed`, 1 if it contains it, 2 if it has its letters in order; else None."""
    if name.startswith(typed):
        return 0
    if typed in name:
        return 1
    letters = iter(name)
    return 2 if all(letter in letters for letter in typed) else None
