"""A workspace with one long conversation."""

import random
from collections.abc import Iterator
from pathlib import Path

from agent.config.workspaces import prepare_workspace
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import Cleared
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role

FIRST, LAST = "the very first entry", "the very last entry"
_BATCH = 5_000
_WORDS = ("harbour", "boiler", "Hansen", "in May", "reads", "`zones`", "**twice**", "记忆", "page", "answer", "before")


def write_conversation(folder: Path, entries: int, environment: dict[str, str]) -> None:
    """Writes a workspace whose only conversation has so many entries: paragraphs, lists and code."""
    workspace = Workspace(folder)
    prepare_workspace(workspace, environment)
    memory = Memory.open(workspace, SystemClock(), read_only=False)
    conversation = memory.conversations.new(Cleared("The long one"))
    batch: list[EntryDraft] = []
    for draft in _drafts(conversation.seq, entries):
        batch.append(draft)
        if len(batch) == _BATCH:
            memory.conversations.append_many(batch)
            batch = []
    memory.conversations.append_many(batch)
    memory.close()


def _drafts(conversation: int, entries: int) -> Iterator[EntryDraft]:
    dice = random.Random(7)
    for number in range(entries):
        text = " ".join(dice.choices(_WORDS, k=dice.randint(8, 60)))
        if number % 7 == 1:
            text += "\n\n- one\n- two\n\n```python\nprint('three')\n```"
        name = {0: f"{FIRST}. ", entries - 1: f"{LAST}. "}.get(number, "")
        yield EntryDraft(
            conversation=conversation,
            parent=None,
            parent_id=f"i{number - 1}" if number else "",
            id=f"i{number}",
            kind=EntryKind.MESSAGE,
            role=Role.ASSISTANT if number % 2 else Role.USER,
            text=Cleared(name + text),
        )
