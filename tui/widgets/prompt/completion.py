"""Completion of commands and file names in the prompt."""

import asyncio
import os
import re
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.commands import registry
from foundation.terminal_text import escape_name, unescape_name
from tui.widgets.prompt.suggestions import Suggestion

MAX_OFFERS: Final = 50
_MAX_SCANNED: Final = 2_000  # entries of a folder looked at, so that a huge one costs little
_OPEN = re.compile(r'(?<!\S)@("[^"]*|\S*)$')


def commands_for(text: str) -> list[Suggestion]:
    """The commands that `/…` may become; none once the name is whole and something follows."""
    if not text.startswith("/") or any(mark.isspace() for mark in text):
        return []
    return [
        Suggestion(
            label=command.signature,
            detail=command.summary,
            text=f"/{command.name}" + (" " if command.usage else ""),
            typed=text,
            sends=not command.usage or command.usage.startswith("["),
        )
        for command in registry.complete(text)
    ]


async def files_for(before_cursor: str, here: Path) -> list[Suggestion]:
    """The files that `@…` may become. The folder is read on another thread."""
    typed = typed_path(before_cursor)
    if typed is None:
        return []
    paths = await asyncio.to_thread(suggest_paths, typed, here)
    mention = typed_mention(before_cursor)
    return [
        Suggestion(offer.text, "folder" if folder else "", quote_mention(offer.text) + ("" if folder else " "), mention)
        for offer in paths
        for folder in [offer.text.endswith("/")]
    ]


class PathSuggestion(Struct, frozen=True):
    """`text` takes the place of what was typed after the @; a hidden character of a name is its number there."""

    text: str
    detail: str = ""


def typed_path(before_cursor: str) -> str | None:
    """What stands after the @ that is being typed; None where none is."""
    match = _OPEN.search(before_cursor)
    return match[1].removeprefix('"') if match else None


def typed_mention(before_cursor: str) -> str:
    """The same with its @ and quotation mark; "" where none is."""
    match = _OPEN.search(before_cursor)
    return match[0] if match else ""


def suggest_paths(typed: str, here: Path) -> list[PathSuggestion]:
    """Files and folders that `typed` may become, best first. Reads one folder; call it off the event loop."""
    folder_typed, slash, name = typed.rpartition("/")
    folder = _resolved(unescape_name(folder_typed + slash), here) if slash else here
    matches: list[tuple[int, str, bool]] = []
    try:
        with os.scandir(folder) as entries:
            for entry, _ in zip(entries, range(_MAX_SCANNED), strict=False):
                if entry.name.startswith(".") and not name.startswith("."):
                    continue
                shown = escape_name(entry.name)
                if (rank := _rank(name.lower(), shown.lower())) is not None:
                    matches.append((rank, shown, entry.is_dir()))
    except (OSError, ValueError):  # an unreadable folder offers nothing; what was typed stays
        return []
    matches.sort(key=lambda match: (match[0], not match[2], match[1].lower()))
    return [
        PathSuggestion(f"{folder_typed}{slash}{match}{'/' if is_dir else ''}")
        for _, match, is_dir in matches[:MAX_OFFERS]
    ]


def quote_mention(path: str) -> str:
    """How a path stands in a message. The quotation of a folder stays open, so that typing goes on below it."""
    if not any(map(str.isspace, path)):
        return f"@{path}"
    return f'@"{path}' if path.endswith("/") else f'@"{path}"'


def _resolved(typed: str, here: Path) -> Path:
    return here / Path(typed).expanduser() if typed.startswith("~") else here / typed


def _rank(typed: str, name: str) -> int | None:
    """0 where the name begins so, 1 where it holds it, 2 where its letters come in order; None elsewhere."""
    if name.startswith(typed):
        return 0
    if typed in name:
        return 1
    letters = iter(name)
    return 2 if all(letter in letters for letter in typed) else None
