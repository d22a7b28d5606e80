"""Passages by reference and by question; a note is what its file says now."""

from collections.abc import Iterator

import pytest

from agent.services.recall import recall
from foundation.paths import Workspace
from foundation.privacy import clear
from foundation.trust import Trust
from memory.memory import Memory
from memory.search import Query, SearchResults
from tests.fakes import FakeClock


@pytest.fixture
def memory(workspace: Workspace, clock: FakeClock) -> Iterator[Memory]:
    opened = Memory.open(workspace, clock)
    yield opened
    opened.close()


def test_a_note_that_a_hand_changed_is_quoted_as_it_stands(memory: Memory) -> None:
    memory.hot.remember(clear("The boiler's service is on Tuesday"))
    assert memory.hot.notes()[0].text.endswith("Tuesday")
    path = memory.workspace.memory_md
    path.write_text(path.read_text("utf-8").replace("Tuesday", "Friday"), "utf-8")
    lines = memory.hot.notes()[0]
    (by_lines,) = recall(memory, f"MEMORY.md#L{lines.line_first}-L{lines.line_last}").hits
    (by_question,) = recall(memory, "boiler service").hits
    for hit in (by_lines, by_question):
        assert "Friday" in hit.text
        assert "Tuesday" not in hit.text
        assert hit.trust is Trust.EXACT


def test_a_note_that_goes_while_it_is_found_is_no_longer_exact(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.hot.remember(clear("The boiler's service is on Tuesday"))
    search = memory.search.query

    def searched_then_removed(query: Query) -> SearchResults:
        results = search(query)
        memory.workspace.memory_md.write_text("# Memory\n", "utf-8")
        return results

    monkeypatch.setattr(memory.search, "query", searched_then_removed)
    (hit,) = recall(memory, "boiler service").hits
    assert "Tuesday" in hit.text
    assert hit.trust is Trust.APPROXIMATE
