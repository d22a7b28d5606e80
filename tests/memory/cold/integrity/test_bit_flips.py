"""A flipped bit in who spoke, when, or in what was said is noticed, never stops the reading, and is put back."""

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from memory.cold import ColdStore
from memory.cold.integrity.repair import repair_rows
from memory.cold.integrity.row_hashes import seal_unsealed
from memory.cold.sql import fetch, run
from memory.context_store import ContextStore, SentRequest
from models.messages import Role, Text
from tests.memory.cold import released
from tests.memory.cold.drafts import answered, open_store, said

FLIPS = {
    "role": "UPDATE entries SET role = 'uses' WHERE seq = 1",
    "kind": "UPDATE entries SET kind = 'messagg' WHERE seq = 1",
    "speaker": "UPDATE entries SET speaker = 'Anl' WHERE seq = 1",
    "speaker, no UTF-8": "UPDATE entries SET speaker = CAST(x'416eee' AS TEXT) WHERE seq = 1",
    "moment": "UPDATE entries SET time_ms = time_ms | (1 << 60) WHERE seq = 1",
    "meta": "UPDATE entries SET meta = CAST('{\"a\":!}' AS BLOB) WHERE seq = 1",
    "sent": "UPDATE entries SET sent = CAST(replace(CAST(sent AS TEXT), 'skill', 'skhll') AS BLOB) WHERE seq = 1",
    "text": "UPDATE entries SET body = CAST('hellg' AS BLOB) WHERE seq = 1",
    "text, no UTF-8": "UPDATE entries SET body = x'e8656c6c6f' WHERE seq = 1",
    "long text": "UPDATE entries SET body = substr(body, 1, 20) || x'00' || substr(body, 22) WHERE seq = 2",
}


@pytest.fixture
def talk(cold: ColdStore) -> ColdStore:
    conversation = cold.new_conversation()
    first = cold.append(said(conversation.seq, "hello", speaker="Ann", sent=(Text("x", "skill"),), meta={"a": 1}))
    cold.append(answered(conversation.seq, "you said so " * 200, first.seq))
    assert cold.check() == []
    return cold


@pytest.mark.parametrize("flip", [flip for flip in FLIPS if flip != "long text"])
def test_a_flipped_bit_is_found_shown_and_put_back(talk: ColdStore, flip: str) -> None:
    before = talk.entry(1)
    talk.write(lambda db: run(db, FLIPS[flip]))
    assert {problem.where for problem in talk.check() if problem.what != "row"} == {before.id}
    shown = talk.entry(1)
    assert (shown.seq, shown.role, shown.kind) == (1, before.role, before.kind)
    assert len(talk.terms(0)) == 2

    done = repair_rows(talk, lambda _id, _sha256: None, lambda: None)
    assert (done.mended, done.lost) == ((before.id,), ())
    assert talk.entry(1) == before
    assert talk.check() == []


def test_an_unknown_role_is_named_as_what_it_was(talk: ColdStore) -> None:
    talk.write(lambda db: run(db, FLIPS["role"]))
    (problem,) = talk.check()
    assert problem.message == "A bit flipped in its role: “uses” instead of “user”."
    assert (talk.entry(1).role, talk.entry(1).damaged) == (Role.USER, ("role",))


def test_what_is_changed_by_more_than_a_bit_stays_and_is_named(talk: ColdStore) -> None:
    talk.write(lambda db: run(db, "UPDATE entries SET role = 'assistant', speaker = 'Eve' WHERE seq = 1"))
    assert len(repair_rows(talk, lambda _id, _sha256: None, lambda: None).lost) == 1
    (problem,) = talk.check()
    assert "Its row was changed:" in problem.message


def test_a_text_that_stands_elsewhere_comes_from_there(talk: ColdStore) -> None:
    text = talk.entry(2).text
    talk.write(lambda db: run(db, "UPDATE entries SET body = x'00', packed = 1 WHERE seq = 2"))
    assert talk.entry(2).text is None
    assert repair_rows(talk, lambda _id, _sha256: text, lambda: None).lost == ()
    assert (talk.entry(2).text, talk.check()) == (text, [])


def test_every_way_to_change_an_entry_seals_it(talk: ColdStore) -> None:
    answer = talk.begin_answer(answered(1, "", 2))
    sent = SentRequest(answers=1, digest=b"", sent_with=1, parts=(Text("y", "skill"),))
    ContextStore(talk).record(1, sent)
    answer.finish(answer_text := said(1, "So it is.").text, meta={"reason": "stop"})
    assert talk.entry(3).text == answer_text
    assert talk.check() == []


def test_rows_of_before_are_sealed_when_the_store_is_brought_up(tmp_path: Path) -> None:
    path = tmp_path / "state" / "cold.db"
    released.load(3, path)
    cold = open_store(path)
    assert cold.read(
        lambda db: fetch(db, "SELECT count(*) FROM entries WHERE seq NOT IN (SELECT entry FROM seals)")
    ) == [(0,)]
    cold.write(lambda db: run(db, "UPDATE entries SET role = 'uses' WHERE id = 'e_question'"))
    assert "e_question" in [problem.where for problem in cold.check()]
    cold.close()


def test_a_row_without_a_seal_is_judged_by_what_it_can_say(talk: ColdStore) -> None:
    talk.write(lambda db: run(db, "DELETE FROM seals"))
    talk.write(lambda db: run(db, FLIPS["role"]))
    assert "“uses”, which is not valid" in talk.check()[0].message
    assert talk.write(seal_unsealed) == 2


def test_a_text_whose_row_says_wrongly_that_it_is_packed_comes_back(talk: ColdStore) -> None:
    text = talk.entry(2).text
    talk.write(lambda db: run(db, "UPDATE entries SET packed = 0 WHERE seq = 2"))
    assert talk.check() != []
    assert repair_rows(talk, lambda _id, _sha256: None, lambda: None).lost == ()
    assert talk.entry(2).text == text


def test_a_store_whose_own_words_are_damaged_is_called_damaged(talk: ColdStore) -> None:
    other = apsw.Connection(str(talk.database))
    run(other, "PRAGMA writable_schema = 1")
    run(other, "UPDATE sqlite_schema SET sql = replace(sql, 'packed ', 'pacjed ') WHERE name = 'entries'")
    other.close()
    with closing(open_store(talk.database)) as again:
        (problem,) = again.check()
    assert (problem.what, "no such column" in problem.message) == ("file", True)
