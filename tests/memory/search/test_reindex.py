"""What an older analyser found is found anew, a little at a time, and no word is lost on the way."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foundation.paths import Workspace
from foundation.text.analysis import analyser_version
from foundation.text.term_codec import pack_terms, unpack_terms
from foundation.workspace_trust import trust_store
from memory.access import first_entry
from memory.cold.sql import fetch, run
from memory.errors import Damaged
from memory.memory import Memory
from memory.search.reindex import Reindexer, ReindexResult
from tests.fakes import FakeClock
from tests.memory.cold.released import SCHEMAS, load
from tests.memory.search.conversation import Talk

SCHEMA_NUMBERS = sorted(int(path.stem) for path in SCHEMAS.glob("*.sql"))


def make_old(memory: Memory, analyser: str = "1") -> None:
    """As if an analyser of before, which knew no words at all, had written every row."""
    old = pack_terms(["old"])
    sql = "UPDATE terms SET terms = ?, length = 1, analyser = ?"
    memory.cold.write(lambda db: run(db, sql, (old.packed, analyser)))


def analysers(memory: Memory) -> set[str]:
    return {row[0] for row in memory.cold.read(lambda db: fetch(db, "SELECT DISTINCT analyser FROM terms"))}


def terms(memory: Memory, seq: int) -> dict[str, int]:
    return unpack_terms(memory.cold.terms_of([seq])[seq].packed)


@pytest.fixture
def old(memory: Memory, talk: Talk) -> Memory:
    for number in range(450):
        talk.say(f"Ferry number {number} leaves at noon", speaker="Ann")
    make_old(memory)
    return memory


@pytest.mark.parametrize("number", SCHEMA_NUMBERS)
def test_a_store_of_a_released_schema_is_renewed(workspace: Workspace, clock: FakeClock, number: int) -> None:
    load(number, workspace.database)
    trust_store(os.environ).trust(workspace, first_entry(workspace.database))
    memory = Memory.open(workspace, clock)
    before = memory.renewing.left()
    assert before == 3
    told = memory.renewing.run()
    assert (told.done, told.left, told.unread) == (3, 0, 0)
    question = memory.cold.find("e_question").seq
    assert {"where", "is", "tent"} >= set(terms(memory, question)) - {"be", "the"}
    assert "tent" in terms(memory, question)
    assert "cellar" in terms(memory, memory.cold.find("e_answer").seq)
    assert analysers(memory) == {analyser_version()}
    memory.close()


def test_what_is_written_now_needs_no_renewing(memory: Memory, talk: Talk) -> None:
    talk.say("The kettle is on")
    assert memory.renewing.left() == 0
    assert memory.renewing.run() == ReindexResult()


def test_renewed_entries_are_found_by_an_index_that_stood_before(old: Memory, talk: Talk) -> None:
    talk.say("The kettle boils", day="2026-03-02")
    make_old(old)
    assert not talk.ask("boiling kettles").found
    assert old.renewing.run() == ReindexResult(done=451)
    assert talk.ask("boiling kettles").found
    assert terms(old, 1)["ann"] == 1


def test_it_is_told_after_each_batch_and_goes_on_where_it_was_stopped(old: Memory) -> None:
    told: list[ReindexResult] = []

    def once(renewed: ReindexResult) -> bool:
        told.append(renewed)
        return False

    assert old.renewing.run(on_batch=once) == told[0] == ReindexResult(done=200, left=250)
    assert old.renewing.left() == 250
    assert old.renewing.run() == ReindexResult(done=250)
    assert analysers(old) == {analyser_version()}


def test_no_seconds_are_no_work(old: Memory) -> None:
    assert old.renewing.run(seconds=0) == ReindexResult(left=450)


def test_long_texts_make_small_batches(memory: Memory, talk: Talk) -> None:
    for _ in range(5):
        talk.say("kettle " * 60_000)
    make_old(memory)
    told: list[ReindexResult] = []
    memory.renewing.run(on_batch=lambda renewed: bool(told.append(renewed)) or True)
    assert [renewed.done for renewed in told] == [1, 2, 3, 4, 5]


def test_what_cannot_be_read_keeps_its_terms_and_is_counted(old: Memory) -> None:
    def passage(entry: Any) -> Any:
        if entry.seq % 3 == 0:
            raise Damaged("Gone", "The pack is not there.")
        return old.passage(entry)

    renewing = Reindexer(old.cold, passage)
    assert renewing.run() == ReindexResult(done=300, unread=150, left=150)
    assert terms(old, 3) == {"old": 1}
    assert "ferri" in terms(old, 4)
    assert old.renewing.run() == ReindexResult(done=150)


def test_archived_entries_are_read_back_from_their_pages(memory: Memory, talk: Talk) -> None:
    entries = [talk.say(f"The ferry to Naxos leaves on quay {number}. " * 20) for number in range(6)]
    memory.vault.archive_entries(entries, label="ferries")
    make_old(memory)
    assert memory.cold.entry(entries[0].seq).text is None
    assert memory.renewing.run() == ReindexResult(done=6)
    assert terms(memory, entries[0].seq)["naxo"] == 20


def test_rows_of_a_newer_analyser_are_left_alone(memory: Memory, talk: Talk) -> None:
    talk.say("The kettle is on")
    make_old(memory, "99")
    assert memory.renewing.left() == 0
    assert memory.renewing.run() == ReindexResult()
    assert analysers(memory) == {"99"}


def test_a_row_that_another_process_renewed_is_not_noted_twice(old: Memory, workspace: Workspace) -> None:
    other = Memory.open(workspace, FakeClock())
    before = old.cold.last_change()

    def passage(entry: Any) -> Any:
        if entry.seq == 1:
            assert other.renewing.run().done == 450
        return old.passage(entry)

    assert Reindexer(old.cold, passage).run().done == 0
    assert old.cold.last_change() - before == 450
    other.close()


def test_two_processes_at_once_renew_each_row_once(old: Memory, workspace: Workspace) -> None:
    others = [Memory.open(workspace, FakeClock()) for _ in range(2)]
    before = old.cold.last_change()
    steps: Iterator[int] = iter(range(100))

    def turn_about(_: ReindexResult) -> bool:
        number = next(steps)
        others[number % 2].renewing.run(on_batch=lambda _: False)
        return True

    old.renewing.run(on_batch=turn_about)
    assert old.renewing.left() == 0
    assert old.cold.last_change() - before == 450
    for other in others:
        other.close()


def test_closing_in_the_middle_loses_nothing(tmp_path: Path, clock: FakeClock) -> None:
    workspace = Workspace(tmp_path / "w")
    memory = Memory.open(workspace, clock)
    talk = Talk(memory)
    for number in range(250):
        talk.say(f"Ferry {number}")
    make_old(memory)
    memory.renewing.run(on_batch=lambda _: False)
    memory.close()
    memory = Memory.open(workspace, clock)
    assert memory.renewing.left() == 50
    assert memory.renewing.run() == ReindexResult(done=50)
    memory.close()
