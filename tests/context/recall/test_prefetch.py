"""The search for a message begins when it is sent; the turn waits for it, and not for ever."""

import threading
import time
from collections.abc import Iterator

import msgspec
import pytest
from msgspec.structs import replace

from context import AssembledRequest, Turn
from context.recall.prefetch import Prefetch
from memory.search import Query, SearchResults
from models.messages import RecalledSpan, Role
from tests.context.conversation import Talk, remembered, texts

QUESTION = "Which gate does the ferry to Hydra leave from?"


@pytest.fixture
def held() -> Iterator[threading.Event]:
    """A search that waits for it is let go when the test ends."""
    event = threading.Event()
    yield event
    event.set()


def begun(talk: Talk, text: str) -> Prefetch:
    ahead = talk.context.prefetch(talk.conversation, text, talk.profile)
    assert ahead is not None
    return ahead


def assembled(talk: Talk, text: str, ahead: Prefetch) -> AssembledRequest:
    turn = Turn(conversation=talk.conversation, leaf=talk.leaf, text=text, prefetch=ahead)
    return talk.context.assemble(turn, talk.profile, talk.counter)


def without_nonces(made: AssembledRequest) -> tuple[RecalledSpan, ...]:
    return tuple(replace(part, nonce="") for part in made.recalled)


def test_what_was_searched_ahead_is_what_is_recalled(talk: Talk) -> None:
    remembered(talk, "The ferry to Hydra leaves at seven from gate E8.")
    ahead = begun(talk, QUESTION)
    ahead.run()
    found = assembled(talk, QUESTION, ahead)
    assert without_nonces(found) == without_nonces(talk.preview(QUESTION)) != ()
    assert found.notices == ()


def test_the_search_is_made_once_even_where_the_request_is_made_twice(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    remembered(talk, "The ferry to Hydra leaves at seven from gate E8.")
    asked: list[str] = []
    query = talk.memory.search.query

    def counted(one: Query) -> SearchResults:
        asked.append(one.text)
        return query(one)

    monkeypatch.setattr(talk.memory.search, "query", counted)
    ahead = begun(talk, QUESTION)
    ahead.run()
    assembled(talk, QUESTION, ahead)
    assembled(talk, QUESTION, ahead)
    assert asked == [QUESTION]


def test_the_turn_waits_for_a_search_that_is_under_way(talk: Talk, held: threading.Event) -> None:
    remembered(talk, "The ferry to Hydra leaves at seven from gate E8.")
    ahead = begun(talk, QUESTION)
    worker = threading.Thread(target=lambda: (held.wait(), ahead.run()))
    worker.start()
    threading.Timer(0.2, held.set).start()
    assert assembled(talk, QUESTION, ahead).recalled
    worker.join()


def test_a_search_that_is_not_ready_in_time_is_told_of_and_left_out(talk: Talk) -> None:
    remembered(talk, "The ferry to Hydra leaves at seven from gate E8.")
    talk.settings = msgspec.structs.replace(talk.settings, recall_wait=0.05)
    talk.reopen()
    found = assembled(talk, QUESTION, begun(talk, QUESTION))  # nobody runs it
    assert found.recalled == ()
    assert [notice.level for notice in found.notices] == ["warning"]
    assert "took too long" in str(found.notices[0])


def test_what_is_ended_is_waited_for_no_longer_and_told_of_nowhere(talk: Talk) -> None:
    remembered(talk, "The ferry to Hydra leaves at seven from gate E8.")
    talk.settings = msgspec.structs.replace(talk.settings, recall_wait=60.0)
    talk.reopen()
    ahead = begun(talk, QUESTION)
    threading.Timer(0.1, ahead.end).start()
    began = time.monotonic()
    found = assembled(talk, QUESTION, ahead)
    assert time.monotonic() - began < 9
    assert (found.recalled, found.notices) == ((), ())


def test_what_ended_before_it_began_asks_nothing() -> None:
    def never(_: Query) -> SearchResults:
        raise AssertionError

    ahead = Prefetch(lambda: Query(text="x"), never)
    ahead.end()
    ahead.run()
    assert ahead.wait(0) is None


def test_what_the_search_met_with_is_raised_where_it_is_waited_for() -> None:
    def broken(_: Query) -> SearchResults:
        raise OSError("the disk")

    ahead = Prefetch(lambda: Query(text="x"), broken)
    ahead.run()
    with pytest.raises(OSError, match="the disk"):
        ahead.wait(0)


def test_without_recall_or_words_nothing_is_asked_ahead(talk: Talk) -> None:
    assert talk.context.prefetch(None, "  ", talk.profile) is None
    talk.switch_recall_off()
    assert talk.context.prefetch(None, QUESTION, talk.profile) is None


def test_what_left_the_view_since_is_searched_again(talk: Talk) -> None:
    talk.send("The ferry to Hydra leaves at seven from gate E8.", "Noted.")
    ahead = begun(talk, QUESTION)
    ahead.run()
    turn = Turn(conversation=talk.conversation, leaf=None, text=QUESTION, prefetch=ahead)  # as after a compaction
    assert talk.context.assemble(turn, talk.profile, talk.counter).recalled


def test_a_short_follow_up_leans_on_the_question_before_when_asked_ahead(talk: Talk) -> None:
    remembered(talk, "On Sundays the Hydra ferry runs late.", title="Sundays", day=9)
    talk.send("I mean the Hydra ferry, in general, as such, you know.", "Yes?")
    ahead = begun(talk, "And Sundays?")
    ahead.run()
    searched = ahead.wait(0)
    assert searched is not None and "Hydra" in searched.query.text
    talk.append(Role.USER, "And Sundays?")
    assert "Sundays" in texts(assembled(talk, "And Sundays?", ahead))[-1]
