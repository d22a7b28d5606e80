"""The values that the first argument of a command can have, for completion."""

from __future__ import annotations

from collections.abc import Iterable

from agent.commands import registry


def argument_values(
    command: str, *, models: Iterable[str] = (), themes: Iterable[str] = (), files: Iterable[str] = ()
) -> list[tuple[str, str]]:
    """The values of the command (its name), each with a sentence or "". `models` are those that were used, `files`
    those with versions."""
    values: list[str] = []
    match command:
        case "help":
            return [(one.name, one.summary) for one in registry.all()]
        case "settings":
            from agent.config.settings import all_settings

            return [(name, setting.sentence) for name, setting in all_settings().items()]
        case "theme":
            values = ["auto", *sorted(themes)]
        case "model":
            values = ["offline", *models]
        case "mode":
            from agent.permissions.mode import PermissionMode

            values = [mode.value for mode in PermissionMode]
        case "switches":
            from context.switches import SWITCHES

            values = list(SWITCHES)
        case "memory":
            actions = [("log", "list versions of all files or one"), ("undo", "undo the last change by a model")]
            return actions + [(f"log {name}", "") for name in files]
        case _:
            pass
    return [(value, "") for value in dict.fromkeys(values)]
