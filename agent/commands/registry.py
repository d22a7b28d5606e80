"""The one list of slash commands: what `/help` shows, the prompt completes, headless runs and the documents print."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from agent.commands import conversation, knowledge, memory, program
from agent.commands.command import Command
from agent.commands.results import CommandFailed, Outcome, Proposal, TextResult
from foundation.errors import Misuse, PalimpsestError
from memory.pages.types import OnPage

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session


async def _help(_session: Session, about: str) -> Outcome:
    if about:
        found = find(about)
        if found is None:
            raise Misuse("Unknown command", f"There is no command {about}.", "/help lists the commands.")
        return TextResult(f"`{found.shown}` — {found.summary}" + (f"\n\n{found.keys}" if found.keys else ""))
    lines = [f"| `{_cell(_listed(command))}` | {_cell(command.summary)} |" for command in _COMMANDS]
    return TextResult("\n".join(["| command | what it does |", "|---|---|", *lines]))


def _listed(command: Command) -> str:
    """The command as the list has it: `/help NAME` shows a long usage whole."""
    return command.shown if len(command.usage) <= _LONGEST_USAGE else f"/{command.name} […]"


_LONGEST_USAGE = 24  # characters: so that at 80 columns the summaries have their room

_COMMANDS: tuple[Command, ...] = (
    Command(
        name="help", summary="List the commands, or say what one does.", usage="[COMMAND]", aliases=("?",), run=_help
    ),
    *conversation.COMMANDS,
    *memory.COMMANDS,
    *knowledge.COMMANDS,
    *program.COMMANDS,
)
_BY_NAME = {name: command for command in _COMMANDS for name in (command.name, *command.aliases)}


def all() -> tuple[Command, ...]:  # noqa: A001 - `registry.all()` is the face that screens read
    """Every command, in the order in which help shows them."""
    return _COMMANDS


def find(name: str) -> Command | None:
    """The command of this name or alias, with or without its slash."""
    return _BY_NAME.get(name.removeprefix("/").lower())


def complete(prefix: str) -> tuple[Command, ...]:
    """Commands that `prefix` may become, best first: the name's beginning, an alias's, then letters in order."""
    typed = prefix.removeprefix("/").lower()
    ranks = [(rank, command) for command in _COMMANDS if (rank := _rank(command, typed)) is not None]
    return tuple(command for _, command in sorted(ranks, key=lambda ranked: ranked[0]))


async def run(session: Session, line: str) -> Outcome:
    """Runs `line` (`/recall e_12…`). An unknown command or a known failure comes back as CommandFailed, never
    raised."""
    name, _, rest = line.strip().partition(" ")
    command = find(name)
    if command is None:
        return CommandFailed(_unknown(name))
    try:
        return await command.run(session, rest.strip())
    except PalimpsestError as error:
        return CommandFailed(error)


async def carry_out(proposal: Proposal, on_page: OnPage) -> Outcome:
    """Does what was proposed. A known failure, and its cancelling, comes back as CommandFailed, never raised."""
    try:
        return await proposal.run(on_page)
    except PalimpsestError as error:
        return CommandFailed(error)


def _cell(text: str) -> str:
    """Text as it stands in a cell of a table."""
    return text.replace("|", "\\|")


def _unknown(name: str) -> Misuse:
    typed = name.removeprefix("/").lower()
    near = difflib.get_close_matches(typed, list(_BY_NAME), n=1, cutoff=0.5)
    hint = f"Did you mean /{_BY_NAME[near[0]].name}?" if near else "/help lists the commands."
    return Misuse("Unknown command", f"There is no command {name or '/'}.", hint)


def _rank(command: Command, typed: str) -> int | None:
    names = (command.name, *command.aliases)
    if command.name.startswith(typed):
        return 0
    if any(name.startswith(typed) for name in names):
        return 1
    return 2 if any(_in_order(typed, name) for name in names) else None


def _in_order(typed: str, name: str) -> bool:
    letters = iter(name)
    return not [letter for letter in typed if letter not in letters]
