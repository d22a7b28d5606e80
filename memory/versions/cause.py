"""Who changes a file, and why."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum

from msgspec import Struct


class Author(StrEnum):
    """Who wrote a version."""

    USER = "user"
    """A person, in an editor or by a command."""
    PROGRAM = "program"
    """This program, for nobody's command: a migration, a merge."""
    MODEL = "model"
    SYNC = "sync"


class Cause(Struct, frozen=True):
    """An author, and the command or tool and the conversation, as a few words; "" where nobody knows."""

    author: Author
    reason: str = ""


BY_HAND = Cause(Author.USER, "by hand")
FOUND = Cause(Author.USER, "found when versions were first saved")
FOUND_AFTER_LOSS = Cause(Author.USER, "found after versions were lost")

_UNNAMED = Cause(Author.PROGRAM)
_cause: ContextVar[Cause] = ContextVar("cause", default=_UNNAMED)


def current_cause() -> Cause:
    """For what this task, or this thread of it, changes files now."""
    return _cause.get()


@contextmanager
def caused_by(author: Author, reason: str = "") -> Generator[None]:
    """What is written to files within is the doing of this author."""
    token = _cause.set(Cause(author, reason))
    try:
        yield
    finally:
        _cause.reset(token)
