"""A store with texts, to be damaged."""

from collections.abc import Sequence
from pathlib import Path

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role

TEXTS = [f"The {number}. key hangs behind the blue door." for number in range(40)]


def filled(root: Path, texts: Sequence[str] = TEXTS) -> Workspace:
    """A workspace with one conversation of these texts, all in the database file itself."""
    workspace = Workspace(root)
    memory = Memory.open(workspace, SystemClock())
    try:
        conversation = memory.conversations.new(clear("Keys"))
        for text in texts:
            memory.conversations.append(
                EntryDraft(
                    conversation=conversation.seq,
                    parent=memory.conversations.at(conversation.seq).leaf,
                    kind=EntryKind.MESSAGE,
                    role=Role.USER,
                    text=clear(text),
                )
            )
        memory.cold.empty_journal()
    finally:
        memory.close()
    return workspace


def texts_of(workspace: Workspace) -> list[str]:
    """The texts of its first conversation."""
    memory = Memory.open(workspace, SystemClock())
    try:
        return [entry.text or "" for entry in memory.conversations.all_entries(1)]
    finally:
        memory.close()
