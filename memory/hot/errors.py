"""What can go wrong with the hot memory.

PalimpsestError
├── NoSuchNote      no note has this id
├── NoteChanged     the person changed it since it was last read
├── UnwritableNotes      the file cannot be written, or leads out of the workspace
└── (NotUtf8)       foundation.files
"""

from foundation.errors import PalimpsestError


class NoSuchNote(PalimpsestError):
    code = "not_found"


class NoteChanged(PalimpsestError):
    code = "note_changed"


class UnwritableNotes(PalimpsestError):
    code = "unwritable"
