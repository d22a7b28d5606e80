"""A memory to forget in, and what is said to it."""

from collections.abc import Iterator

import pytest

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.memory import Memory
from memory.records import Entry, EntryDraft, EntryKind
from models.messages import Role


@pytest.fixture
def memory(workspace: Workspace) -> Iterator[Memory]:
    opened = Memory.open(workspace, SystemClock())
    yield opened
    opened.close()


def say(memory: Memory, conversation: int, text: str, **more: object) -> Entry:
    """Appends a message of the user's after the newest entry; `more` are other fields of the draft."""
    fields = {"parent": memory.conversations.at(conversation).leaf, "kind": EntryKind.MESSAGE, "role": Role.USER}
    return memory.conversations.append(EntryDraft(conversation=conversation, text=clear(text), **(fields | more)))
