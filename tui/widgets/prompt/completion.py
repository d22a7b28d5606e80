"""Completion of commands and file names in the prompt."""

import asyncio
from pathlib import Path

from agent.commands import registry
from tui.widgets.prompt.files import quote_mention, suggest_paths, typed_mention, typed_path
from tui.widgets.prompt.suggestions import Suggestion


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
