"""Errors of adding and reading files.

MemoryFailure
└── KnowledgeError
    ├── UnreadableDocument      the kind is supported, but this file cannot be read; the message says why
    │   └── MissingReader    the library for this kind is not installed; the hint is the command that installs it
    └── UnsupportedFile         the kind is not supported
"""

from foundation.install_hints import install_extra
from memory.errors import MemoryFailure


class KnowledgeError(MemoryFailure):
    """A file could not be added."""

    code = "knowledge"


class UnreadableDocument(KnowledgeError):
    """The kind of file is supported, but this file cannot be read."""

    code = "unreadable"

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__("A file cannot be read", reason, hint)


class MissingReader(UnreadableDocument):
    """The library that reads this kind of file is not installed."""

    code = "missing"

    def __init__(self, library: str) -> None:
        super().__init__(f"reading it needs {library}", f"Install it with: {install_extra('knowledge')}")


class UnsupportedFile(KnowledgeError):
    """The kind of file is not supported."""

    code = "not_read"

    def __init__(self, reason: str) -> None:
        super().__init__("Unsupported file type", reason)
