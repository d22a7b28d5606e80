"""Records of the importers: entries and unreadable records; and typed access to foreign JSON."""

from datetime import datetime
from typing import Any, cast

from msgspec import Struct, field

from agent.importers.skipped import Skipped
from memory.records import EntryKind
from models.messages import Role


class ImportRecord(Struct, frozen=True, kw_only=True):
    """One entry of a file, not yet cleared. `location` is its position in the file (`line 12`)."""

    location: str
    conversation: str  # its id in the file
    text: str
    id: str = ""  # "": one is derived from the entry's content
    role: Role = Role.USER
    speaker: str = ""
    time: datetime | None = None
    title: str | None = None  # of the conversation; None where the file has none
    created: datetime | None = None  # of the conversation
    source: str | None = None  # named in the line; `--source` overrides it
    kind: EntryKind = EntryKind.MESSAGE
    parent: str | None = None  # its id; "" for a root; None for the previous entry in the file
    size: int = 0  # bytes in the file, where known
    replayed_from: tuple[str, ...] = ()  # conversations whose entries the file may repeat here
    file: str = ""  # the one of several that it is in
    beside: bool = False  # it stands on no branch: a summary (EntryDraft.beside)
    meta: dict[str, Any] = field(default_factory=dict)


class ConversationLeaf(Struct, frozen=True):
    """The current leaf of a conversation, applied once all its records are read."""

    conversation: str
    id: str


class BadRecord(Struct, frozen=True):
    """A record that could not be read, or only in part (`partly_imported`)."""

    location: str
    sentence: str
    partly_imported: bool = False


ParsedRecord = ImportRecord | ConversationLeaf | BadRecord | Skipped


def as_object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_string(value: Any) -> str:
    return value if isinstance(value, str) else ""
