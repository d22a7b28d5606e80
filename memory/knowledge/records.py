"""The record of an added file: one memory."""

from datetime import datetime

from msgspec import Struct

from memory.knowledge.importance.score import DEFAULT_IMPORTANCE


class KnowledgeRecord(Struct, frozen=True, kw_only=True):
    """One version of one file. `chars` counts its text; `conversation` is the seq of the conversation that holds its
    pages."""

    seq: int = 0
    id: str  # 'k_…'
    source: str  # absolute path
    name: str  # below the folder that was named, that folder's own name first
    root: str = ""  # that folder; "" where the file itself was named
    kind: str
    category: str
    bytes: int
    mtime_ns: int
    sha256: str  # of the file's bytes, hex
    text_sha256: str  # of the text that was kept, hex
    chars: int
    added: datetime
    importance: float = DEFAULT_IMPORTANCE
    accesses: int = 0
    accessed: datetime | None = None
    conversation: int = 0
    missing: datetime | None = None  # when the file was found to be missing
    replaced: datetime | None = None  # when a newer version took its place


class DocumentView(Struct, frozen=True):
    """A view of a file for a vision model: a stored picture, or the page that holds the text."""

    number: int
    start: int  # characters within the file's text
    length: int
    picture: str  # a file's name; "" for a page
    mode: str
