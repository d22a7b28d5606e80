"""The hot memory: MEMORY.md and memory/*.md, read, added to, and never taken from a person's hands."""

from memory.errors import NoSuchNote, NoteChanged, UnwritableNotes
from memory.hot.hot_memory import HotMemory
from memory.hot.note import HotFileProblem, Note

__all__ = ["HotFileProblem", "HotMemory", "NoSuchNote", "Note", "NoteChanged", "UnwritableNotes"]
