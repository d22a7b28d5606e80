"""When two memories contradict, the newest comes first and the older says that it was superseded."""

import pytest

from benchmarks.contradictions import measure
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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My favourite colour is blue", "My favourite colour changed: it is green"),
        ("fyi i take my coffee black, no sugar", "started putting oat milk in my coffee, cant go back to black tbh"),
        (
            "I work at Halden Foods, in purchasing.",
            "So I handed in my badge at Halden on Friday. First day at the library!",
        ),
        ("我在美团做后端", "从美团离职啦，下周一去字节报到"),
        ("Netflix is 12.99 a month", "netflix went up again, 15.49 now. thieves"),
    ],
)
def test_casual_words_of_a_change_supersede(old: str, new: str) -> None:
    assert shown([hit(old, 1), hit(new, 2, day=30)]) == [("e_2", ""), ("e_1", "e_2")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("my phone plan is 20 euro", "mum's phone plan went up to 25 euro, she's furious"),
        ("我的手机套餐是39", "我妈的手机套餐换成59的了"),  # the rules alone would take both for one person's
        ("Question 7 about the garden and the harbour", "Question 8 about the garden and the harbour"),
        ("Imported message 12: the harbour light 12", "Imported message 13: the harbour light 13"),
        ("消息 12：港口的灯", "消息 13：港口的灯"),
        ("Rent is 980", "does anyone know if rent would go up to 1100 next year?"),
        ("I'm living in Utrecht these days", "when i was 20 I lived in Madrid for a year, best time ever"),
        ("our guest room is yellow", "painted the bathroom green last weekend"),
    ],
)
def test_casual_words_about_something_else_do_not(old: str, new: str) -> None:
    assert [by for _, by in shown([hit(old, 1), hit(new, 2, day=30)])] == ["", ""]


def test_what_answers_the_question_much_worse_supersedes_by_rules_alone() -> None:
    old, new = "netflix is 12.99 a month", "netflix went up again, 15.49 now. thieves"
    assert [by for _, by in shown([hit(old, 1), hit(new, 2, day=30, score=0.3)])] == ["", ""]
    old, new = CONTRADICT[0]
    assert shown([hit(old, 1), hit(new, 2, day=30, score=0.1)]) == [("e_2", ""), ("e_1", "e_2")]


def test_casual_changes_are_found_and_few_look_alikes_are() -> None:
    rows = {row["set"]: row for row in measure("own") if row["lang"] == "both"}
    assert [rows[half]["found"] >= 25 and rows[half]["false_share"] <= 7 for half in ("own dev", "own test")] == [
        True
    ] * 2


def test_only_the_first_thirty_hits_are_compared() -> None:
    old, new = CONTRADICT[0]
    others = [hit(f"Number {n}.", n) for n in range(3, 32)]
    assert [by for _, by in shown([hit(old, 1), *others, hit(new, 2, day=9)])] == [""] * 31
    assert "e_2" in [by for _, by in shown([hit(old, 1), *others[1:], hit(new, 2, day=9)])]


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
