"""Blocks of text for pages: an entry under a head line, a file without one."""

from msgspec import Struct

from memory.pages.render.entry_heads import EntryHead


class LayoutText(Struct, frozen=True):
    """A text that is laid on pages as one. `key` is what the caller knows it by: an entry's seq.

    A stretch with a head begins a line, and so does each page on which it goes on. Without heads the pages' texts
    joined are the stretches' texts joined, to the byte.
    """

    text: str
    head: EntryHead | None = None
    key: int = 0
