"""The hot memory: MEMORY.md and memory/*.md, read, added to, and never taken from a person's hands."""

from memory.hot.errors import NoSuchNote, NoteChanged, Unwritable
from memory.hot.hot_memory import HotMemory
from memory.hot.note import Note, Problem

__all__ = ["HotMemory", "NoSuchNote", "Note", "NoteChanged", "Problem", "Unwritable"]
