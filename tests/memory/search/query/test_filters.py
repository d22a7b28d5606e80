"""Filters by what entries are marked with, exact words, and words to leave out."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from foundation.errors import Misuse
from foundation.privacy import as_given
from foundation.text.stopwords import count_content_words
from foundation.text.term_codec import split_terms, unpack_terms
from memory.errors import NotFound
from memory.memory import Memory
from memory.records import EntryKind
from memory.search import Query, analyse, parse_query
from memory.search.query.entity_filters import entity_tags
from memory.search.query.query import BEST
from memory.search_options import SearchOptions
from models.messages import Role
from tests.fakes import FakeClock
from tests.memory.search.conversation import Talk


def observed(talk: Talk, text: str, **meta: object) -> None:
    talk.say(text, kind=EntryKind.OBSERVATION, role=Role.ASSISTANT, meta=meta)


def test_by_type_concept_and_file(talk: Talk) -> None:
    observed(talk, "We keep SQLite.", type="decision", concepts=["trade-off"], files=["memory/cold/store.py"])
    observed(talk, "The lock leaked in SQLite.", type="bugfix", concepts=["gotcha"], files=["memory/cold/writer.py"])
    talk.say("SQLite is a database.")
    assert talk.found("sqlite", types=("decision",)) == ["We keep SQLite."]
    assert talk.found("sqlite", types=("Decision", "bugfix"), concepts=("gotcha",)) == ["The lock leaked in SQLite."]
    assert talk.found(concepts=("trade-off",)) == ["We keep SQLite."]
    assert talk.found(files=("cold/writer.py",)) == ["The lock leaked in SQLite."]
    assert len(talk.found(files=("/home/me/memory/cold/store.py", "writer.py"))) == 1  # another machine's path is none
    assert talk.found("sqlite", types=("unheard-of",)) == []
    assert talk.found("sqlite", kinds=("observation",)) != []


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("flight", "My flight BA249 leaves at nine."),
        ("ba249", "My flight BA249 leaves at nine."),
        ("flight:BA 249", "My flight BA249 leaves at nine."),
        ("money", "The boiler cost $1,200."),
        ("$1200", "The boiler cost $1,200."),
        ("money:1200", "The boiler cost $1,200."),
        ("1,200 USD", "The boiler cost $1,200."),
        ("March 5", "See you on 2026-03-05."),
        ("date:2026-03", "See you on 2026-03-05."),
        ("2026-03-05", "See you on 2026-03-05."),
        ("Anna", "Dr. Anna Smith called."),
        ("person:anna smith", "Dr. Anna Smith called."),
        ("北京", "我下周去北京。"),
        ("place", "我下周去北京。"),
        ("https://docs.python.org/3/", "Read https://docs.python.org/3/ first."),
        ("url:docs.python.org", "Read https://docs.python.org/3/ first."),
        ("version:3.12", "It needs Python 3.12."),
        ("src/a.py", "Look at src/a.py."),
    ],
)
def test_by_entity(talk: Talk, said: str, found: str) -> None:
    for text in (
        "My flight BA249 leaves at nine.",
        "The boiler cost $1,200.",
        "See you on 2026-03-05.",
        "Dr. Anna Smith called.",
        "我下周去北京。",
        "Read https://docs.python.org/3/ first.",
        "It needs Python 3.12.",
        "Look at src/a.py.",
        "Nothing.",
    ):
        talk.say(text)
    assert talk.found(entities=(said,)) == [found]


def test_several_entities_are_any_of_them_and_groups_are_all(talk: Talk) -> None:
    talk.say("Anna paid $5.")
    talk.say("Anna paid $7 for src/a.py.")
    assert len(talk.found(entities=("$5", "$7"))) == 2
    assert talk.found(entities=("$5", "$7"), files=("a.py",)) == ["Anna paid $7 for src/a.py."]


def test_a_note_is_marked_too(talk: Talk, memory: Memory) -> None:
    memory.hot.remember(as_given("The boiler cost $1,200."), heading=None, conversation=None)
    assert talk.found(entities=("money",)) == ["- The boiler cost $1,200."]
    assert talk.found(types=("decision",)) == []


def test_what_an_archived_entry_names_is_found_still(talk: Talk, memory: Memory) -> None:
    entry = talk.say("The flight is BA249. " * 40)
    memory.vault.archive_entries([entry], label=as_given("trip"))
    assert memory.cold.entry(entry.seq).text is None
    assert len(talk.found(entities=("BA249",))) == 1


def test_marks_are_no_words(talk: Talk) -> None:
    observed(talk, "水很好", type="decision", concepts=["模式"], files=["plans/house.md"])
    plain, marked = analyse("水很好"), analyse("水很好", "", {"type": "decision", "concepts": ["模式"]})
    assert marked.length == plain.length
    assert set(unpack_terms(marked.packed)) - set(unpack_terms(plain.packed)) == {"=type:decision", "=concept:模式"}
    for word in ("decision", "house", "模", "=type:decision", "type decision"):
        assert talk.found(word) == []
    assert count_content_words(*split_terms(marked.packed), "") == count_content_words(*split_terms(plain.packed), "")
    assert talk.found("水") == ["水很好"]


def test_exact_asks_each_word_of_the_passage_itself(talk: Talk) -> None:
    talk.say("The boiler is loud.")
    talk.say("It was serviced in May.")
    talk.say("The boiler was serviced.")
    assert len(talk.found("boiler serviced")) > 1
    assert talk.found("boiler serviced", exact=True) == ["The boiler was serviced."]
    assert talk.found("what was it", exact=True) == []
    assert talk.found("it was", exact=True) == ["It was serviced in May."]


def test_a_phrase_must_stand_as_it_is(talk: Talk) -> None:
    talk.say("The gas boiler leaks.")
    talk.say("The boiler leaks gas.")
    assert talk.found('"boiler leaks gas"') == ["The boiler leaks gas."]
    assert talk.found('"to the moon"') == []
    assert talk.ask('"boiler leaks gas"').total == 1
    assert talk.found('"boiler leaks gas"', as_it_stands=True) != ["The boiler leaks gas."]


def test_a_word_is_left_out(talk: Talk) -> None:
    talk.say("The boiler burns gas.")
    talk.say("The boiler burns oil.")
    talk.say("锅炉烧煤气")
    talk.say("锅炉烧石油")
    assert talk.found("boiler -gas") == ["The boiler burns oil."]
    assert talk.found("锅炉 -煤气") == ["锅炉烧石油"]
    assert "The boiler burns gas." not in talk.found("-gas")


def test_newest_orders_what_fits_by_time(talk: Talk) -> None:
    talk.say("tea tea tea", day="2026-01-01")
    talk.say("some tea and other things besides", day="2026-02-01")
    talk.say("coffee", day="2026-03-01")
    assert talk.found("tea", newest=True) == ["some tea and other things besides", "tea tea tea"]


def test_prompts_are_what_the_person_said(talk: Talk) -> None:
    talk.say("How is the boiler?")
    talk.say("The boiler is fine.", role=Role.ASSISTANT)
    assert talk.found("boiler", kinds=("prompt",)) == ["How is the boiler?"]
    assert len(talk.found("boiler", kinds=("prompt", "message"))) == 2


def test_conversations_are_found_by_their_best_passage(talk: Talk, clock: FakeClock) -> None:
    for name, text in (("a", "tea"), ("a", "tea with milk"), ("b", "green tea is good"), ("c", "coffee")):
        talk.say(text, to=name)
    query = parse_query("tea", SearchOptions(kinds=("conversation",)), clock=clock)
    hits = talk.memory.search.query(query).hits
    assert sorted(hit.conversation for hit in hits) == ["a", "b"]
    assert talk.memory.search.query(query).total == 2


def timeline(talk: Talk, **more: Any) -> list[str]:
    return [hit.snippet for hit in talk.memory.search.query(replace(Query(), **more)).hits]


def told(talk: Talk) -> None:
    for day in range(1, 10):
        talk.say(f"day {day}", to="a" if day % 2 else "b", day=f"2026-03-0{day}")


def test_around_a_moment_in_order_of_time_across_conversations(talk: Talk) -> None:
    told(talk)
    moment = datetime(2026, 3, 5, 12, tzinfo=UTC)
    assert timeline(talk, around=moment, before=2, after=1) == ["day 4", "day 5", "day 6"]
    assert timeline(talk, around=moment, before=0, after=0) == []
    assert timeline(talk, around=datetime(1990, 1, 1, tzinfo=UTC), before=2, after=2) == ["day 1", "day 2"]


def test_around_an_entry_which_is_the_anchor(talk: Talk) -> None:
    told(talk)
    entry = talk.say("late, of an earlier day", to="c", day="2026-03-05")
    results = talk.ask(around=entry.id, before=1, after=1)
    assert [hit.snippet for hit in results.hits] == ["day 5", "late, of an earlier day", "day 6"]
    assert results.anchor == entry.id
    assert len(timeline(talk, around=entry.id, before=100, after=100)) == 10


def test_an_answer_that_only_called_a_tool_is_no_blank_line_of_a_timeline(talk: Talk) -> None:
    told(talk)
    talk.say("", to="a", role=Role.ASSISTANT, day="2026-03-05")
    assert timeline(talk, around=datetime(2026, 3, 5, 12, tzinfo=UTC), before=2, after=1) == ["day 5", "day 6"]


def test_around_the_best_hit_in_its_conversation(talk: Talk) -> None:
    told(talk)
    talk.say("the boiler broke", to="a", day="2026-03-03")
    results = talk.ask("boiler", around=BEST, before=1, after=1)
    assert [hit.snippet for hit in results.hits] == ["day 3", "the boiler broke", "day 5"]  # day 4 is of another
    assert results.anchor == results.hits[1].id
    assert not talk.ask("zeppelin", around=BEST).found


def test_words_around_a_moment_are_looked_for_in_its_week(talk: Talk) -> None:
    talk.say("the boiler broke", day="2026-01-03")
    talk.say("the boiler is mended", day="2026-03-03")
    assert talk.found("boiler", around=datetime(2026, 3, 1, tzinfo=UTC)) == ["the boiler is mended"]


def test_around_what_is_nowhere(talk: Talk) -> None:
    with pytest.raises(NotFound, match="page or note,"):
        talk.ask(around="e_nothing")


def test_what_is_typed_is_judged(clock: FakeClock) -> None:
    query = parse_query("tea", SearchOptions(around="2026-03-01", types=("decision",), before=0, after=9), clock=clock)
    assert isinstance(query.around, datetime)
    assert (query.types, query.before, query.after) == (("decision",), 0, 9)
    assert parse_query("tea", SearchOptions(around="Best"), clock=clock).around == BEST
    assert parse_query("", SearchOptions(around="e_0123"), clock=clock).around == "e_0123"
    several: list[dict[str, Any]] = [
        {"around": "2026-13-40"},
        {"around": "best"},
        {"before": -1},
        {"threshold": 7.0},
        {"types": (" ",)},
    ]
    for wrong in several:
        with pytest.raises(Misuse):
            parse_query("", SearchOptions(**wrong), clock=clock)


def test_an_entity_of_any_kind_is_asked_for_by_itself() -> None:
    assert "=person:zelda" in entity_tags("Zelda")
    assert entity_tags("date:03-05") == {"=date:03-05"}
    assert entity_tags("Money") == {"=money"}
    assert {"=money:cny300", "=money:jpy300"} <= entity_tags("¥300")


def test_a_conversation_is_called_by_a_part_of_its_title(talk: Talk) -> None:
    talk.say("The boiler knocks.", to="The House")
    talk.say("The boiler is new.", to="the house by the sea")
    talk.say("No boiler there.", to="trip")
    assert sorted(talk.found("boiler", conversation="house")) == ["The boiler is new.", "The boiler knocks."]
    assert talk.found("boiler", conversation="The House") == ["The boiler knocks."]  # a whole title is that one
    with pytest.raises(NotFound):
        talk.ask("boiler", conversation="castle")
