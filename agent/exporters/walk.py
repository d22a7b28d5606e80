"""Iteration over a conversation's entries for export, parents first."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from memory.memory import Memory
from memory.records import Conversation, Entry, EntryKind

OnTrouble = Callable[[str], None]
"""Called with a sentence about damage that could not be exported as stored."""


class ExportedEntry(Struct, frozen=True):
    """An entry with its whole text and its parent's id; summaries are skipped, because an import makes new ones."""

    entry: Entry
    text: str
    parent: str
    lost: tuple[str, ...] = ()  # ids of damaged pages, which a mark in the text replaces
    exact: bool = True  # whether the text is exactly as stored


def entries_of(
    memory: Memory, conversation: Conversation, on_trouble: OnTrouble | None = None
) -> Iterator[ExportedEntry]:
    """All branches, oldest first, a bounded number in memory at a time. Archived text is read back from its pages.

    Damage is reported to `on_trouble`, and the sound part is given.
    """
    written: dict[int, str] = {}  # seq → the id of the nearest exported entry at or above it
    for entry in memory.conversations.all_entries(conversation.seq):
        parent = written.get(entry.parent, "") if entry.parent is not None else ""
        if entry.kind is EntryKind.SUMMARY:
            written[entry.seq] = parent
            continue
        written[entry.seq] = entry.id
        text = memory.vault.standing_text(entry)
        if on_trouble is not None:
            for trouble in text.troubles:
                on_trouble(trouble)
        yield ExportedEntry(entry, text.text, parent, text.lost, text.exact)
