"""Entries that an older analyser read are analysed again after a turn, until a turn or the closing ends the step."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.background.jobs import ReindexJob
from agent.background.scheduler import Scheduler
from agent.doctor.doctor import run_checks
from foundation.paths import Workspace
from memory.cold.sql import run
from memory.errors import StoreBusy
from memory.memory import Memory
from tests.agent.conftest import Run
from tests.fakes import FakeClock
from tests.memory.search.conversation import Talk


@pytest.fixture
def old(workspace: Workspace, clock: FakeClock) -> Iterator[Memory]:
    memory = Memory.open(workspace, clock)
    talk = Talk(memory)
    for number in range(250):
        talk.say(f"Ferry number {number}")
    memory.cold.write(lambda db: run(db, "UPDATE terms SET analyser = '1'"))
    yield memory
    memory.close()


def test_older_terms_are_due_until_they_are_renewed(old: Memory) -> None:
    job = ReindexJob(old)
    assert job.due()
    assert not job.step(lambda: False).more
    assert not job.due()
    assert old.renewing.left() == 0


def test_stats_and_doctor_say_how_many_are_left(old: Memory, run: Run) -> None:
    where = str(old.workspace.root)
    assert run("stats", "--workspace", where, "--json").json["to_analyse"] == 250
    assert "250 entries" in run("stats", "--workspace", where).out
    (store,) = [each for each in run_checks(old.workspace, {}) if each.topic == "store"]
    assert "250 entries are being re-indexed" in store.sentence
    old.renewing.run()
    assert run("stats", "--workspace", where, "--json").json["to_analyse"] == 0
    assert "to analyse" not in run("stats", "--workspace", where).out


def test_a_turn_or_closing_ends_it_within_a_batch(old: Memory) -> None:
    job = ReindexJob(old)
    job.step(lambda: True)
    assert old.renewing.left() == 50
    assert job.due()


async def test_what_is_in_the_way_is_said(old: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def busy(_: object) -> None:
        raise StoreBusy("Busy", "Another program holds it.")

    monkeypatch.setattr(old.cold, "write", busy)
    job = ReindexJob(old)
    scheduler = Scheduler([job], tmp_path, lambda: False)
    scheduler.schedule([job])
    await scheduler.idle()
    assert scheduler.status == "older entries not re-indexed: Another program holds it."
