"""The entries of a conversation in the order in which they can be written and read again: parents first."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from memory.memory import Memory
from memory.records import Conversation, Entry, EntryKind

OnTrouble = Callable[[str], None]
"""Takes a sentence about what is damaged, and could not be written out as it was."""


class ExportedEntry(Struct, frozen=True):
    """An entry with its whole text, and the id of what it answers (summaries are left out: they are made anew)."""

    entry: Entry
    text: str
    parent: str
    lost: tuple[str, ...] = ()  # ids of pages that are damaged: a mark stands in the text for what was there
    exact: bool = True  # whether it is, to the letter, what was stored


def entries_of(
    memory: Memory, conversation: Conversation, on_trouble: OnTrouble | None = None
) -> Iterator[ExportedEntry]:
    """All branches, oldest first, a bounded number in memory at a time. Archived text is read back from its pages.

    What is damaged stops nothing: `on_trouble` is told of it, and what is sound is given.
    """
    above: dict[int, str] = {}  # seq → the id of the nearest entry at or above it that is written
    for entry in memory.conversations.all_entries(conversation.seq):
        parent = above.get(entry.parent, "") if entry.parent is not None else ""
        if entry.kind is EntryKind.SUMMARY:
            above[entry.seq] = parent
            continue
        above[entry.seq] = entry.id
        standing = memory.vault.standing_text(entry)
        if on_trouble is not None:
            for trouble in standing.troubles:
                on_trouble(trouble)
        yield ExportedEntry(entry, standing.text, parent, standing.lost, standing.exact)
