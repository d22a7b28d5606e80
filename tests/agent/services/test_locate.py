"""Where an entry stands: on the branch that goes on, far up in it, or beside it."""

from collections.abc import Iterator

import pytest

from agent.services.locate import locate_entry
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.errors import NotFound
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role


@pytest.fixture
def memory(workspace: Workspace) -> Iterator[Memory]:
    opened = Memory.open(workspace, SystemClock())
    yield opened
    opened.close()


def chain(memory: Memory, conversation: int, count: int, parent: int | None = None) -> list[int]:
    """So many messages, each answering the one before; gives their seqs."""
    seqs: list[int] = []
    for number in range(count):
        draft = EntryDraft(
            conversation=conversation, parent=parent, kind=EntryKind.MESSAGE, role=Role.USER, text=clear(f"n {number}")
        )
        parent = memory.cold.append(draft).seq
        seqs.append(parent)
    return seqs


def test_what_follows_is_the_branch_down_to_its_leaf(memory: Memory) -> None:
    conversation = memory.cold.new_conversation(clear("Talk")).seq
    seqs = chain(memory, conversation, 300)
    for at in (0, 1, 171, 172, 298, 299):
        found = locate_entry(memory, seqs[at])
        assert found.entry.seq == seqs[at]
        assert list(found.below) == seqs[at + 1 :]
        assert not found.off_branch


def test_an_entry_on_another_branch_stands_aside_with_its_own_answers(memory: Memory) -> None:
    conversation = memory.cold.new_conversation(clear("Talk")).seq
    trunk = chain(memory, conversation, 10)
    old = chain(memory, conversation, 5, trunk[3])
    new = chain(memory, conversation, 7, trunk[3])
    found = locate_entry(memory, old[1])
    assert found.off_branch
    assert list(found.below) == old[2:]
    assert list(locate_entry(memory, trunk[2]).below) == [trunk[3], *new]
    assert locate_entry(memory, trunk[5]).off_branch


def test_an_entry_that_is_gone_is_not_found(memory: Memory) -> None:
    with pytest.raises(NotFound):
        locate_entry(memory, 12345)
