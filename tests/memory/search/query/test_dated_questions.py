"""A question that names a date is answered from that date: from what was said then, and from what speaks of it."""

import pytest

from memory.memory import Memory
from tests.fakes import FakeClock
from tests.memory.search.conversation import Talk
from tests.memory.search.test_reindex import make_old


@pytest.fixture
def flights(talk: Talk) -> Talk:
    talk.say("I took CA1234 to Beijing, window seat.", day="2024-03-15", to="a")
    talk.say("Flight HU7601 to Haikou was on time, a good flight.", day="2023-11-02", to="b")
    talk.say("坐川航3U8633回成都，航班很准时。", day="2023-11-05", to="c")
    talk.say("Made dumplings with grandmother.", day="2024-03-20", to="d")
    return talk


@pytest.mark.parametrize(
    "question", ["Which flight did I take in March 2024?", "2024年3月我坐了什么航班？", "查找2024年3月的航班记录"]
)
@pytest.mark.parametrize("as_it_stands", [False, True])
def test_only_entries_of_the_date_are_hits(flights: Talk, question: str, as_it_stands: bool) -> None:
    found = flights.found(question, as_it_stands=as_it_stands)
    assert found == ["I took CA1234 to Beijing, window seat."]
    assert len(flights.found(question, without=frozenset({"dates"}))) > 1


def test_a_message_that_tells_something_is_not_limited_to_its_date(flights: Talk) -> None:
    found = flights.found("In March 2024 I wanted a flight to Haikou.", as_it_stands=True)
    assert "Flight HU7601 to Haikou was on time, a good flight." in found


def test_where_nothing_is_of_the_date_the_nearest_are_raised_and_the_reason_is_given(talk: Talk) -> None:
    talk.say("Went to the museum of ships.", day="2024-05-02", to="a")
    talk.say("Went to the museum of bread.", day="2024-03-02", to="b")
    talk.say("The tap drips.", day="2024-03-08", to="c")
    hits = talk.ask("Which museum did I visit on March 12, 2024?", explain=True).hits
    assert [hit.snippet for hit in hits] == ["Went to the museum of bread.", "Went to the museum of ships."]
    assert hits[0].parts["of that time"] > hits[1].parts["of that time"] > 0


@pytest.mark.parametrize(
    ("text", "said", "question", "other"),
    [
        ("去年三月我们全家去了云南大理。", "2025-12-01", "2024年3月我们去了哪里旅游？", "2025年3月的大理"),
        ("Last March we hiked in Madeira.", "2025-12-01", "Where did we hike in March 2025?", ""),
        ("Last week the bicycle was stolen.", "2026-02-04", "What was stolen on January 28, 2026?", ""),
        ("Yesterday the boiler broke.", "2026-01-01", "What broke in December 2025?", ""),
    ],
)
def test_a_date_that_is_told_relatively_is_a_date_of_the_entry(
    talk: Talk, text: str, said: str, question: str, other: str
) -> None:
    for number in range(6):
        talk.say(f"We hiked, 我们去了, the bicycle and boiler {number} broke, stolen.", day=f"2023-0{number + 1}-20")
    talk.say(text, day=said, to="a")
    assert talk.found(question) == [text]


def test_an_entry_of_an_older_analyser_gets_its_dates(memory: Memory, talk: Talk) -> None:
    talk.say("Last March we hiked in Madeira.", day="2025-12-01")
    talk.say("We hiked at home.", day="2026-02-01", to="b")
    make_old(memory, "3")
    assert memory.renewing.run().done == 2
    assert talk.found("Where did we hike in March 2025?") == ["Last March we hiked in Madeira."]


@pytest.mark.parametrize(
    ("holiday", "literal", "said", "day"),
    [
        ("国庆", "国庆打算自驾去青海湖。", "2025-09-30", "2025-10-02"),
        ("Christmas", "For Christmas I got a bread machine.", "2025-11-28", "2025-12-24"),
    ],
)
def test_a_holiday_finds_what_names_it_and_then_its_days(
    talk: Talk, clock: FakeClock, holiday: str, literal: str, said: str, day: str
) -> None:
    talk.say("楼上又在装修。", day=day, to="a")
    talk.say(literal, day=said, to="b")
    talk.say(literal.replace("青海湖", "敦煌").replace("bread", "tea"), day=said.replace("2025", "2019"), to="c")
    found = talk.found(holiday)
    assert found[-1] == "楼上又在装修。"
    assert len(found) == 3
