"""What a slash command answers. A face shows it; a command never draws."""

from msgspec import Struct

from foundation.errors import PalimpsestError


class Said(Struct, frozen=True):
    """Something to read. `markdown` may hold foreign text: a face passes it through its sanitiser."""

    markdown: str


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


class Send(Struct, frozen=True):
    """Send this as a message, with this skill: `session.send(text, skill=skill)`."""

    text: str
    skill: str = ""


class Copy(Struct, frozen=True):
    """Put this on the clipboard, to the letter."""

    text: str
    what: str


class Quit(Struct, frozen=True):
    """Leave the program."""


class Switched(Struct, frozen=True):
    """The session stands in another conversation, or speaks to another model: draw it anew."""

    said: str = ""  # one line to say about it
    prompt: str = ""  # what to put before the person, to change and send


class Failed(Struct, frozen=True):
    """It could not be done; `error` says what, where and what to do."""

    error: PalimpsestError


Outcome = Said | Choices | Send | Copy | Quit | Switched | Failed
