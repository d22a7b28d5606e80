"""How likely it is that anything answers: sure of what was said, unsure of what somebody else said or nobody did."""

import pytest

from tests.memory.search.conversation import Talk


@pytest.fixture
def told(talk: Talk) -> Talk:
    talk.say("I adopted a greyhound called Biscuit from the shelter in May.", speaker="Ann")
    talk.say("How lovely! I went climbing with my brother in Norway.", speaker="Ben")
    talk.say("The climbing must have been cold. Biscuit likes the snow.", speaker="Ann")
    talk.say("My brother broke his wrist there, and the ferry was late.", speaker="Ben")
    return talk


@pytest.mark.parametrize(
    "question",
    ["What is the greyhound of Ann called?", "Where did Ben go climbing?", "greyhound", "Who broke his wrist?"],
)
def test_what_was_said_is_found(told: Talk, question: str) -> None:
    results = told.ask(question)
    assert results.found and results.likelihood > 0.5


@pytest.mark.parametrize(
    "question",
    [
        "Which zeppelin did the mayor inaugurate?",
        "How much did the cathedral organ cost?",
        "purple greyhound zeppelins",
    ],
)
def test_what_nobody_said_is_not(told: Talk, question: str) -> None:
    assert not told.ask(question).found


def test_what_somebody_else_said_is_less_likely(told: Talk) -> None:
    theirs, others = (
        told.ask("Where did Ben go climbing with his brother?"),
        told.ask("Where did Ann go climbing with her brother?"),
    )
    assert others.likelihood < theirs.likelihood
    assert others.hits, "what lies nearest is shown all the same"


def test_what_others_say_of_themselves_is_not_the_named_ones(talk: Talk) -> None:
    talk.say("My grandmother in Sweden gave me this necklace.", speaker="Ann")
    talk.say("What a beautiful necklace! Is your grandmother well?", speaker="Ben")
    talk.say("She is. I wear it every day, it means love to me.", speaker="Ann")
    talk.say("My dog ate my slippers again.", speaker="Ben")
    assert talk.ask("Where does Ann's grandmother live, who gave her the necklace?").found
    assert not talk.ask("Where does Ben's grandmother live, who gave him the necklace?").found


def test_synonyms_alone_are_no_answer(talk: Talk) -> None:
    talk.say("We paint the boat in May.")
    found = talk.ask("submarine in May")
    assert found.hits
    assert not talk.ask("who owns a submarine?").found
