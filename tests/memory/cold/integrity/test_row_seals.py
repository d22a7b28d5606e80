"""Titles, labels, places and epochs' heads: a flipped bit in them is named, never believed, and put back."""

import apsw
import pytest

from foundation.privacy import Cleared
from memory.cold import ColdStore
from memory.cold.integrity.repair import repair_sealed_rows
from memory.cold.integrity.row_seals import TABLES, broken_rows
from memory.cold.sql import fetch, run
from memory.context_store import ContextStore, NewEpoch, SentRequest
from tests.memory.cold.drafts import answered, open_store, said

FLIPS = {
    "title": "UPDATE conversations SET title = CAST('Trkp' AS BLOB)",
    "id": "UPDATE conversations SET id = 'c_triq'",
    "label": "UPDATE labels SET label = 'tsavel'",
    "epoch": "UPDATE epochs SET state = CAST('{!' AS BLOB)",
    "request": "UPDATE requests SET state = CAST('{!' AS BLOB)",
}


@pytest.fixture
def trip(cold: ColdStore) -> ColdStore:
    conversation = cold.new_conversation(Cleared("Trip"), id="c_trip")
    cold.append(said(conversation.seq, "hello"))
    cold.label(conversation.seq, Cleared("travel"))
    sent = SentRequest(answers=1, digest=b"{a", epoch=NewEpoch(1, "start", b"{a"))
    ContextStore(cold).record(conversation.seq, sent)
    assert cold.check() == []
    return cold


def flipped(cold: ColdStore, sql: str) -> None:
    """As a disk does it: no trigger runs."""
    other = apsw.Connection(str(cold.database))
    other.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    run(other, sql)
    other.close()


@pytest.mark.parametrize("flip", FLIPS)
def test_a_flipped_bit_is_named_and_put_back(trip: ColdStore, flip: str) -> None:
    flipped(trip, FLIPS[flip])
    (problem,) = trip.check()
    assert "Its row was changed: its seal differs" in problem.message
    assert trip.conversation_at(1).damaged is (flip in {"title", "id"})
    assert (ContextStore(trip).epoch(1) is None) is (
        flip == "epoch"
    )  # what is damaged is not sent: another epoch begins
    assert (ContextStore(trip).last_request(1) is None) is (flip == "request")
    kept = list[str]()
    assert repair_sealed_rows(trip, lambda: kept.append("kept")) == 1
    assert kept == ["kept"]
    assert trip.check() == []
    (trip_again,) = trip.conversations()
    assert (trip_again.id, trip_again.title, trip_again.labels) == ("c_trip", "Trip", ("travel",))


def test_whatever_changes_a_row_seals_it(trip: ColdStore) -> None:
    trip.rename(1, Cleared("Ferries"))
    trip.label(1, Cleared("boats"))
    ContextStore(trip).set_epoch(1, NewEpoch(2, "edit", b"{b"))
    trip.write(lambda db: run(db, "UPDATE labels SET label = 'ships' WHERE label = 'boats'"))
    assert trip.check() == []
    assert trip.read(lambda db: list(broken_rows(db))) == []


def test_every_text_of_a_sealed_table_is_sealed(trip: ColdStore) -> None:
    """A column that is added to one of them is sealed, or is here with its reason."""
    unsealed = {"knowledge.bytes"}
    for table in TABLES:
        columns = trip.read(lambda db, table=table: fetch(db, f"PRAGMA table_info({table.name})"))
        texts = {name for _, name, kind, *_ in columns if kind in {"TEXT", "BLOB"}} - {"seal"}
        assert texts <= set(table.columns) | unsealed, table.name
        assert {name for _, name, kind, *_ in columns if kind == "TEXT"} == set(table.text), table.name


def test_parts_of_an_answer_that_were_damaged_before_they_were_settled_are_never_exact(cold: ColdStore) -> None:
    conversation = cold.new_conversation()
    question = cold.append(said(conversation.seq, "When?"))
    answer = cold.begin_answer(answered(conversation.seq, "", question.seq))
    answer.write(Cleared("At 9:40."))
    cold.write_later(lambda db: None, 0.3).result()
    assert (cold.entry(answer.entry.seq).text, cold.entry(answer.entry.seq).doubts) == ("At 9:40.", ())
    flipped(cold, "UPDATE chunks SET body = CAST('At 1:40.' AS BLOB)")
    assert "its SHA-256 differs" in cold.entry(answer.entry.seq).doubts[0]
    assert "chunks" in {problem.what for problem in cold.check()}
    cold.write(lambda db: run(db, "UPDATE answers SET owner = 'w_gone'"))
    cold.close()
    again = open_store(cold.database)
    (cut,) = again.recover()
    assert cut.text == "At 1:40."
    assert cut.trust == "approximate"
    assert again.check() == []
    again.close()
