"""A note: one entry of the hot memory, with its address in a file that a person edits."""

import hashlib
from datetime import datetime

from msgspec import Struct

from foundation.clock import iso
from foundation.privacy import Cleared
from memory.versions.cause import Cause


class Note(Struct, frozen=True, kw_only=True):
    """One entry of MEMORY.md or of memory/*.md.

    `path` is relative to the workspace, with forward slashes. Lines count from 1; both are within the note.
    `text` is what it says, as it stands in the file, without the timestamp, the heading and the link; it lies within
    `words_first` to `words_last` (the last is one less than the first where the note has a heading alone).
    """

    id: str
    path: str
    line_first: int
    line_last: int
    words_first: int
    words_last: int
    time: datetime | None = None
    heading: str = ""
    text: str = ""
    conversation: str | None = None

    @property
    def ref(self) -> str:
        """`MEMORY.md#L3-L7`: its address, as citations carry it."""
        return f"{self.path}#L{self.line_first}-L{self.line_last}"


class HotFileProblem(Struct, frozen=True):
    """Why a file of the hot memory could not be read, as a sentence that names it. `is_no_text`: it is not UTF-8."""

    path: str
    text: str
    is_no_text: bool = False


def note_id(path: str, time: datetime | None, heading: str, first_words: str, occurrence: int) -> str:
    """`m_` and 12 hex digits, from what stays when the rest of the file is edited.

    `first_words` tells apart notes that have no time of their own; `occurrence`, from 0, those that are alike in all.
    """
    parts = (path, iso(time) if time else "", heading, "" if time else first_words, str(occurrence or ""))
    return "m_" + hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]


class HotFile(Struct, frozen=True):
    """A file of the hot memory as it was last read. `notes` is their number."""

    path: str
    text: str
    notes: int
    problem: HotFileProblem | None = None


class TextChange(Struct, frozen=True):
    """A new text of the file `name`, made from `base`, and who made it."""

    name: str
    base: str
    text: Cleared
    cause: Cause
