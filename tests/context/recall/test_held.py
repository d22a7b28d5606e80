"""Recall brings no answer that says what the person says, and nothing that a summary in view holds."""

from datetime import UTC, datetime

from msgspec.structs import replace

from context.recall.held import without_held
from foundation.trust import Citation, Trust
from memory.origin import Origin
from memory.search import Hit
from models.messages import Role
from tests.context.conversation import Talk, texts

OWN = "By the way, my locker code at the pool is 4471."


def hit(text: str, role: Role = Role.ASSISTANT) -> Hit:
    return Hit(
        id=text[:9],
        kind="message",
        conversation="c",
        role=role.value,
        snippet=text,
        citation=Citation(kind="entry", ref=text[:9], time=datetime(2026, 1, 1, tzinfo=UTC)),
        trust=Trust.EXACT,
        origin=Origin.USER if role is Role.USER else Origin.ASSISTANT,
        unverified=role is not Role.USER,
    )


def kept(*hits: Hit, summaries: tuple[str, ...] = (), own: tuple[str, ...] = ()) -> list[str]:
    return [found.snippet for found in without_held(hits, summaries, own)]


def test_an_answer_that_says_what_the_person_says_is_not_brought() -> None:
    for answer in (
        "4471 is a number that's used in the locker code.",
        "Your locker code at the pool is 4471. You can use it to open the locker.",
    ):
        assert kept(hit(OWN, Role.USER), hit(answer)) == [OWN]
        assert kept(hit(answer), own=(OWN,)) == []
        assert kept(hit(answer)) == [answer]


def test_an_answer_with_another_value_or_more_to_say_is_brought() -> None:
    for answer in (
        "Your locker code at the pool is 4472.",
        "The pool opens at nine, closes in August for repairs, and rents towels at the counter by the locker.",
    ):
        assert kept(hit(answer), own=(OWN,)) == [answer]


def test_an_answer_that_had_sources_is_brought() -> None:
    own, answer = "The parser fails in parse.py.", hit("I fixed the parser in parse.py.")
    assert kept(answer, own=(own,)) == []
    assert kept(replace(answer, unverified=False), own=(own,)) == [answer.snippet]


def test_what_a_summary_in_view_holds_is_not_brought() -> None:
    summary = "Earlier (2026-01-01; 4 entries, archived).\nuser: My locker code at the pool is 4471. I swim on Mondays."
    assert kept(hit("My locker code at the pool is 4471.", Role.USER), summaries=(summary,)) == []
    more = "My locker code at the pool is 4471. The towel is blue and hangs by the door."
    assert kept(hit(more, Role.USER), summaries=(summary,)) == [more]


def test_after_a_compaction_no_sentence_is_in_the_request_twice(small_talk: Talk) -> None:
    small_talk.send(OWN, "4471 is a number that's used in the locker code. " + "Bicycles are upright. " * 3)
    n = 0
    while not small_talk.receipts:
        n += 1
        small_talk.send(f"Tell me about topic number {n}. " + "filler words of no weight " * 10)
    assembled = small_talk.send("What is my locker code at the pool?")
    whole = "\n".join(texts(assembled))
    assert whole.count("ocker code at the pool is 4471") == 1
    assert whole.count("Bicycles are upright") <= 1
    assert not any("a number that's used" in part.text for part in assembled.recalled)
