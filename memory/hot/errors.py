"""What can go wrong with the hot memory.

PalimpsestError
├── NotFound        memory.errors
│   └── NoSuchNote  no note has this id
├── NoteChanged     the person changed it since it was last read
├── UnwritableNotes      the file cannot be written, or leads out of the workspace
└── (NotUtf8)       foundation.files
"""

from foundation.errors import PalimpsestError
from memory.errors import NotFound


class NoSuchNote(NotFound):
    pass


class NoteChanged(PalimpsestError):
    code = "note_changed"


class UnwritableNotes(PalimpsestError):
    code = "unwritable"
