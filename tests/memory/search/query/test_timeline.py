"""Anchors of a timeline: `around` takes every reference that `recall` takes."""

import pytest

from foundation.privacy import as_given
from foundation.trust import Citation
from memory.errors import NotFound
from memory.search.query.query import BEST
from tests.memory.search.conversation import Talk


@pytest.fixture
def week(talk: Talk) -> Talk:
    for day in range(1, 10):
        talk.say(f"day {day}", to="a" if day % 2 else "b", day=f"2026-03-0{day}")
    return talk


def around(talk: Talk, reference: str) -> list[str]:
    return [hit.snippet for hit in talk.ask(around=reference, before=1, after=1).hits]


def test_an_archive_by_its_number_and_its_label(week: Talk) -> None:
    entry = week.say("the gate is green", to="c", day="2026-03-05")
    archive = week.memory.vault.archive_entries([entry], label="house letters")
    neighbours = ["day 5", "the gate is green", "day 6"]
    assert around(week, f"#{archive.seq}") == neighbours
    assert around(week, "house letters") == neighbours
    assert around(week, week.memory.vault.pages()[0].id) == neighbours


def test_a_citation_and_the_beginning_of_an_id(week: Talk) -> None:
    entry = week.say("the gate is green", to="c", day="2026-03-05")
    neighbours = ["day 5", "the gate is green", "day 6"]
    assert around(week, str(Citation(kind="entry", ref=entry.id, title="c"))) == neighbours
    assert around(week, entry.id[:8]) == neighbours


def test_a_line_of_a_note_and_its_id(week: Talk) -> None:
    note = week.memory.hot.remember(as_given("The gate is green."))
    assert note.time is not None
    week.say("after the note", to="c", day="2031-01-01")
    by_id = week.ask(around=note.id, before=1, after=1)
    assert by_id.anchor == note.id
    assert around(week, f"{note.path}:{note.line_first}") == [hit.snippet for hit in by_id.hits]
    assert len(by_id.hits) == 3


@pytest.mark.parametrize("reference", ["e_nothing", "pg_000000000000", "m_00000000", "#77", "MEMORY.md:400", "nowhere"])
def test_a_reference_to_nothing(week: Talk, reference: str) -> None:
    with pytest.raises(NotFound, match="page or note,"):
        around(week, reference)


def test_an_id_of_several_conversations_is_ambiguous(week: Talk) -> None:
    for conversation in ("a", "b"):
        week.say("the gate is green", to=conversation, id="x3")
    with pytest.raises(NotFound, match="more than one entry: x3 in a, x3 in b"):
        around(week, "x3")


def test_the_best_hit_shows_its_own_conversation(week: Talk) -> None:
    week.say("another", to="b", id="x3", day="2026-03-08")  # its id is ambiguous
    week.say("paint it again", to="c", id="x2", day="2026-03-02")
    week.say("the gate is green", to="c", id="x3", day="2026-03-05")
    week.say("noted", to="c", id="x4", day="2026-03-09")
    hits = week.ask("gate", around=BEST, before=1, after=1).hits
    assert [hit.snippet for hit in hits] == ["paint it again", "the gate is green", "noted"]
