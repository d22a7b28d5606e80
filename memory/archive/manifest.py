"""What stands beside each pack: all that the index knows of it, so that the index can be built again from packs alone.

An archiving that made no page of its own, for all it had stood on pages already, leaves a manifest and no pack.
"""

from msgspec import Struct

SUFFIX = ".manifest"


class ArchiveFact(Struct, frozen=True, kw_only=True):
    """One archive that has pages or entries here. Times are milliseconds since 1970, UTC."""

    label: str
    created_ms: int
    origin: str  # file | conversation | knowledge
    tags: tuple[str, ...] = ()
    pinned: bool = False


class PageFact(Struct, frozen=True, kw_only=True):
    """One page's row; `archive` counts in `Manifest.archives`."""

    id: str
    archive: int
    number: int
    mode: str
    cell: str  # 8x16 | 6x12
    position: int
    chars: int
    sha256: str  # of the page's text, hex
    text_tokens: int
    vision_tokens: int


class ConversationFact(Struct, frozen=True, kw_only=True):
    """A conversation that the entries belong to."""

    source: str
    id: str
    title: str
    created_ms: int
    kind: str


class EntryFact(Struct, frozen=True, kw_only=True):
    """An entry whose text stands on pages. `spans` are (start, length, page id, start on the page), in characters."""

    conversation: int  # counts in `Manifest.conversations`
    id: str
    parent: str  # its id; "" for none
    kind: str
    role: str
    speaker: str
    time_ms: int
    chars: int
    sha256: str  # of the entry's text, hex
    spans: tuple[tuple[int, int, str, int], ...]


class PackManifest(Struct, frozen=True, kw_only=True):
    """What is known of one pack. `pack` is its file's name, "" where there is none."""

    schema: int = 1
    pack: str = ""
    size: int = 0
    sha256: str = ""
    kind: str = "warm"  # warm | cold
    created_ms: int = 0
    archives: tuple[ArchiveFact, ...] = ()
    pages: tuple[PageFact, ...] = ()
    conversations: tuple[ConversationFact, ...] = ()
    entries: tuple[EntryFact, ...] = ()
