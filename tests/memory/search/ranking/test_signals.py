"""Each signal alone: switched off it changes the score of what it speaks for, and nothing else does."""

from collections.abc import Iterator

import pytest

from foundation.paths import Workspace
from memory.memory import Memory
from memory.search.embedding import EmbedderSet
from memory.search.ranking.question import EMBEDDED, SIGNALS, without_names
from tests.fakes import FakeClock
from tests.memory.search.conversation import Talk
from tests.memory.search.vectors.fake_embedder import FakeEmbedder

LEDGER = "The harbour keeps a ledger of ships and of what they carry. " * 40


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def embedded(workspace: Workspace, clock: FakeClock, embedder: FakeEmbedder) -> Iterator[Talk]:
    memory = Memory.open(workspace, clock, embedding=EmbedderSet(lambda: embedder, lambda: None))
    yield Talk(memory)
    memory.close()


def said(talk: Talk) -> Talk:
    """Some conversations, and vectors of them where there is an embedder."""
    talk.say("How is the parrot called?", speaker="Ann", to="a", day="2026-02-10")
    talk.say("Admiral Bertrand, since March 3.", speaker="Bo", to="a", day="2026-02-10")
    talk.say("It eats two apples daily.", speaker="Ann", to="a", day="2026-02-10")
    talk.say("My automobile broke down near the lake.", speaker="Ann", to="b", day="2026-01-05")
    talk.say("What a pity, how did it happen?", speaker="Bo", to="b", day="2026-01-05")
    talk.say(LEDGER + "A parrot sat on the ledger, and the parrot sang.", speaker="Bo", to="c", day="2026-03-02")
    for number in range(12):
        talk.say(f"Something else entirely, {number}.", to=f"d{number}", day="2025-12-01")
    talk.memory.search.vectors.fill()
    return talk


ASKING = {
    "neighbours": "the parrot's name is what?",
    "talk": "parrot apples",
    "synonyms": "Whose car was it?",
    "function-words": "how is it that the parrot eats apples?",
    "lengths": "parrot on the ledger",
    "speaker": "What broke down for Ann?",
    "dates": "the parrot in February 2026",
    "when": "When was the parrot called Bertrand?",
    "number": "How many apples does it eat?",
    "novelty": "How is the parrot called?",
    "vectors": "parrot apples",
    "vectors-beside": "parrot apples",
}


def scores(talk: Talk, question: str, *without: str) -> dict[int | None, float]:
    return {hit.entry: hit.score for hit in talk.ask(question, without=frozenset(without), limit=50).hits}


def test_every_signal_is_asked_for_here() -> None:
    assert set(ASKING) == set(SIGNALS)
    assert set(SIGNALS) > EMBEDDED


@pytest.mark.parametrize("signal", [signal for signal in SIGNALS if signal not in EMBEDDED])
def test_a_signal_bears_on_a_question_that_fits_it(signal: str, talk: Talk) -> None:
    said(talk)
    assert scores(talk, ASKING[signal]) != scores(talk, ASKING[signal], signal)


@pytest.mark.parametrize("signal", sorted(EMBEDDED))
def test_a_signal_of_an_embedder_bears_where_there_is_one(signal: str, embedded: Talk) -> None:
    said(embedded)
    assert scores(embedded, ASKING[signal]) != scores(embedded, ASKING[signal], signal)


@pytest.mark.parametrize("signal", ["synonyms", "speaker", "dates", "when", "number", *sorted(EMBEDDED)])
def test_a_signal_bears_on_no_question_that_gives_no_cause_for_it(signal: str, talk: Talk) -> None:
    said(talk)
    question = "What is Bertrand?" if signal == "synonyms" else "What does the parrot eat?"
    assert scores(talk, question)
    assert scores(talk, question) == scores(talk, question, signal)


def test_a_word_that_nobody_said_is_found_by_its_synonyms(talk: Talk) -> None:
    said(talk)
    assert talk.found("Whose car was it?")[0].startswith("My automobile")
    assert not talk.ask("Whose car was it?", without=frozenset({"synonyms"})).hits


# ── an embedder is asked without names, and only where it is to be asked ──


@pytest.mark.parametrize(
    ("text", "names", "left"),
    [
        ("What does Ann eat?", {"ann"}, "What does eat?"),
        ("What is Ann's parrot called?", {"ann"}, "What is parrot called?"),
        ("Did Ann Lee meet Bo?", {"ann", "lee"}, "Did meet Bo?"),
        ("Ann", {"ann"}, "Ann"),  # better than nothing
        ("the annual meeting", {"ann"}, "the annual meeting"),
        ("What does Ann eat?", set[str](), "What does Ann eat?"),
    ],
)
def test_names_are_left_out_of_a_question(text: str, names: set[str], left: str) -> None:
    assert without_names(text, frozenset(names)) == left


def test_an_embedder_is_not_asked_for_a_speakers_name(embedded: Talk, embedder: FakeEmbedder) -> None:
    said(embedded)
    embedder.questions.clear()
    embedded.ask("What does Ann eat?")
    embedded.ask("What does Zoe eat?")  # nobody here is called so
    assert embedder.questions == ["What does eat?", "What does Zoe eat?"]


@pytest.mark.parametrize("asked", [{"without": frozenset({"vectors"})}, {"text": ""}, {"text": "what was that?"}])
def test_an_embedder_is_asked_only_where_it_bears(
    asked: dict[str, object], embedded: Talk, embedder: FakeEmbedder
) -> None:
    said(embedded)
    embedder.questions.clear()
    embedded.ask(**{"text": "What does the parrot eat?", **asked})
    assert embedder.questions == []


# ── other languages ──


@pytest.mark.parametrize(
    ("entry", "question"),
    [
        ("Gestern habe ich die alten Häuser am Hafen gesehen.", "altes Haus"),
        ("Wir sind mit den Kindern in die Berge gefahren.", "Kinder Bergen"),  # looks like no language
        ("Nous avons acheté deux chevaux pour la ferme.", "acheter un cheval"),
    ],
)
def test_an_entry_in_another_language_is_found_by_another_form(entry: str, question: str, talk: Talk) -> None:
    for number in range(12):
        talk.say(f"Something else entirely, {number}.", to=f"d{number}")
    talk.say(entry, to="other")
    assert talk.found(question)[:1] == [entry]
    assert not talk.ask("Zeppelin").found
