"""What is done beside an open conversation leaves SQLite's locks on the database as they are.

POSIX frees all of a process's locks on a file when it closes any descriptor of that file. The next process that leaves
would then delete the journal under this one, and what is said later would be lost.
"""

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

import pytest

from agent.services.forget import finish_pending, forget, plan
from agent.tools.port import ToolFailure
from foundation.clock import SystemClock
from foundation.files import UnsafePath, open_for_reading, read_bytes
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.backup.backup import back_up
from memory.backup.place import LocalPlace
from memory.check import check
from memory.cold.read_only import connect_read_only
from memory.cold.shrink import shrink
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.agent.tools.files.conftest import ProjectTools

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="only POSIX frees the locks of other descriptors"),
    pytest.mark.timeout(60),
]

SAID = """
import sys
from pathlib import Path
from foundation.paths import Workspace
from memory.memory import Memory
memory = Memory.open(Workspace(Path(sys.argv[1])), read_only=False)
for row in memory.conversations.recent():
    print(*(memory.passage(entry).text for entry in memory.conversations.first_entries(row.seq, 9)), sep="\\n")
memory.close()
"""


def forget_words(memory: Memory) -> None:
    forget(memory, plan(memory, named="zqbluefin"))


def delete(memory: Memory) -> None:
    other = memory.conversations.new(as_given("another"))
    say(memory, other.seq, "nothing of it")
    forget(memory, plan(memory, conversation=other.id))


def open_again(memory: Memory) -> None:
    Memory.open(memory.workspace, SystemClock()).close()


def open_read_only(memory: Memory) -> None:
    connect_read_only(memory.workspace.database).close()


def read_as_a_file(memory: Memory) -> None:
    for name in ("cold.db", "cold.db-shm"):
        with pytest.raises(UnsafePath, match="open database"):
            read_bytes(memory.workspace.state / name)


def read_by_another_name(memory: Memory) -> None:
    other = memory.workspace.root / "other.bin"
    other.hardlink_to(memory.workspace.database)
    with pytest.raises(UnsafePath, match="open database"), open_for_reading(other):
        pass
    other.unlink()


def search_beside_another_name(memory: Memory) -> None:
    other = memory.workspace.root / "other.txt"
    other.hardlink_to(memory.workspace.database)
    tools = ProjectTools(memory.workspace.root)
    tools.write("a.txt", "zqbluefin")
    assert "a.txt" in tools.call("search_files", pattern="zqbluefin")
    with pytest.raises(ToolFailure, match="open database"):
        tools.call("read_file", path="other.txt")
    other.unlink()


def back_it_up(memory: Memory) -> None:
    place = LocalPlace(memory.workspace.root.parent / "backup")
    back_up(memory.workspace, place, SystemClock(), device="desk", program="0")


ACTIONS: list[Callable[[Memory], object]] = [
    forget_words,
    delete,
    open_again,
    open_read_only,
    read_as_a_file,
    read_by_another_name,
    finish_pending,
    lambda memory: check(memory.workspace),
    lambda memory: shrink(memory.cold),
    back_it_up,
    search_beside_another_name,
]


def say(memory: Memory, conversation: int, text: str) -> None:
    draft = EntryDraft(
        conversation=conversation, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=as_given(text)
    )
    memory.conversations.append(draft)


def said_to_another_process(workspace: Workspace) -> str:
    ran = subprocess.run([sys.executable, "-c", SAID, str(workspace.root)], capture_output=True, text=True, check=True)
    return ran.stdout


def lasts(workspace: Workspace, action: Callable[[Memory], object]) -> bool:
    """Whether what is said after the action, and after another process came and went, is seen by a third one."""
    memory = Memory.open(workspace, SystemClock())
    conversation = memory.conversations.new(as_given("talk"))
    say(memory, conversation.seq, "the code is zqbluefin-7731")
    try:
        action(memory)
        said_to_another_process(workspace)
        say(memory, conversation.seq, "said afterwards")
        return "said afterwards" in said_to_another_process(workspace)
    finally:
        with suppress(Exception):  # the control loses its journal
            memory.close()


@pytest.mark.parametrize("action", ACTIONS)
def test_what_is_said_after_it_lasts(workspace: Workspace, action: Callable[[Memory], object]) -> None:
    assert lasts(workspace, action)


def test_the_control_closes_descriptors_of_its_own_and_loses_it(workspace: Workspace) -> None:
    assert not lasts(workspace, lambda memory: [path.read_bytes() for path in memory.workspace.state.glob("cold.db*")])
