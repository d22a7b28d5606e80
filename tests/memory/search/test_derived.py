"""Memory does not feed on itself: what only repeats what was recalled changes no ranking, and is found where asked."""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundation.paths import Workspace
from foundation.privacy import cleared_fields
from memory.memory import Memory
from memory.origin import Origin
from memory.records import EntryKind
from memory.search import Query
from models.messages import Role
from tests.examples import examples
from tests.fakes import FakeClock
from tests.memory.search.conversation import Talk

FACTS = (
    "The greenhouse key hangs behind the blue door.",
    "Ann has the spare key of the boat.",
    "The ferry to Hydra leaves at 09:40 on Friday.",
    "我订了CA1234航班，3月15日从北京出发。",
    "We paint the boat blue in May.",
)
QUESTIONS = (
    "where is the greenhouse key?",
    "blue",
    "when does the ferry leave",
    "CA1234航班",
    "who has a key of the boat?",
)


def tool_result(text: str) -> dict[str, Any]:
    passages = json.dumps({"passages": [{"cite": "Garden · e_1", "text": text}]})
    return {"text": passages, "kind": EntryKind.TOOL_RESULT, "role": Role.TOOL, "speaker": "search_memory"}


def answer(text: str) -> dict[str, Any]:
    meta = cleared_fields({"derived_from": ["e_1"]})
    return {"text": text, "role": Role.ASSISTANT, "speaker": "qwen3", "meta": meta}


def quote(text: str) -> dict[str, Any]:
    return {"text": f"> {text}", "role": Role.ASSISTANT, "speaker": "offline"}


def summary(text: str) -> dict[str, Any]:
    meta = cleared_fields({"covers": [1, 2], "first_kept": None, "prior": []})
    return {"text": text, "kind": EntryKind.SUMMARY, "role": Role.ASSISTANT, "meta": meta}


REPETITIONS = st.lists(
    st.tuples(st.sampled_from((tool_result, answer, quote, summary)), st.sampled_from(FACTS), st.sampled_from("cd")),
    min_size=1,
    max_size=4,
)


def say(talk: Talk, what: dict[str, Any], to: str) -> None:
    talk.say(what.pop("text"), to=to, day="2026-04-01", **what)


def ranking(memory: Memory, question: str) -> tuple[Any, ...]:
    results = memory.search.query(Query(text=question, limit=20))
    return tuple((hit.id, hit.score, hit.like) for hit in results.hits), results.likelihood, results.total


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """A store with the facts, to which each example adds: the ranking is the same after all of them."""
    with closing(Memory.open(Workspace(tmp_path_factory.mktemp("law")), FakeClock())) as memory:
        talk = Talk(memory)
        for number, fact in enumerate(FACTS):
            talk.say(fact, to="cd"[number % 2])
        yield talk


@pytest.fixture(scope="module")
def rankings(known: Talk) -> list[Any]:
    found = [ranking(known.memory, question) for question in QUESTIONS]
    assert all(hits for hits, _, _ in found)
    return found


@settings(max_examples=examples(12), deadline=None)
@given(REPETITIONS)
def test_what_repeats_leaves_every_ranking_as_it_was(known: Talk, rankings: list[Any], said: list[Any]) -> None:
    for make, fact, to in said:
        say(known, make(fact), to)
    assert [ranking(known.memory, question) for question in QUESTIONS] == rankings


def test_so_does_the_index_on_disk(known: Talk, rankings: list[Any]) -> None:
    known.memory.search.update()
    assert [ranking(known.memory, question) for question in QUESTIONS] == rankings


@pytest.mark.parametrize(
    ("what", "kind"),
    [(tool_result, "tool_result"), (answer, "message"), (quote, "message"), (summary, "summary")],
)
def test_it_is_found_where_its_kind_is_named(talk: Talk, memory: Memory, what: Any, kind: str) -> None:
    fact = talk.say(FACTS[0])
    say(talk, what(FACTS[0]), "d")
    assert [hit.id for hit in talk.ask("blue door").hits] == [fact.id]
    of_kind = talk.ask("blue door", kinds=(kind,)).hits
    assert {found for hit in of_kind for found in (hit.id, *hit.like)} - {fact.id}
    memory.search.update()
    assert [hit.id for hit in talk.ask("blue door").hits] == [fact.id]


def test_a_list_has_answers_and_no_results_of_memory_tools(talk: Talk) -> None:
    for what in (tool_result, answer, quote, summary):
        say(talk, what(FACTS[0]), "c")
    assert [hit.speaker for hit in talk.ask().hits] == ["qwen3"]
    assert [hit.speaker for hit in talk.ask(speaker="offline").hits] == ["offline"]


def test_the_source_is_shown_before_those_who_say_the_same(talk: Talk, memory: Memory) -> None:
    later, said = "2026-05-01", "The greenhouse key hangs behind the blue door, next to the old map of Hydra"
    talk.say(said, to="a", role=Role.ASSISTANT, speaker="qwen3", day="2026-01-01")
    talk.say(said, to="b", kind=EntryKind.TOOL_RESULT, role=Role.TOOL, speaker="fetch", day="2026-01-02")
    own = talk.say(said, to="c", day="2026-03-01")
    talk.say(said, to="d", day=later)
    (hit,) = talk.ask("where is the greenhouse key").hits
    assert (hit.id, hit.origin, len(hit.like)) == (own.id, Origin.USER, 3)
    assert hit.repeated is not None and f"{hit.repeated:%Y-%m-%d}" == later


def test_what_was_said_again_is_not_superseded_by_what_was_said_between(talk: Talk) -> None:
    first = talk.say("My favourite colour is green.", day="2026-01-01")
    between = talk.say("My favourite colour is blue.", day="2026-02-01")
    talk.say("My favourite colour is green.", day="2026-03-01")
    hits = {hit.id: hit.superseded_by for hit in talk.ask("what is my favourite colour").hits}
    assert hits == {first.id: "", between.id: first.id}
