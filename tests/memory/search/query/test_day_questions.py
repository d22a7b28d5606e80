"""A question of days alone finds what was said on them, whatever its words."""

from datetime import UTC, datetime

import pytest

from memory.search import Query
from memory.search.query.timeline import date_only_spans
from tests.fakes import FakeClock
from tests.memory.search.conversation import Talk

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def _months(text: str, *, as_it_stands: bool = False) -> list[int]:
    """The month in which each query's days begin."""
    found = date_only_spans(Query(text=text, as_it_stands=as_it_stands), NOW)
    return [span.start.month for span in found]


@pytest.mark.parametrize(
    "text",
    [
        "last March",
        "in March",
        "what happened in March 2026?",
        "2026-03",
        "三月",
        "今年三月我们聊了什么？",
        "三月发生了什么",
    ],
)
def test_a_question_of_days_alone(text: str) -> None:
    assert _months(text)[0] == 3


@pytest.mark.parametrize(
    "text", ["the boiler last March", "march", "三月的航班", '"last March"', "last March -boiler", "why?"]
)
def test_a_question_of_something_else_too(text: str) -> None:
    assert _months(text) == []


def test_the_days_around_are_tried_next() -> None:
    near, wide = date_only_spans(Query(text="what did I say two weeks ago?"), NOW)
    assert wide.start < near.start < near.end < wide.end


def test_a_greeting_of_the_day_asks_for_nothing_in_a_chat() -> None:
    assert date_only_spans(Query(text="hello, how are you today?", as_it_stands=True), NOW) == ()
    assert date_only_spans(Query(text="today"), NOW)
    assert _months("what did we talk about last March?", as_it_stands=True)[0] == 3


def test_what_was_said_then_is_found_and_what_speaks_of_it(talk: Talk, clock: FakeClock) -> None:
    year = clock.now().year - 1
    talk.say("We get the keys on March 1st.", day=f"{year}-01-20")
    talk.say("The cat hides.", day=f"{year}-03-04", to="b")
    talk.say("奶奶对花生过敏。", day=f"{year}-03-15", to="b")
    results = talk.ask(f"What happened in March {year}?")
    assert [hit.snippet for hit in results.hits] == [
        "奶奶对花生过敏。",
        "The cat hides.",
        "We get the keys on March 1st.",
    ]
    assert results.found
    assert "The cat hides." not in talk.found(f"What happened in March {year}?", without=frozenset({"dates"}))


def test_where_nothing_was_said_then_its_words_are_looked_for(talk: Talk) -> None:
    for number in range(9):
        talk.say(f"Something else entirely, {number}.", day="2024-07-20", to="other")
    talk.say("The February bill is paid.", day="2024-06-20")
    assert talk.found("in February 2024") == ["The February bill is paid."]
