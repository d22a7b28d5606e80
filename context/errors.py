"""Errors of the package.

ContextError            root of the package's errors
├── RequestTooLarge     the mandatory parts do not fit the model's window
├── UselessCompaction   a compaction that would not make the request smaller
├── AuditFailed         something would be lost by a compaction (context.compaction.audit)
└── BadAttachment       a file that cannot be attached
NoSuchSkill (Misuse)    no skill of that name
"""

from foundation.errors import Misuse, PalimpsestError

HEAD_TOO_LARGE = "the project's files became too large for their share"
NO_ROOM = "the message needed the space of pages or of the observation index"
"""Reasons of an epoch that is begun so that a request fits."""


class ContextError(PalimpsestError):
    """A request could not be assembled."""

    code = "context"


class RequestTooLarge(ContextError):
    """The mandatory parts of a request do not fit the model's window."""

    code = "too_large"


class UselessCompaction(ContextError):
    """A compaction after which the request would be no smaller. Nothing left."""

    code = "useless_compaction"


class NoSuchSkill(Misuse):
    """No skill of that name in the workspace."""

    code = "no_such_skill"


class BadAttachment(ContextError):
    """A file that cannot be attached."""

    code = "attachment"
