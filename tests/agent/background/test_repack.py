"""Pages that have come to rest are packed after a turn, until a turn or the closing ends the step."""

from collections.abc import Iterator

import pytest

from agent.background.jobs import RepackJob
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.archive.packs.pack import COLD
from memory.archive.rows import pages
from memory.memory import Memory
from tests.fakes import FakeClock

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


@pytest.fixture
def filled(workspace: Workspace, clock: FakeClock) -> Iterator[Memory]:
    """A frame of tiny pages, archived two days ago."""
    memory = Memory.open(workspace, clock)
    words = "".join(f"{n}: the ferry leaves at {n % 24}, {n * 7919 % 9973} aboard\n" for n in range(3500))
    memory.vault.archive_text(as_given(words), label="ferry", mode="tiny", keep_entry=False)
    assert not RepackJob(memory).due()
    clock.advance(2 * 24 * 3600)
    yield memory
    memory.close()


def kinds(memory: Memory) -> set[str]:
    return {row.kind for row in memory.cold.read(pages.pack_rows)}


def test_a_frame_at_rest_is_packed_and_no_more_is_due(filled: Memory) -> None:
    job = RepackJob(filled)
    assert job.due()
    assert not job.step(lambda: False).more
    assert COLD in kinds(filled)
    assert not job.due()
    assert filled.vault.check() == []


def test_a_turn_or_closing_ends_it_and_nothing_is_lost(filled: Memory) -> None:
    job = RepackJob(filled)
    assert job.step(lambda: True).more
    assert kinds(filled) == {"warm"}
    assert filled.vault.check() == []
    assert job.due()
