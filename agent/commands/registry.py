"""Registry of the slash commands, for `/help`, completion, headless runs and the documentation."""

from __future__ import annotations

import asyncio
import difflib
import os
import re
import unicodedata
from typing import TYPE_CHECKING

from agent.commands import (
    archive,
    checkpoints,
    clean,
    conversation,
    custom,
    forget,
    imports,
    knowledge,
    mcp,
    memory,
    permissions,
    program,
    screens,
    switches,
    tree,
)
from agent.commands.chinese_names import CHINESE_NAMES
from agent.commands.command import Command
from agent.commands.results import CommandFailed, Outcome, Proposal, TextResult
from foundation.errors import Misuse, PalimpsestError
from foundation.terminal_text import visible_line

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session
    from memory.pages.types import OnPage


async def _help(session: Session, name: str) -> Outcome:
    await refresh(session)
    if name:
        named = find(name)
        if named is None:
            raise _unknown(name)
        return TextResult(f"`{named.signature}` — {named.summary}" + (f"\n\n{named.keys}" if named.keys else ""))
    lines = [f"| `{_cell(command.short_signature)}` | {_cell(command.summary)} |" for command in all()]
    return TextResult("\n".join(["| command | what it does |", "|---|---|", *lines]))


_COMMANDS: tuple[Command, ...] = (
    Command(
        name="help",
        summary="List the commands, or explain one.",
        usage="[COMMAND]",
        aliases=("?",),
        beside_turns=True,
        run=_help,
    ),
    *conversation.COMMANDS,
    *tree.COMMANDS,
    *switches.COMMANDS,
    *checkpoints.COMMANDS,
    *memory.COMMANDS,
    *forget.COMMANDS,
    *archive.COMMANDS,
    *clean.COMMANDS,
    *knowledge.COMMANDS,
    *imports.COMMANDS,
    *permissions.COMMANDS,
    *mcp.COMMANDS,
    *screens.COMMANDS,
    *custom.COMMANDS,
    *program.COMMANDS,
)
_NAMED = {name: command for command in _COMMANDS for name in (command.name, *command.aliases)}
_BY_NAME = _NAMED | {name: _NAMED[command] for name, command in CHINESE_NAMES.items()}


_custom: tuple[Command, ...] = ()  # of the session of this process, as last read
_NAME = re.compile(r"/(?:[^\W\d_][\w:-]*|\?)")


async def refresh(session: Session) -> None:
    """Reads the custom commands (agent.commands.custom) of the session again."""
    global _custom  # noqa: PLW0603 - a process has one session
    commands = await asyncio.to_thread(custom.custom_commands, session) if session else ()
    _custom = tuple(command for command in commands if command.name not in _BY_NAME)


def all() -> tuple[Command, ...]:  # noqa: A001 - `registry.all()` is the face that screens read
    """Every command, in the order of help; the custom ones last."""
    return (*_COMMANDS, *_custom)


def with_slash(text: str) -> str:
    """The text with an ASCII slash and command name where it begins with a full-width slash: `／ｈｅｌｐ` → `/help`."""
    if not text.startswith("／"):
        return text
    name = text.split(maxsplit=1)[0]
    return unicodedata.normalize("NFKC", name) + text[len(name) :]


def find(name: str) -> Command | None:
    """The command with this name or alias, with or without its slash."""
    typed = _typed(name)
    return _BY_NAME.get(typed) or next((command for command in _custom if command.name == typed), None)


def is_command(text: str) -> bool:
    """Whether the text is a slash command, known or not. Text whose first word is or looks like a path is a message."""
    name = text.split(maxsplit=1)[0] if text.startswith("/") else ""
    return find(name) is not None or (bool(_NAME.fullmatch(name)) and not os.path.lexists(name))


def _typed(name: str) -> str:
    return unicodedata.normalize("NFKC", name).removeprefix("/").lower()


def complete(prefix: str) -> tuple[Command, ...]:
    """Completions of `prefix`, best first: by name, by alias, then by letters in order."""
    typed = _typed(prefix)
    ranks = [(rank, command) for command in all() if (rank := _rank(command, typed)) is not None]
    return tuple(command for _, command in sorted(ranks, key=lambda ranked: ranked[0]))


async def run(session: Session, line: str) -> Outcome:
    """Runs `line` (`/recall e_12…`). An unknown command or a known failure gives CommandFailed and is never raised."""
    name, rest = (*line.split(maxsplit=1), "", "")[:2]
    try:
        if _typed(name) not in _BY_NAME:
            await refresh(session)
        command = find(name)
        if command is None:
            path = await asyncio.to_thread(custom.untrusted_command, session, _typed(name)) if session else ""
            return CommandFailed(_untrusted(name, path) if path else _unknown(name))
        return await command.run(session, rest.strip())
    except PalimpsestError as error:
        return CommandFailed(error)


async def carry_out(proposal: Proposal, on_page: OnPage) -> Outcome:
    """Runs a proposal. A known failure or a cancellation gives CommandFailed and is never raised."""
    try:
        return await proposal.run(on_page)
    except PalimpsestError as error:
        return CommandFailed(error)


def _cell(text: str) -> str:
    """The text escaped for a table cell."""
    return text.replace("|", "\\|")


NEAR = 0.65  # how alike two names must be for one to be suggested: `nosuch` is no `search` (0.5)


def _unknown(name: str) -> Misuse:
    typed = _typed(name)
    by_name = {**_BY_NAME, **{command.name: command for command in _custom}}
    begun = [known for known in by_name if len(typed) > 1 and known.startswith(typed)]
    similar = begun or difflib.get_close_matches(typed, list(by_name), n=1, cutoff=NEAR)
    hint = f"Did you mean /{by_name[similar[0]].name}?" if similar else "/help lists the commands."
    hint += " A space before the slash sends it as a message."
    return Misuse("Unknown command", f"There is no command {name or '/'}.", hint)


def _untrusted(name: str, path: str) -> Misuse:
    message = f"{name} is a command of this project ({visible_line(path)}) that you have not trusted."
    return Misuse("Not trusted", message, "/commands names such files, /commands trust trusts them.")


def _rank(command: Command, typed: str) -> int | None:
    names = (command.name, *command.aliases)
    if command.name.startswith(typed):
        return 0
    if any(name.startswith(typed) and _BY_NAME[name] is command for name in (*names, *CHINESE_NAMES)):
        return 1
    return 2 if any(_is_subsequence(typed, name) for name in names) else None


def _is_subsequence(typed: str, name: str) -> bool:
    letters = iter(name)
    return not [letter for letter in typed if letter not in letters]
