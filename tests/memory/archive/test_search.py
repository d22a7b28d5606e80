"""Text that is in pixels alone is found all the same, and comes back to the letter."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from foundation.paths import Workspace
from foundation.privacy import as_given
from foundation.trust import Trust
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.search import Query
from models.messages import Role
from tests.fakes import FakeClock
from tests.paths import ROOT

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

FILLER = "The weather was mild and nobody said much about it.\n" * 400
NEEDLE = "The boiler's serial number is QX-4417-ZT.\n"


@pytest.fixture
def memory(workspace: Workspace, clock: FakeClock) -> Iterator[Memory]:
    with closing(Memory.open(workspace, clock)) as memory:
        yield memory


def test_a_sentence_of_an_archived_file_is_found_and_exact(memory: Memory) -> None:
    memory.vault.archive_text(as_given(FILLER + NEEDLE + FILLER), label="house")
    hit = memory.search.query(Query(text="boiler serial number")).hits[0]
    passage = memory.passage(memory.cold.entry(hit.entry))
    assert NEEDLE in passage.text
    assert passage.trust is Trust.EXACT
    assert "QX-4417-ZT" in memory.recall(passage.pages[0])[0].text


def test_an_entry_is_found_as_before_once_its_text_is_in_pixels(memory: Memory) -> None:
    conversation = memory.cold.new_conversation()
    entry = memory.cold.append(
        EntryDraft(
            conversation=conversation.seq,
            parent=None,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=as_given(NEEDLE),
        )
    )
    before = memory.search.query(Query(text="boiler serial number")).hits[0]
    memory.vault.archive_entries([entry], label="overflow")
    after = memory.search.query(Query(text="boiler serial number")).hits[0]
    assert (after.entry, after.id) == (before.entry, before.id)
    assert memory.recall(entry.id)[0].text == NEEDLE
    assert memory.recall(entry.id)[0].trust is Trust.EXACT


ARCHIVE_ALL = """
import sys
from pathlib import Path
from foundation.paths import Workspace
from memory.errors import OutOfDate
from memory.memory import Memory
memory = Memory.open(Workspace(Path(sys.argv[1])))
leaf = memory.cold.latest().leaf
entries = [entry for entry in list(memory.cold.path(leaf))[::-1]]
print("ready", flush=True)
sys.stdin.readline()
try:
    print("archived" if memory.vault.archive_entries(entries, label="overflow").pages else "nothing")
except OutOfDate:
    print("out of date")
memory.close()
"""


def test_of_two_processes_that_archive_the_same_entries_one_does(memory: Memory, workspace: Workspace) -> None:
    conversation = memory.cold.new_conversation()
    parent = None
    for n in range(6):
        draft = EntryDraft(
            conversation=conversation.seq,
            parent=parent,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=as_given(f"{n} {FILLER}"),
        )
        parent = memory.cold.append(draft).seq
    both = [
        subprocess.Popen(
            [sys.executable, "-c", ARCHIVE_ALL, str(workspace.root)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for one in both:
        assert one.stdout.readline() == "ready\n"
    for one in both:
        one.stdin.write("go\n")
        one.stdin.flush()
    assert sorted(one.communicate()[0].strip() for one in both) == ["archived", "out of date"]
    assert [memory.passage(entry).text for entry in memory.cold.path(parent)][::-1] == [
        f"{n} {FILLER}" for n in range(6)
    ]
    assert len(memory.vault.archives()) == 1
    assert memory.cold.check() == []
