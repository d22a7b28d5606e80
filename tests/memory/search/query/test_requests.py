"""Questions that ask for records, and structured queries: words that ask select nothing, and filters decide."""

import pytest

from memory.search.model_functions import call
from memory.search.query.query import SearchResults
from tests.memory.search.conversation import Talk

FLIGHTS = (
    ("2024-03-15", "我订了CA1234航班，从北京到里斯本。"),
    ("2024-03-20", "Flight BA504 to London leaves at nine."),
    ("2024-05-02", "My flight TP1361 is on time."),
)
OTHERS = ("The boiler was serviced.", "Ann likes tea at four.")


@pytest.fixture(params=[0, 45])
def store(request: pytest.FixtureRequest, talk: Talk) -> Talk:
    for day, text in FLIGHTS:
        talk.say(text, day=day)
    for text in OTHERS:
        talk.say(text, to="b", day="2024-03-10")
    talk.memory.cold.append_many(
        [
            talk.draft(f"We painted wall {n} of the old house in white.", to="c", day="2024-03-12")
            for n in range(request.param)
        ]
    )
    return talk


def texts(results: SearchResults | dict[str, object]) -> list[str]:
    assert isinstance(results, SearchResults)
    return [hit.snippet for hit in results.hits]


def test_words_that_ask_for_records_select_nothing(store: Talk) -> None:
    found = store.ask("flight records")
    assert found.found
    assert {hit.snippet for hit in found.hits} >= {text for _, text in FLIGHTS[1:]}
    assert texts(store.ask("records")) == []


def test_where_a_filter_decides_the_text_only_ranks(store: Talk) -> None:
    filters = {"date_range": ["2024-03-01", "2024-03-31"], "entity_type": "flight"}
    found = call(store.memory.search, "exact", {"query": "查找2024年3月的航班记录", "filters": filters})
    assert texts(found) == [FLIGHTS[0][1], FLIGHTS[1][1]]
    nothing = call(store.memory.search, "exact", {"query": "查找航班", "filters": {**filters, "entity_type": "money"}})
    assert texts(nothing) == []


def test_without_filters_every_term_must_stand(store: Talk) -> None:
    assert texts(call(store.memory.search, "exact", {"query": "flight time"})) == [FLIGHTS[2][1]]


def test_who_is_not_there_is_not_found(store: Talk) -> None:
    assert not store.ask("who owns a submarine?").found
