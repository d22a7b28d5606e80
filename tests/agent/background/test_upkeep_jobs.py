"""What a chat does for the upkeep of memory by itself: it checks a sample, keeps to rules, proposes, and warns."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest
from msgspec import structs

from agent.background.disk_job import EACH_S, DiskJob
from agent.background.retention_job import RetentionJob
from agent.background.sample_job import SampleJob
from agent.background.scheduler import BackgroundJob
from agent.background.upkeep_news import UpkeepNews
from foundation.clock import to_ms
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.settings import CheckSettings, DiskSettings, RetentionSettings
from memory.upkeep import proposal
from memory.upkeep.retention import undo
from memory.upkeep.state import change_state, read_state
from models.messages import Role
from tests.fakes import FakeClock

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

DAY = 24 * 3600.0


@pytest.fixture
def memory(workspace: Workspace, clock: FakeClock) -> Iterator[Memory]:
    """Two conversations of today."""
    memory = Memory.open(workspace, clock)
    for title in ("Ferry ⛴", "岛屿"):
        conversation = memory.conversations.new(as_given(title))
        for n in range(3):
            draft = EntryDraft(
                conversation=conversation.seq,
                parent=None,
                kind=EntryKind.MESSAGE,
                role=Role.USER,
                text=as_given(f"{title} {n}: the ferry leaves at nine 渡轮九点开 " * 40),
            )
            memory.conversations.append(draft)
    yield memory
    memory.close()


@pytest.fixture
def news(workspace: Workspace) -> UpkeepNews:
    return UpkeepNews(workspace)


def run(job: BackgroundJob) -> bool:
    """Runs the job to its end as the scheduler does; whether it was due."""
    if not job.due():
        return False
    while job.step(lambda: False).more:
        pass
    return True


def looked(memory: Memory, clock: FakeClock) -> None:
    """The rules were kept to the day before yesterday."""
    change_state(memory.workspace, lambda state: structs.replace(state, ruled_ms=to_ms(clock.now()) - 2 * 86_400_000))


def flip_an_entry(workspace: Workspace) -> str:
    with closing(sqlite3.connect(workspace.database)) as db:
        (seq, name) = db.execute("SELECT seq, id FROM entries LIMIT 1").fetchone()
        db.execute("UPDATE entries SET body = CAST('forged' AS BLOB), packed = 0, chars = 6 WHERE seq = ?", (seq,))
        db.commit()
    return str(name)


def test_a_sample_is_checked_each_week_and_recorded(
    memory: Memory, workspace: Workspace, clock: FakeClock, news: UpkeepNews
) -> None:
    job = SampleJob(memory, CheckSettings(), clock, news)
    assert not run(job), "memory of today needs no check"
    clock.advance(7 * DAY)
    assert run(job)
    sample = read_state(workspace).sample
    assert sample is not None
    assert (sample.time_ms, sample.entries) == (to_ms(clock.now()), 6)
    assert news.take() == ()
    assert not run(job)
    clock.advance(7 * DAY)
    assert run(job)


def test_a_fault_is_said_once_and_stays_recorded(
    memory: Memory, workspace: Workspace, clock: FakeClock, news: UpkeepNews
) -> None:
    name = flip_an_entry(workspace)
    clock.advance(7 * DAY)
    job = SampleJob(memory, CheckSettings(), clock, news)
    run(job)
    (sentence,) = news.take()
    assert f"Stored data is damaged: entry {name}." in sentence
    assert "`palimpsest check --repair` mends" in sentence
    clock.advance(7 * DAY)
    run(job)
    assert news.take() == ()
    assert len(read_state(workspace).faults) == 1


def test_of_two_processes_one_checks(memory: Memory, workspace: Workspace, clock: FakeClock, news: UpkeepNews) -> None:
    clock.advance(7 * DAY)
    ours, other = (SampleJob(memory, CheckSettings(), clock, news) for _ in range(2))
    assert ours.due()
    assert other.due(), "both see that it is time"
    assert run(other)
    before = read_state(workspace)
    assert not ours.step(lambda: False).more
    assert read_state(workspace) == before, "the second finds that the first has done it"


def test_a_full_check_counts_and_zero_days_check_nothing(
    memory: Memory, workspace: Workspace, clock: FakeClock, news: UpkeepNews
) -> None:
    clock.advance(7 * DAY)
    assert not run(SampleJob(memory, CheckSettings(sample_days=0), clock, news))
    change_state(workspace, lambda state: structs.replace(state, checked_ms=to_ms(clock.now())))
    assert not run(SampleJob(memory, CheckSettings(), clock, news))


def test_rules_archive_in_the_background_only_where_that_is_switched_on(
    memory: Memory, clock: FakeClock, news: UpkeepNews
) -> None:
    clock.advance(40 * DAY)
    looked(memory, clock)
    assert run(RetentionJob(memory, RetentionSettings(archive_days=30), clock, news))
    assert memory.vault.archives() == []
    (sentence,) = news.take()
    assert sentence.startswith("Your rules would archive 2 conversations (")
    clock.advance(DAY)
    assert run(RetentionJob(memory, RetentionSettings(archive_days=30, background=True), clock, news))
    (sentence,) = news.take()
    assert sentence.startswith("2 conversations (6 entries) without activity are now on ")
    assert "`/clean --undo` undoes this." in sentence
    undo(memory)
    assert memory.vault.archives() == []
    assert memory.cold.check() == []


def test_a_turn_interrupts_it_and_what_was_archived_is_said(memory: Memory, clock: FakeClock, news: UpkeepNews) -> None:
    clock.advance(40 * DAY)
    looked(memory, clock)
    job = RetentionJob(memory, RetentionSettings(archive_days=30, background=True), clock, news)
    assert job.due()
    assert job.step(lambda: True).more
    assert news.take()[0].startswith("1 conversation (3 entries)")
    assert not job.step(lambda: False).more
    assert news.take()[0].startswith("1 conversation (3 entries)")
    assert not job.due()


def test_it_never_deletes_by_itself(memory: Memory, clock: FakeClock, news: UpkeepNews) -> None:
    clock.advance(400 * DAY)
    looked(memory, clock)
    run(RetentionJob(memory, RetentionSettings(delete_days=30, background=True), clock, news))
    assert len(memory.conversations.recent()) == 2
    (sentence,) = news.take()
    assert sentence.startswith("Your rules would delete 2 conversations")
    assert "`palimpsest retention` does" in sentence


def test_cleaning_is_proposed_from_a_size_on_and_not_again_for_a_week(
    memory: Memory, clock: FakeClock, news: UpkeepNews, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = RetentionJob(memory, RetentionSettings(), clock, news)
    clock.advance(40 * DAY)
    looked(memory, clock)
    assert run(job)
    assert news.take() == (), "less than a megabyte"
    monkeypatch.setattr(proposal, "LEAST", 100)
    clock.advance(DAY)
    assert run(job)
    (sentence,) = news.take()
    assert "2 conversations with" in sentence
    assert "inactive for 30 days" in sentence
    assert memory.vault.archives() == [], "nothing is done"
    clock.advance(DAY)
    assert run(job)
    assert news.take() == ()
    clock.advance(7 * DAY)
    assert run(job)
    assert news.take() != ()


def test_not_now_is_remembered_for_a_month_and_never_for_good(
    memory: Memory, clock: FakeClock, news: UpkeepNews, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposal, "LEAST", 100)
    clock.advance(40 * DAY)
    looked(memory, clock)
    proposal.not_now(memory, clock.now())
    for _ in range(3):
        clock.advance(9 * DAY)
        run(RetentionJob(memory, RetentionSettings(), clock, news))
    assert news.take() == ()
    first, second = memory.conversations.recent()
    for conversation in (first, second):
        proposal.keep(memory, conversation.id, always=True)
    clock.advance(9 * DAY)
    run(RetentionJob(memory, RetentionSettings(), clock, news))
    assert news.take() == (), "never for both"
    proposal.keep(memory, second.id, always=False)
    clock.advance(9 * DAY)
    run(RetentionJob(memory, RetentionSettings(), clock, news))
    assert "1 conversation with" in news.take()[0]


def test_the_room_is_measured_every_ten_minutes_and_a_warning_comes_once_a_day(
    memory: Memory, clock: FakeClock, news: UpkeepNews
) -> None:
    job = DiskJob(memory, DiskSettings(budget_mb=1, free_mb=0), clock, news)
    (memory.workspace.packs / "big.pages").parent.mkdir(exist_ok=True)
    (memory.workspace.packs / "big.pages").write_bytes(b"x" * 2**20)
    assert run(job)
    assert news.take()[0].startswith("Memory is over its budget")
    assert not run(job)
    clock.advance(EACH_S)
    assert run(job)
    assert news.take() == ()
    clock.moment += timedelta(days=1)
    assert run(job)
    assert news.take() != ()
    assert not run(DiskJob(memory, DiskSettings(budget_mb=0, free_mb=0), clock, news))


def test_what_no_chat_showed_is_shown_by_the_next(workspace: Workspace, memory: Memory, news: UpkeepNews) -> None:
    news.put("One.")
    news.put("Two. 二 🙂", "")
    assert UpkeepNews(workspace).take() == ("One.", "Two. 二 🙂")
    assert UpkeepNews(workspace).take() == ()


YEAR = 366 * DAY


def test_not_now_under_a_clock_that_was_ahead_stops_nothing_once_it_is_right(
    memory: Memory, clock: FakeClock, news: UpkeepNews, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposal, "LEAST", 100)
    clock.advance(12 * YEAR)
    proposal.not_now(memory, clock.now())
    clock.advance(-12 * YEAR + 40 * DAY)
    looked(memory, clock)
    assert run(RetentionJob(memory, RetentionSettings(), clock, news))
    assert "2 conversations with" in news.take()[0]


@pytest.mark.parametrize("says_something", [False, True])
def test_the_first_look_of_all_under_a_clock_far_ahead_archives_nothing(
    memory: Memory, clock: FakeClock, news: UpkeepNews, *, says_something: bool
) -> None:
    job = job_of(memory, clock, news)
    clock.advance(9 * YEAR)
    if says_something:
        memory.conversations.new(as_given("Now"))
    assert run(job)
    assert read_state(memory.workspace).runs == ()
    clock.advance(DAY)
    assert run(job)
    assert len(read_state(memory.workspace).runs) == 1, "a clock that stays there is believed"


def job_of(memory: Memory, clock: FakeClock, news: UpkeepNews) -> RetentionJob:
    settings = RetentionSettings(archive_days=30, background=True)
    return RetentionJob(memory, settings, clock, news)


def test_a_clock_that_is_years_ahead_for_an_hour_archives_nothing(
    memory: Memory, clock: FakeClock, news: UpkeepNews
) -> None:
    job = job_of(memory, clock, news)
    clock.advance(31 * DAY)
    looked(memory, clock)
    clock.advance(170 * YEAR)
    assert run(job)
    clock.advance(-170 * YEAR)
    assert read_state(memory.workspace).runs == ()
    assert run(job), "the look that was noted in the future stops none now"
    assert len(read_state(memory.workspace).runs) == 1


def test_a_clock_that_stays_a_month_ahead_is_believed_a_day_later(
    memory: Memory, clock: FakeClock, news: UpkeepNews
) -> None:
    job = job_of(memory, clock, news)
    change_state(memory.workspace, lambda state: structs.replace(state, ruled_ms=to_ms(clock.now())))
    clock.advance(60 * DAY)
    assert run(job)
    assert read_state(memory.workspace).runs == ()
    clock.advance(DAY)
    assert run(job)
    assert len(read_state(memory.workspace).runs) == 1
