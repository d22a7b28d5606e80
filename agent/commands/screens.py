"""Slash commands that open a screen about the program: keys, settings, themes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agent.commands.command import Command
from agent.commands.results import OpenNamedScreen, Outcome, TextResult
from foundation.program import PROGRAM
from foundation.terminal_text import visible

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session


async def _theme(session: Session, name: str) -> Outcome:
    async def printed() -> Outcome:
        theme = visible(session.config.screen.theme)
        return TextResult(f"The theme is `{theme}`. `{PROGRAM} config set screen.theme NAME --user` sets another.")

    return OpenNamedScreen("theme", name, printed)


async def _settings(session: Session, name: str) -> Outcome:
    async def printed() -> Outcome:
        return TextResult(await asyncio.to_thread(_settings_text, session))

    return OpenNamedScreen("settings", name, printed)


async def _keys(_session: Session, _rest: str) -> Outcome:
    async def printed() -> Outcome:
        return TextResult("Keys work only in the chat: open it and press F1. `/help` lists the commands.")

    return OpenNamedScreen("keys", "", printed)


def _settings_text(session: Session) -> str:
    """A line for each setting that is not at its default. Blocks."""
    from agent.config.config import read_config
    from agent.config.secrets import without_secrets
    from agent.config.settings import all_settings, value_of

    reading = read_config(session.workspace, session.config.environment, {})
    values = {name: without_secrets(value_of(reading.config, name), name) for name in all_settings()}
    lines = [
        f"- `{name}` is `{visible(str(values[name]))}`, set by {visible(origin)}"
        for name, origin in reading.origins.items()
        if origin != "default"
    ]
    rest = f"`{PROGRAM} config show` lists every setting with its value."
    return "\n".join([*lines, "", rest]) if lines else f"All settings have their default values. {rest}"


COMMANDS = (
    Command(
        name="theme",
        aliases=("themes",),
        summary="Choose the colours; they are shown as you choose.",
        usage="[NAME]",
        beside_turns=True,
        run=_theme,
    ),
    Command(
        name="settings",
        aliases=("config",),
        summary="Show every setting, and change them.",
        usage="[NAME]",
        beside_turns=True,
        run=_settings,
    ),
    Command(name="keys", summary="Show and change the keys.", beside_turns=True, run=_keys),
)
