"""The definition of a slash command."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.commands.results import Outcome

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session


_LONGEST_USAGE: Final = 24  # characters, so that the summaries fit at 80 columns


class Command(Struct, frozen=True, kw_only=True):
    """One slash command. `usage` are its arguments (`[ID]`, `TEXT`); `keys` documents the keys of its screen.

    `beside_turns`: it changes nothing that a running turn reads, so that it need not wait for the end of an answer.
    """

    name: str  # without the slash
    summary: str
    usage: str = ""
    aliases: tuple[str, ...] = ()
    keys: str = ""
    beside_turns: bool = False
    run: Callable[[Session, str], Awaitable[Outcome]]

    @property
    def signature(self) -> str:
        """The command with its arguments: `/resume [ID]`."""
        return f"/{self.name} {self.usage}".rstrip()

    @property
    def short_signature(self) -> str:
        """The signature in a list, `/permissions […]` where it is long; `/help NAME` shows it whole."""
        return self.signature if len(self.usage) <= _LONGEST_USAGE else f"/{self.name} […]"
