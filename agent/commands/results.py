"""Results of slash commands. A face shows them; a command never draws."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from foundation.errors import PalimpsestError

if TYPE_CHECKING:  # the list of commands must not load memory
    from memory.pages.types import OnPage


class TextResult(Struct, frozen=True):
    """A text to show. `markdown` may contain foreign text: a face sanitises it.

    `changes_context`: the command changed what the next request contains. `failed`: it did nothing of what it was to
    do. `counts` are for programs.
    """

    markdown: str
    changes_context: bool = False
    failed: bool = False
    counts: Mapping[str, int] | None = None


class Choice(Struct, frozen=True):
    """One item of a list. `id` becomes the argument of the command."""

    id: str
    label: str
    detail: str = ""


class Choices(Struct, frozen=True):
    """A list to pick from. Picking runs `f"{command} {choice.id}"`; `takes_text`: so does what is typed and matches
    nothing. `notes` are lines below the list."""

    title: str
    items: tuple[Choice, ...]
    command: str
    notes: tuple[str, ...] = ()
    takes_text: bool = False


class SendMessage(Struct, frozen=True):
    """A message to send, with a skill: `session.send(text, skill=skill)`. `again`: it is the last one, to be answered
    again; `notice` says so."""

    text: str
    skill: str = ""
    again: bool = False
    notice: str = ""


class Copy(Struct, frozen=True):
    """A text for the clipboard."""

    text: str
    description: str


class Quit(Struct, frozen=True):
    """Quits the program."""


class SessionSwitched(Struct, frozen=True):
    """The session changed its conversation, its branch or its model: the face redraws it."""

    notice: str = ""  # a line to show
    prompt: str = ""  # a text to put into the prompt
    branch: bool = False  # the same conversation, on another branch
    drops: bool = False  # a turn left it, and can be taken back


class Cancelled(PalimpsestError):
    """The user cancelled the work. Raised by an `OnPage`."""

    code = "cancelled"

    def __init__(self, what: str) -> None:
        super().__init__("Cancelled", f"{what} was cancelled. Nothing was changed.")


class Suspended(Cancelled):
    """The user stopped work that is not taken back: what is left of it is done later."""

    def __init__(self, sentence: str) -> None:
        super().__init__("")
        self.title, self.message = "Stopped", sentence


class Proposal(Struct, frozen=True, kw_only=True):
    """The preview of a command that has not run yet. `registry.carry_out` runs it.

    A face asks the user first, unless it is `confirmed`. One that cannot ask runs it, unless it `must_be_confirmed`.
    """

    title: str
    rows: tuple[tuple[str, str], ...] = ()  # name, sentence
    activity: str  # the status text while it runs
    pages: int = 0  # the approximate number of units; 0 where it is unknown
    unit: str = "page"  # the singular of what is counted
    run: Callable[[OnPage], Awaitable[Outcome]]
    confirmed: bool = False
    must_be_confirmed: bool = False
    takes_enter: bool = True  # as a yes; not where nothing takes it back, as Enter may be pressed once too often


class OpenSearch(Struct, frozen=True):
    """Opens the search screen with this text; "" lists the newest entries. `printed` gives the result for a face
    without a screen. `whole`: a text that is a reference opens its passage at once."""

    text: str
    printed: Callable[[], Awaitable[Outcome]]
    whole: bool = False


class OpenPicker(Struct, frozen=True, kw_only=True):
    """Opens the picker with the conversations, or with the turns of the open one. `query` narrows the list; with
    `rewrites` a turn is picked to rewrite its message. `printed` gives the list for a face without a screen."""

    level: Literal["conversations", "turns"]
    query: str = ""
    rewrites: bool = False
    printed: Callable[[], Awaitable[Outcome]]


class OpenNamedScreen(Struct, frozen=True):
    """Opens one of the screens about the program. `text` is what was typed behind the command; `printed` gives the
    result for a face without a screen."""

    screen: Literal[
        "theme",
        "settings",
        "keys",
        "context",
        "memory",
        "statistics",
        "archive",
        "clean",
        "models",
        "permissions",
        "mcp",
        "changes",
    ]
    text: str
    printed: Callable[[], Awaitable[Outcome]]


class ShowEntry(Struct, frozen=True):
    """Shows an entry (its seq) of the open conversation in the transcript."""

    entry: int
    notice: str = ""


class CommandFailed(Struct, frozen=True):
    """The command failed with this error."""

    error: PalimpsestError


Outcome = (
    TextResult
    | Choices
    | SendMessage
    | Copy
    | Quit
    | SessionSwitched
    | Proposal
    | OpenSearch
    | OpenPicker
    | OpenNamedScreen
    | ShowEntry
    | CommandFailed
)
