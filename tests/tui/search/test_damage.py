"""A damaged page is told of on the screen, as the command line tells of it, and hides nothing that is sound."""

from pathlib import Path

import pytest

from agent.services.live_search import find_rows, passage_context
from foundation.paths import Workspace
from memory.archive.packs.pack import Pack
from memory.memory import Memory
from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import talk
from tui.chat.blocks import StoredTexts
from tui.chat.history import EntryReader, items_of
from tui.widgets.transcript.items import UserItem


@pytest.fixture
def damaged(workspace: Workspace, clock: FakeClock) -> Memory:
    memory = Memory.open(workspace, clock)
    kept = memory.vault.archive_entries(talk(memory, 4)[:2], label="boiler")
    (page,) = kept.pages
    leaf = Pack(memory.vault.storage, page.pack).pages[0]
    file = Path(workspace.packs) / page.pack
    raw = bytearray(file.read_bytes())
    raw[leaf.offset + leaf.length // 2] ^= 0x55
    memory.close()
    file.write_bytes(raw)
    return Memory.open(workspace, clock)


def test_a_list_of_what_is_remembered_says_which_pages_are_damaged(damaged: Memory) -> None:
    found = find_rows(damaged, "boiler valve")
    assert len(found.rows) >= 2
    assert len(found.damaged) == 1
    assert "is damaged" in found.damaged[0]
    damaged.close()


def test_a_search_finds_what_is_sound_and_names_what_is_lost_beside_it(damaged: Memory) -> None:
    found = find_rows(damaged, "tells of the boiler")
    assert found.rows
    assert len(found.damaged) == 1
    (second,) = [row for row in found.rows if row.snippet.startswith("Entry 2")]
    assert [turn.text.startswith("[lost: Page pg_") for turn in passage_context(damaged, second).before] == [True, True]
    damaged.close()


def test_a_conversation_that_is_taken_up_shows_what_is_sound_and_marks_what_is_lost(damaged: Memory) -> None:
    conversation = damaged.cold.conversation("The boiler")
    assert conversation.leaf is not None
    entries = list(damaged.cold.path(conversation.leaf))[::-1]
    items = items_of(entries, EntryReader(damaged.passage, StoredTexts(damaged)))
    asked = [piece for piece in items if isinstance(piece, UserItem)]
    assert [piece.text.startswith("[lost: Page pg_") for piece in asked] == [True, False]
    assert asked[1].text.startswith("Entry 2 tells of the boiler")
    damaged.close()
