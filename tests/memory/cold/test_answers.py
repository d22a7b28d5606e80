"""What a model says is on disk before it is shown, and what came of it is kept."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from foundation.privacy import Cleared
from memory.cold import ColdStore, answers
from memory.cold.sql import fetch, run
from memory.errors import NotFound, StoreError
from models.messages import Usage
from tests.memory.cold.drafts import answered, open_store, said


def chunks(cold: ColdStore) -> list[bytes]:
    return [body for (body,) in cold.read(lambda db: fetch(db, "SELECT body FROM chunks ORDER BY entry, n"))]


def wait_for(condition: Callable[[], object]) -> None:
    """Until it holds; the test's own limit ends a wait that is in vain."""
    while not condition():
        time.sleep(0.002)


def test_an_answer_begins_as_an_incomplete_entry_on_disk(cold: ColdStore) -> None:
    conversation = cold.new_conversation()
    question = cold.append(said(conversation.seq, "?"))
    answer = cold.begin_answer(answered(conversation.seq, "", question.seq, meta={"model": "qwen"}))
    found = cold.entry(answer.entry.seq)
    assert found == answer.entry
    assert (found.text, found.complete, found.parent) == ("", False, question.seq)
    assert cold.conversation_at(conversation.seq).leaf == found.seq
    assert cold.terms(0) == cold.terms(0)[:1]
    answer.abandon()


def test_what_comes_is_on_disk_within_a_batch_and_batches_gather(cold: ColdStore) -> None:
    answer = cold.begin_answer(answered(cold.new_conversation().seq, ""))
    for word in ("one ", "two ", "three "):
        answer.write(Cleared(word))
    wait_for(lambda: chunks(cold))
    assert chunks(cold) == [b"one two three "]
    answer.write(Cleared("\ud800"))
    wait_for(lambda: len(chunks(cold)) == 2)
    assert answer.abandon().text == "one two three \ud800"
    assert chunks(cold) == []


def test_finishing_puts_the_whole_text_in_the_chunks_place(cold: ColdStore) -> None:
    answer = cold.begin_answer(answered(cold.new_conversation().seq, "", meta={"a": 1}))
    answer.write(Cleared("raw"))
    wait_for(lambda: chunks(cold))
    before = cold.last_change()
    usage = Usage(prompt_tokens=100, completion_tokens=7, cached_tokens=40)
    entry = answer.finish(Cleared("The whole."), meta={"reason": "stop"}, usage=usage, model="qwen", ms=1200)
    assert (entry.text, entry.complete, entry.meta) == ("The whole.", True, {"a": 1, "reason": "stop"})
    assert chunks(cold) == []
    assert [(change.op, change.entry) for change in cold.changes(before)] == [("change", entry.seq)]
    assert cold.terms_of([entry.seq])[entry.seq].packed == b"The whole."
    (model,) = cold.statistics().models
    assert (model.model, model.answers, model.prompt_tokens, model.cached_tokens, model.ms) == (
        "qwen",
        1,
        100,
        40,
        1200,
    )
    assert cold.check() == []


def test_finishing_at_once_leaves_no_late_chunk(cold: ColdStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "BATCH_SECONDS", 0.01)
    conversation = cold.new_conversation()
    for _ in range(20):
        answer = cold.begin_answer(answered(conversation.seq, ""))
        answer.write(Cleared("late"))
        answer.finish(Cleared("late"))
    cold.write(lambda db: run(db, "SELECT 1"))
    assert cold.check() == []


def test_abandoning_keeps_what_came_however_late(cold: ColdStore) -> None:
    answer = cold.begin_answer(answered(cold.new_conversation().seq, ""))
    answer.write(Cleared("never flushed"))
    entry = answer.abandon(meta={"stopped": True})
    assert (entry.text, entry.complete, entry.meta) == ("never flushed", False, {"stopped": True})
    assert cold.terms_of([entry.seq])


def test_what_comes_while_a_batch_is_written_is_not_lost(cold: ColdStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "BATCH_SECONDS", 0.0002)
    answer = cold.begin_answer(answered(cold.new_conversation().seq, ""))
    words = [f"{number} " for number in range(600)]
    for word in words:
        answer.write(Cleared(word))
        time.sleep(0)
    assert len(chunks(cold)) > 1
    assert answer.abandon().text == "".join(words)


