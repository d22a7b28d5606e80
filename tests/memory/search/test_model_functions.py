"""The functions for models: what each asks, and that what it is given is judged in sentences."""

import msgspec
import pytest

from foundation.errors import Misuse
from memory.memory import Memory
from memory.records import EntryKind
from memory.search import SearchResults
from memory.search.model_functions import SEARCH_FUNCTIONS, call
from models.messages import Role
from tests.memory.search.conversation import Talk

_DECISION = ["We chose the heat pump over the boiler, see plans/house.md."]


@pytest.fixture
def store(talk: Talk) -> Memory:
    for day, (name, text) in enumerate([("a", "the boiler hums"), ("b", "the boiler broke"), ("a", "we paid $300")], 1):
        talk.say(text, to=name, day=f"2026-03-0{day}")
    talk.say("a new boiler it is", to="b", day="2026-03-04", role=Role.ASSISTANT)
    marked = {"type": "decision", "concepts": ["trade-off"], "files": ["plans/house.md"]}
    talk.say(*_DECISION, to="b", day="2026-03-05", role=Role.ASSISTANT, kind=EntryKind.OBSERVATION, meta=marked)
    return talk.memory


def found(store: Memory, name: str, **told: object) -> list[str]:
    results = call(store.search, name, told)
    assert isinstance(results, SearchResults)
    return [hit.snippet for hit in results.hits]


def test_observations(store: Memory) -> None:
    assert found(store, "observations", query="boiler") == _DECISION
    assert found(store, "observations") == _DECISION


def test_by_concept_file_and_type(store: Memory) -> None:
    assert found(store, "by_concept", concept="trade-off") == _DECISION
    assert found(store, "by_file", file="house.md", query="boiler") == _DECISION
    assert found(store, "by_type", type="decision") == _DECISION
    assert found(store, "by_type", type="bugfix") == []


def test_prompts_and_conversations(store: Memory) -> None:
    assert sorted(found(store, "prompts", query="boiler")) == ["the boiler broke", "the boiler hums"]
    results = call(store.search, "conversations", {"query": "boiler"})
    assert isinstance(results, SearchResults)
    assert sorted(hit.conversation for hit in results.hits) == ["a", "b"]


def test_recent_is_a_conversation_after_the_other_each_in_order_of_time(store: Memory) -> None:
    assert found(store, "recent", k=6) == ["a new boiler it is", *_DECISION, "the boiler hums", "we paid $300"]
    assert found(store, "recent", query="$300 paid") == ["we paid $300"]


def test_recent_leaves_out_older_conversations(store: Memory, talk: Talk) -> None:
    for number in range(6, 9):
        talk.say(f"talk {number}", to=f"c{number}", day=f"2026-03-0{number}")
    assert found(store, "recent") == ["talk 8", "talk 7", "talk 6"]
    assert found(store, "recent", query="boiler") == []


def test_timelines(store: Memory) -> None:
    assert found(store, "timeline", around="2026-03-02T12:00:00+00:00", before=1, after=1) == [
        "the boiler broke",
        "we paid $300",
    ]
    assert found(store, "timeline_of_best", query="paid", before=1, after=1) == ["the boiler hums", "we paid $300"]


def test_exact_takes_the_filters_of_a_structured_query(store: Memory) -> None:
    filters = {"date_range": ["2026-03-01", "2026-03-31"], "entity_type": "money"}
    assert found(store, "exact", query="paid", filters=filters) == ["we paid $300"]
    assert found(store, "exact", filters=filters) == ["we paid $300"]
    assert found(store, "exact", query="boiler paid") == []
    assert found(store, "exact", query="boiler", newest=True)[0] == _DECISION[0]


def test_semantic_gives_the_best_above_a_score(store: Memory) -> None:
    assert len(found(store, "semantic", query="boiler", top_k=2)) == 2
    assert found(store, "semantic", query="boiler", threshold=1.0) == []


def test_help_gives_a_sentence_and_a_schema_of_each(store: Memory) -> None:
    told = call(store.search, "help", {})
    assert isinstance(told, dict)
    assert set(told) == set(SEARCH_FUNCTIONS)
    assert len(SEARCH_FUNCTIONS) == 12
    msgspec.json.encode(told)
    assert told["by_file"]["schema"]["$defs"]["FileArguments"]["required"] == ["file"]


@pytest.mark.parametrize("month", ["2026-03", "2026-04", "1999"])
def test_a_date_alone_is_a_range(store: Memory, month: str) -> None:
    alone, range_of_it = (
        call(store.search, "exact", {"filters": {"date_range": dates}}) for dates in (month, [month, month])
    )
    assert isinstance(alone, SearchResults) and isinstance(range_of_it, SearchResults)
    assert [hit.id for hit in alone.hits] == [hit.id for hit in range_of_it.hits]
    assert bool(alone.hits) == (month == "2026-03")


@pytest.mark.parametrize(
    ("name", "told", "words"),
    [
        ("by_colour", {}, "no function"),
        ("by_file", {}, "missing required field `file`"),
        ("by_file", {"file": "a", "path": "b"}, "unknown field `path`"),
        ("prompts", {"k": 0}, "`int` >= 1"),
        ("timeline", {"around": "nowhere"}, "page or note,"),
        ("timeline", {"around": "2026-13-13"}, "not a date"),
        ("timeline", {"around": "best"}, "needs a moment"),
        ("exact", {"filters": {"date_range": ["2026-03-01"]}}, "Expected `array` of"),
        ("exact", {"filters": {"date_range": ["2026-03-31", "2026-03-01"]}}, "it ends before or when it starts"),
        ("exact", {"filters": {"date_range": "soon"}}, "not a date"),
        ("prompts", {"since": "2026-03-31", "until": "2026-03-01"}, "it ends before or when it starts"),
    ],
)
def test_what_is_wrong_is_said(store: Memory, name: str, told: dict[str, object], words: str) -> None:
    with pytest.raises(Exception, match=words):  # Misuse, or NotFound
        call(store.search, name, told)
    if name != "timeline":
        with pytest.raises(Misuse):
            call(store.search, name, told)
