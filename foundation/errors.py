"""The errors a person may meet.

    PalimpsestError                 title, message, hint; code; exit status 1
    ├── Misuse                      the caller's words are off; exit status 2
    ├── TemporaryFailure                      try again later; exit status 75
    └── one small tree a room (memory.errors, models.errors, …)

`message` says what happened and where, `hint` what to do about it.
"""

from typing import ClassVar


class PalimpsestError(Exception):
    """An error with a sentence for the user. `code` is stable, for programs."""

    code: ClassVar[str] = "failed"
    exit_status: ClassVar[int] = 1

    def __init__(self, title: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.title = title
        self.message = message
        self.hint = hint

    def as_json(self) -> dict[str, str]:
        """The `error` object of every command's `--json`."""
        return {"code": self.code, "title": self.title, "message": self.message, "hint": self.hint}


class Misuse(PalimpsestError):
    """The arguments do not fit the command: exit status 2."""

    code = "misuse"
    exit_status = 2


class TemporaryFailure(PalimpsestError):
    """It could not be finished now, but a later try may succeed: exit status 75."""

    code = "not_yet"
    exit_status = 75
