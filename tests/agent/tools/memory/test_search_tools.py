"""Searching memory by the model, with filters, and the timeline around a moment."""

import json
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from agent.tools.memory.search import _NAMED, MemorySearch  # pyright: ignore[reportPrivateUsage]  # the definition names each filter
from agent.tools.port import ToolFailure, ToolRun
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role

RUN = ToolRun("e_test", threading.Event())
SAID = (
    (datetime(2026, 3, 1, 9, tzinfo=UTC), "Ann", "The boiler hums in the cellar."),
    (datetime(2026, 3, 3, 9, tzinfo=UTC), "Ben", "The boiler was repaired by Otto."),
    (datetime(2026, 3, 3, 18, tzinfo=UTC), "Ann", "锅炉 costs 300 euros."),
    (datetime(2026, 6, 1, 9, tzinfo=UTC), "Ben", "The boiler leaks again."),
)


@pytest.fixture
def memory(workspace: Workspace) -> Iterator[Memory]:
    opened = Memory.open(workspace, SystemClock())
    conversation, parent = opened.conversations.new(clear("House")), None
    for time, who, text in SAID:
        draft = EntryDraft(
            conversation=conversation.seq,
            parent=parent,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            speaker=clear(who),
            text=clear(text),
            time=time,
        )
        parent = opened.conversations.append(draft).seq
    yield opened
    opened.close()


def texts(memory: Memory, **arguments: Any) -> set[str]:
    """The texts of the passages that the search gives."""
    found = MemorySearch(memory, frozenset).run(arguments, RUN)
    return {passage["text"] for passage in json.loads(found)["passages"]} if found.startswith("{") else set()


@pytest.mark.parametrize(
    ("filters", "which"),
    [
        ({}, {0, 1, 3}),
        ({"speaker": "ben"}, {1, 3}),
        ({"after": "2026-03-02", "before": "2026-03-31"}, {1}),
        ({"before": "2026-03-01"}, {0}),
        ({"conversation": "house", "role": "user", "newest": True}, {0, 1, 3}),
        ({"kind": ["tool_result"]}, set()),
        ({"kind": "note"}, set()),
    ],
)
def test_filters_narrow_the_search(memory: Memory, filters: dict[str, Any], which: set[int]) -> None:
    assert texts(memory, query="boiler", **filters) == {SAID[number][2] for number in which}


def test_filters_alone_list_what_passes_them(memory: Memory) -> None:
    assert texts(memory, speaker="Ann") == {SAID[0][2], SAID[2][2]}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "query"),
        ({"query": "x", "kind": "sonnet"}, "“kind”"),
        ({"query": "x", "after": "2026-05-01", "before": "2026-04-01"}, "2026-05-01 to 2026-04-01"),
        ({"query": "x", "after": "soonish"}, "soonish"),
    ],
)
def test_a_wrong_filter_is_named(memory: Memory, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ToolFailure) as failure:
        MemorySearch(memory, frozenset).action(arguments)
    assert words in failure.value.message
    assert "--" not in failure.value.message


def timeline(memory: Memory, **arguments: Any) -> dict[str, Any]:
    tool = MemorySearch(memory, frozenset)
    assert tool.action(arguments).summary.startswith("what happened around ")
    return json.loads(tool.run(arguments, RUN))


def test_the_best_match_needs_words(memory: Memory) -> None:
    with pytest.raises(ToolFailure, match="query"):
        MemorySearch(memory, frozenset).action({"around": "best"})


def test_filters_do_what_arguments_of_their_names_do(memory: Memory) -> None:
    tool = MemorySearch(memory, frozenset)
    for arguments, filters in [
        ({"after": "2026-03-02", "role": "user"}, ["after=2026-03-02", "role = user"]),
        ({"kind": "note,message", "newest": True}, ["kind=note", "kind=message", "newest=true"]),
    ]:
        listed, named = (tool.run({"query": "Otto", **given}, RUN) for given in ({"filters": filters}, arguments))
        assert listed == named


@pytest.mark.parametrize("filters", [["colour=red"], ["speaker"], ["speaker="], "speaker"])
def test_a_filter_that_is_none_is_corrected(memory: Memory, filters: object) -> None:
    with pytest.raises(ToolFailure, match="speaker, type") as failure:
        MemorySearch(memory, frozenset).action({"query": "x", "filters": filters})
    assert "Valid: " in failure.value.message


def test_every_filter_is_named_to_the_model() -> None:
    words = MemorySearch.definition.parameters["properties"]["filters"]["description"]
    assert all(name in re.findall(r"\w+", words) for name in _NAMED)


def test_a_timeline_has_its_entries_in_order_and_the_counts_of_days(memory: Memory) -> None:
    found = timeline(memory, around="2026-03-03", entries=2)
    assert found["days"] == {"2026-03-01": 1, "2026-03-03": 2}
    assert [passage["text"] for passage in found["passages"]][:3] == [text for _, _, text in SAID[:3]]


def test_a_timeline_is_around_an_entry_or_the_best_match(memory: Memory) -> None:
    by_words = timeline(memory, around="best", query="Otto repaired", entries=1)
    assert by_words["at"] in {passage["ref"] for passage in by_words["passages"]}
    by_reference = timeline(memory, around=by_words["at"], entries=1)
    assert by_reference["passages"] == by_words["passages"]
    assert len(by_words["passages"]) == 3
