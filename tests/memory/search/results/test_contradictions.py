"""When two memories contradict, the newest comes first and the older says that it was superseded."""

from foundation.trust import Trust
from memory.search import Hit
from memory.search.results.contradictions import contradicts, mark_superseded
from memory.search.results.statements import statements
from tests.memory.search.conversation import Talk
from tests.memory.search.results.contradicting_pairs import CONTRADICT, LOOK_ALIKE
from tests.memory.search.results.hits import hit


def are_said_to_contradict(older: str, newer: str) -> bool:
    return any(contradicts(new, old) for new in statements(newer) for old in statements(older))


def shown(hits: list[Hit]) -> list[tuple[str, str]]:
    return [(one.id, one.superseded_by) for one in mark_superseded(hits, {})]


def test_what_looks_alike_does_not_contradict() -> None:
    assert [pair for pair in LOOK_ALIKE if are_said_to_contradict(*pair)] == []


def test_contradictions_are_found() -> None:
    missed = [pair for pair in CONTRADICT if not are_said_to_contradict(*pair)]
    assert len(missed) <= 3, missed  # of 47


def test_nothing_contradicts_itself() -> None:
    sentences = [sentence for pair in (*CONTRADICT, *LOOK_ALIKE) for sentence in pair]
    assert [sentence for sentence in sentences if are_said_to_contradict(sentence, sentence)] == []


def test_the_newer_comes_first_and_nothing_is_lost() -> None:
    old, new = CONTRADICT[0]
    hits = [hit("Something else.", 1), hit(old, 2, day=1), hit("And more.", 3), hit(new, 4, day=9)]
    assert shown(hits) == [("e_1", ""), ("e_4", ""), ("e_2", "e_4"), ("e_3", "")]


def test_of_several_the_newest_is_named() -> None:
    said = [hit(f"The ferry to Hydra leaves at {at}.", n, day=n) for n, at in enumerate(["9:40", "10:20", "11:05"], 1)]
    assert shown(said) == [("e_3", ""), ("e_1", "e_3"), ("e_2", "e_3")]


def test_order_stays_where_the_newer_is_first_already() -> None:
    old, new = CONTRADICT[0]
    assert shown([hit(new, 1, day=9), hit("x", 2), hit(old, 3, day=1)]) == [("e_1", ""), ("e_2", ""), ("e_3", "e_1")]


def test_what_others_say_supersedes_nothing() -> None:
    old, new = CONTRADICT[0]
    assert [by for _, by in shown([hit(old, 1), hit(new, 2, day=9, speaker="Ben")])] == ["", ""]
    assert [by for _, by in shown([hit(old, 1), hit(new, 2, day=9, role="assistant")])] == ["", ""]
    assert [by for _, by in shown([hit(old, 1, kind="memory", role=""), hit(new, 2, day=9)])] == ["", ""]
    notes = [hit(old, 1, kind="memory", role=""), hit(new, 2, day=9, kind="memory", role="")]
    assert shown(notes) == [("e_2", ""), ("e_1", "e_2")]


def test_the_search_tells_of_it(talk: Talk) -> None:
    old = talk.say("My phone number is 555-0142.", speaker="Ann", day="2026-03-01")
    new = talk.say("By the way, my phone number is 555-0199 now.", speaker="Ann", day="2026-05-01", to="later")
    hits = talk.ask("What is the phone number of Ann?").hits
    assert [(one.id, one.superseded_by, one.trust) for one in hits] == [
        (new.id, "", Trust.EXACT),
        (old.id, new.id, Trust.EXACT),
    ]
    assert talk.ask("What is the phone number of Ann?", limit=1).hits[0].id == new.id
