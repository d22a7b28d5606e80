"""What can go wrong with a file that is to be known.

MemoryFailure
└── KnowledgeError
    ├── UnreadableDocument      it is of a kind that we read, and cannot be read; the message is the reason
    │   └── MissingReader    the library that reads it is not installed; the hint is the one command that installs it
    └── UnsupportedFile         it is of no kind that we read
"""

from foundation.install_hints import install_extra
from memory.errors import MemoryFailure


class KnowledgeError(MemoryFailure):
    """Something is wrong with a file that was to be added."""

    code = "knowledge"


class UnreadableDocument(KnowledgeError):
    """A file of a kind that we read cannot be read."""

    code = "unreadable"

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__("A file cannot be read", reason, hint)


class MissingReader(UnreadableDocument):
    """The library that reads this kind is not installed."""

    code = "missing"

    def __init__(self, library: str) -> None:
        super().__init__(f"reading it needs {library}", f"Install it with: {install_extra('knowledge')}")


class UnsupportedFile(KnowledgeError):
    """A file of a kind that is not read."""

    code = "not_read"

    def __init__(self, reason: str) -> None:
        super().__init__("Not a kind that is read", reason)
