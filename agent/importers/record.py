"""What every reader of a foreign file gives: entries, and places that could not be read.

Values of foreign JSON as the type that they should have; where they are another, the empty one of it.
"""

from datetime import datetime
from typing import Any, cast

from msgspec import Struct, field

from memory.records import EntryKind
from models.messages import Role


class ImportRecord(Struct, frozen=True, kw_only=True):
    """One entry as a file has it: not yet cleared. `place` says where it stands (`line 12`)."""

    place: str
    conversation: str  # its id in the file
    text: str
    id: str = ""  # "": one is made from what the entry says, the same each time
    role: Role = Role.USER
    speaker: str = ""
    time: datetime | None = None
    title: str | None = None  # of the conversation; None: the file says none
    created: datetime | None = None  # of the conversation
    source: str | None = None  # as the line names it; `--source` comes first
    kind: EntryKind = EntryKind.MESSAGE
    parent: str | None = None  # its id; "" begins a branch anew; None follows what stands before it in the file
    size: int = 0  # bytes that it takes in the file, where that is known
    meta: dict[str, Any] = field(default_factory=dict)


class ConversationLeaf(Struct, frozen=True):
    """Where a conversation of the file goes on from, once all its records are read."""

    conversation: str
    id: str


class BadRecord(Struct, frozen=True):
    """A place that could not be read as it stands; `kept` says that the rest of it was imported."""

    place: str
    sentence: str
    kept: bool = False


ParsedRecord = ImportRecord | ConversationLeaf | BadRecord


def as_object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_string(value: Any) -> str:
    return value if isinstance(value, str) else ""
