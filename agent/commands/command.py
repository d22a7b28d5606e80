"""The definition of a slash command."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.commands.results import Outcome

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session


class Command(Struct, frozen=True, kw_only=True):
    """One slash command. `usage` are its arguments (`[ID]`, `TEXT`); `keys` documents the keys of its screen."""

    name: str  # without the slash
    summary: str
    usage: str = ""
    aliases: tuple[str, ...] = ()
    keys: str = ""
    run: Callable[[Session, str], Awaitable[Outcome]]

    @property
    def signature(self) -> str:
        """The command with its arguments: `/resume [ID]`."""
        return f"/{self.name} {self.usage}".rstrip()