def test_an_answer_is_settled_once(cold: ColdStore) -> None:
    answer = cold.begin_answer(answered(cold.new_conversation().seq, ""))
    answer.finish(Cleared("done"))
    for again in (lambda: answer.finish(Cleared("x")), answer.abandon, lambda: answer.write(Cleared("x"))):
        with pytest.raises(StoreError):
            again()
    assert cold.entry(answer.entry.seq).text == "done"


def test_an_answer_whose_conversation_was_taken_away_says_so(cold: ColdStore) -> None:
    answer = cold.begin_answer(answered(cold.new_conversation().seq, ""))
    cold.write(lambda db: run(db, "DELETE FROM answers"))
    with pytest.raises(NotFound):
        answer.finish(Cleared("x"))


def test_a_batch_that_cannot_be_written_is_kept_and_tried_again(cold: ColdStore) -> None:
    answer = cold.begin_answer(answered(cold.new_conversation().seq, ""))
    refuse = "CREATE TRIGGER refuse BEFORE INSERT ON chunks BEGIN SELECT raise(ABORT, 'not now'); END"
    cold.write(lambda db: run(db, refuse))
    answer.write(Cleared("kept "))
    wait_for(lambda: answer.failure)
    assert isinstance(answer.failure, apsw.ConstraintError)
    cold.write(lambda db: run(db, "DROP TRIGGER refuse"))
    answer.write(Cleared("all the same"))
    wait_for(lambda: chunks(cold))
    assert chunks(cold) == [b"kept all the same"]
    assert answer.failure is None
    answer.abandon()


def test_many_threads_may_write_and_read(cold: ColdStore) -> None:
    conversation = cold.new_conversation()
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(5):
                answer = cold.begin_answer(answered(conversation.seq, "", id=f"{number}-{turn}"))
                answer.write(Cleared("words"))
                cold.branch(answer.finish(Cleared("words")).seq)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert cold.statistics().entries == 40
    assert cold.check() == []


def test_a_store_that_closes_writes_what_is_due(database: Path) -> None:
    cold = open_store(database)
    answer = cold.begin_answer(answered(cold.new_conversation().seq, ""))
    answer.write(Cleared("just before"))
    cold.close()
    again = open_store(database)
    assert chunks(again) == [b"just before"]
    assert [entry.text for entry in again.recover()] == ["just before"]
    assert again.recover() == []
    again.close()


def test_answers_of_another_open_store_are_left_alone(database: Path) -> None:
    one, other = open_store(database), open_store(database)
    answer = one.begin_answer(answered(one.new_conversation().seq, ""))
    assert other.recover() == one.recover() == []
    answer.write(Cleared("mine"))
    assert answer.finish(Cleared("mine")).text == "mine"
    one.close()
    other.close()


def test_of_two_answers_only_the_dead_ones_is_recovered(cold: ColdStore) -> None:
    conversation = cold.new_conversation()
    alive = cold.begin_answer(answered(conversation.seq, ""))
    dead = cold.begin_answer(answered(conversation.seq, ""))
    cold.write(lambda db: run(db, "UPDATE answers SET owner = 'w_gone' WHERE entry = ?", (dead.entry.seq,)))
    assert [entry.seq for entry in cold.recover()] == [dead.entry.seq]
    assert alive.finish(Cleared("whole")).complete


def test_nothing_stays_beside_the_store_after_a_quiet_end(database: Path) -> None:
    cold = open_store(database)
    cold.begin_answer(answered(cold.new_conversation().seq, "")).finish(Cleared("x"))
    cold.close()
    assert sorted(path.name for path in database.parent.rglob("*") if path.is_file()) == ["cold.db"]


def test_an_answer_that_nobody_settled_is_read_with_what_came_of_it(cold: ColdStore, database: Path) -> None:
    """By any way to it, from any process, without anything being written."""
    conversation = cold.new_conversation()
    question = cold.append(said(conversation.seq, "?"))
    answer = cold.begin_answer(answered(conversation.seq, "", question.seq))
    answer.write(Cleared("What was shown 🦊"))
    wait_for(lambda: chunks(cold))
    other, seq = open_store(database), answer.entry.seq
    ways = [
        other.entry(seq),
        other.entries([seq])[seq],
        other.find(answer.entry.id),
        *other.children(question.seq),
        other.branch(seq).entries[-1],
        next(other.path(seq)),
        other.neighbours(question.seq, 0, 1)[-1],
    ]
    assert {(entry.text, entry.chars, entry.complete) for entry in ways} == {("What was shown 🦊", 16, False)}
    assert chunks(other) == ["What was shown 🦊".encode()]
    other.close()
    answer.abandon()
