"""Filters typed as words: what is one, what is not, and what the question is without them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.services.filter_syntax import FILTERS, HELP, build_query, parse_filters
from foundation.errors import Misuse
from tests.fakes import FakeClock


def test_filters_are_taken_out_of_the_question() -> None:
    found = parse_filters("since:30d the boiler who:Anna kind:page's valve")
    assert found.text == "the boiler valve"
    assert found.options == {"since": "30d", "speaker": "Anna", "kinds": ("page's",)}


@pytest.mark.parametrize(
    "typed", ["http://a.example/x", "at 12:30", "std::map", "foo:bar", "C:\\notes", '"kind:page is a word"', "kind"]
)
def test_what_is_no_filter_stays_a_word(typed: str) -> None:
    assert parse_filters(typed).text == typed
    assert not parse_filters(typed).narrowed


def test_a_value_of_several_words_stands_in_quotes() -> None:
    assert parse_filters('who:"Anna Maria" boiler').options == {"speaker": "Anna Maria"}
    assert parse_filters('in:"Trip plan').options == {"conversation": "Trip plan"}  # being typed


def test_some_filters_may_be_given_several_times() -> None:
    assert parse_filters("kind:note,page kind:message").options == {"kinds": ("memory", "page", "message")}
    assert parse_filters("type:decision entity:money:usd120").options == {
        "types": ("decision",),
        "entities": ("money:usd120",),
    }


def test_a_wide_colon_is_a_colon() -> None:
    assert parse_filters("kind：page 锅炉").options == {"kinds": ("page",)}


def test_a_filter_whose_value_is_yet_to_come_is_no_word() -> None:
    found = parse_filters("boiler kind:")
    assert (found.text, found.options, found.unfinished) == ("boiler", {}, "kind")
    assert parse_filters("kind: boiler").text == "boiler"


def test_phrases_and_words_to_be_without_are_left_to_the_query() -> None:
    assert parse_filters('"in May" -gas role:user').text == '"in May" -gas'


def test_the_query_has_what_was_typed(clock: FakeClock) -> None:
    query = build_query(parse_filters("boiler since:2026-03-01 kind:note trust:exact"), clock, limit=7)
    assert (query.text, query.limit, query.kinds) == ("boiler", 7, ("memory",))
    assert query.since is not None
    assert query.since.astimezone(UTC) <= datetime(2026, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize("typed", ["kind:nonsense", "since:whenever", "trust:maybe"])
def test_a_value_that_is_none_is_told(typed: str, clock: FakeClock) -> None:
    with pytest.raises(Misuse):
        build_query(parse_filters(typed), clock)


def test_the_line_of_help_holds_filters_that_there_are() -> None:
    found = parse_filters(HELP)
    assert set(found.options) <= set(FILTERS.values())
    assert found.text == '"…" -word'


@given(st.text())
def test_whatever_is_typed_can_be_taken_apart(typed: str) -> None:
    parse_filters(typed)


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1)))
def test_words_without_a_colon_are_the_question(words: list[str]) -> None:
    typed = " ".join(words)
    assert parse_filters(typed).text == typed
    assert not parse_filters(typed).narrowed


@given(st.sampled_from(sorted(FILTERS)), st.from_regex(r"[a-z0-9/._-]{1,9}", fullmatch=True), st.integers(0, 2))
def test_a_filter_may_stand_anywhere(key: str, value: str, at: int) -> None:
    words = ["the", "boiler"]
    words.insert(at, f"{key}:{value}")
    found = parse_filters(" ".join(words))
    assert found.text == "the boiler"
    assert list(found.options) == [FILTERS[key]]
