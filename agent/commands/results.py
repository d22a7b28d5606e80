"""What a slash command answers. A face shows it; a command never draws."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import Struct

from foundation.errors import PalimpsestError
from memory.pages.types import OnPage


class TextResult(Struct, frozen=True):
    """Something to read. `markdown` may hold foreign text: a face passes it through its sanitiser.

    `context` says that what the next request takes is no longer what it was.
    """

    markdown: str
    context: bool = False


class Choice(Struct, frozen=True):
    """One line to pick. `id` goes back as the argument of the command."""

    id: str
    label: str
    detail: str = ""


class Choices(Struct, frozen=True):
    """A list to pick from. Picking runs `f"{command} {choice.id}"`."""

    title: str
    items: tuple[Choice, ...]
    command: str


class SendMessage(Struct, frozen=True):
    """Send this as a message, with this skill: `session.send(text, skill=skill)`."""

    text: str
    skill: str = ""


class Copy(Struct, frozen=True):
    """Put this on the clipboard, to the letter."""

    text: str
    what: str


class Quit(Struct, frozen=True):
    """Leave the program."""


class SessionSwitched(Struct, frozen=True):
    """The session stands in another conversation, or speaks to another model: draw it anew."""

    said: str = ""  # one line to say about it
    prompt: str = ""  # what to put before the person, to change and send


class Cancelled(PalimpsestError):
    """The person ended it: what an `OnPage` raises."""

    code = "cancelled"

    def __init__(self, what: str) -> None:
        super().__init__("Cancelled", f"{what} was cancelled. Nothing was let go.")


class Proposal(Struct, frozen=True, kw_only=True):
    """What a command would do; nothing is done yet. `registry.carry_out` does it.

    A face with a person before it asks first, unless they said that they are `sure`.
    """

    title: str
    rows: tuple[tuple[str, str], ...] = ()  # a name, and what is to be said of it
    doing: str  # what it is called while it goes on
    pages: int = 0  # about so many; 0 where that is not known
    counts: str = "page"  # what is counted: one of them
    run: Callable[[OnPage], Awaitable[Outcome]]
    sure: bool = False


class OpenRecall(Struct, frozen=True):
    """Look into memory: what a question finds, what a reference names, or with "" what is newest."""

    query: str = ""


class OpenSearch(Struct, frozen=True):
    """Search as one types, beginning with this text. `printed` is what a face without a screen shows instead."""

    text: str
    printed: Callable[[], Awaitable[Outcome]]


class CommandFailed(Struct, frozen=True):
    """It could not be done; `error` says what, where and what to do."""

    error: PalimpsestError


Outcome = (
    TextResult
    | Choices
    | SendMessage
    | Copy
    | Quit
    | SessionSwitched
    | Proposal
    | OpenRecall
    | OpenSearch
    | CommandFailed
)
