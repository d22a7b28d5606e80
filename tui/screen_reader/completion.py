"""Completes commands and @files with Tab."""

from pathlib import Path

from agent.commands import registry
from agent.services.path_completion import quote_mention, suggest_paths, typed_path


def complete(line: str, word: str, here: Path) -> list[str]:
    """What a word can become, given the line up to the cursor. Reads a folder. Blocks."""
    if line.startswith("/") and line == word:
        return [f"{name} " for name in dict.fromkeys(["/show", *_commands(word)]) if name.startswith(word)]
    typed = typed_path(word)
    if typed is None:
        return []
    mentions = [quote_mention(path.text) for path in suggest_paths(typed, here)]
    return [mention if mention.endswith("/") else f"{mention} " for mention in mentions if mention.startswith(word)]


def _commands(word: str) -> list[str]:
    return [f"/{command.name}" for command in registry.complete(word)]
