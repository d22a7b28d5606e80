"""The errors of context.

ContextError            the root of this room's tree
├── RequestTooLarge            what must be sent does not fit the model's window
├── NoSuchSkill         no skill of that name
└── BadAttachment       a file that cannot be attached
"""

from foundation.errors import Misuse, PalimpsestError


class ContextError(PalimpsestError):
    """A request could not be made."""

    code = "context"


class RequestTooLarge(ContextError):
    """What must be sent does not fit the model's window."""

    code = "too_large"


class NoSuchSkill(Misuse):
    """The workspace has no skill of that name."""

    code = "no_such_skill"


class BadAttachment(ContextError):
    """A file that cannot be attached."""

    code = "attachment"
