"""Completion of commands in the prompt."""

from agent.commands import registry
from tui.widgets.prompt.suggestions import Suggestion


def commands_for(text: str) -> list[Suggestion]:
    """Commands that complete `/…`; none after the name is complete."""
    if not text.startswith("/") or any(character.isspace() for character in text):
        return []
    return [
        Suggestion(
            label=command.short_signature,
            detail=command.summary,
            text=f"/{command.name}" + (" " if command.usage else ""),
            typed=text,
            sends=not command.usage or command.usage.startswith("["),
        )
        for command in registry.complete(text)
    ]
