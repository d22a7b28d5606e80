"""Errors of the package.

ContextError            root of the package's errors
├── RequestTooLarge     the mandatory parts do not fit the model's window
└── BadAttachment       a file that cannot be attached
NoSuchSkill (Misuse)    no skill of that name
"""

from foundation.errors import Misuse, PalimpsestError


class ContextError(PalimpsestError):
    """A request could not be assembled."""

    code = "context"


class RequestTooLarge(ContextError):
    """The mandatory parts of a request do not fit the model's window."""

    code = "too_large"


class NoSuchSkill(Misuse):
    """No skill of that name in the workspace."""

    code = "no_such_skill"


class BadAttachment(ContextError):
    """A file that cannot be attached."""

    code = "attachment"
