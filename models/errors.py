"""What can go wrong with a model, outside of a stream (inside one it is a `AnswerError`).

PalimpsestError
└── ModelError                  a model could not be asked; `failed` says it in the port's words
    └── MissingLibrary          a library is not installed; the hint is the one command that installs it
"""

from typing import TYPE_CHECKING

from foundation.errors import PalimpsestError

if TYPE_CHECKING:
    from models.chat.port import AnswerError


class ModelError(PalimpsestError):
    """A request to a model failed."""

    code = "model"

    @classmethod
    def of(cls, failed: "AnswerError") -> "ModelError":
        """The same three sentences, as an error."""
        return cls(failed.title, failed.message, failed.hint)


class MissingLibrary(ModelError):
    """A library is not installed."""

    code = "missing"


class UnreadableImage(ModelError):
    """The file to be read is no picture."""

    code = "unreadable_image"
