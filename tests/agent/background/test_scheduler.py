"""The scheduler runs background jobs one at a time, and none of them in the way of a turn."""

import asyncio
import threading
from collections.abc import Callable
from errno import ENOSPC, EROFS
from pathlib import Path

import pytest

from agent.background.scheduler import DISK_FULL, RETRY_S, BackgroundJob, Scheduler, ShouldStop, StepResult
from foundation.errors import Misuse
from foundation.files import LockTimeout
from memory.errors import StoreFull


class FakeJob:
    """Takes `steps` steps. Each waits for `gate` or for `should_stop`, whichever comes first."""

    def __init__(self, name: str, log: list[str], steps: int = 1, *, essential: bool = False) -> None:
        self.name = name
        self.status = f"doing {name}"
        self.failure = f"{name} not done"
        self.essential = essential
        self.left = steps
        self.error = ""
        self.fault: Exception | None = None
        self.started = threading.Event()
        self.gate = threading.Event()
        self.gate.set()
        self._log = log

    def due(self) -> bool:
        return self.left > 0

    def step(self, should_stop: ShouldStop) -> StepResult:
        self.started.set()
        for _ in range(400):  # a step that nobody ends is no reason to hang
            if self.gate.wait(0.005):
                break
            if should_stop():
                self._log.append(f"{self.name} stopped")
                return StepResult(more=True)
        if self.fault:
            raise self.fault
        self.left -= 1
        self._log.append(self.name)
        return StepResult(self.left > 0, self.error)


class FakeTurn:
    busy = False

    def __call__(self) -> bool:
        return self.busy


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def turn() -> FakeTurn:
    return FakeTurn()


@pytest.fixture
def scheduler_of(tmp_path: Path, turn: FakeTurn) -> Callable[..., Scheduler]:
    def made(*jobs: BackgroundJob, told: list[str] | None = None) -> Scheduler:
        return Scheduler(jobs, tmp_path / "locks", turn, None if told is None else told.append)

    return made


Schedulers = Callable[..., Scheduler]


async def started(job: FakeJob) -> None:
    assert await asyncio.to_thread(job.started.wait, 5)


async def test_jobs_run_one_after_another_in_their_order(scheduler_of: Schedulers, log: list[str]) -> None:
    first, second = FakeJob("first", log, steps=2), FakeJob("second", log)
    told: list[str] = []
    scheduler = scheduler_of(first, second, told=told)
    scheduler.schedule([second, first])
    await scheduler.idle()
    assert log == ["first", "first", "second"]
    assert told == ["doing first", "", "doing second", ""]


async def test_a_job_that_is_not_due_takes_no_step_and_shows_nothing(
    scheduler_of: Schedulers, log: list[str], tmp_path: Path
) -> None:
    told: list[str] = []
    job = FakeJob("none", log, steps=0)
    scheduler = scheduler_of(job, told=told)
    scheduler.schedule([job])
    await scheduler.idle()
    assert log == told == []
    assert not (tmp_path / "locks").exists()


async def test_steps_run_off_the_event_loop(scheduler_of: Schedulers, log: list[str]) -> None:
    job = FakeJob("slow", log)
    job.gate.clear()
    scheduler = scheduler_of(job)
    scheduler.schedule([job])
    await started(job)  # the loop runs while the step waits
    job.gate.set()
    await scheduler.idle()
    assert log == ["slow"]


async def test_a_turn_stops_the_step_and_the_job_goes_on_after_it(
    scheduler_of: Schedulers, log: list[str], turn: FakeTurn
) -> None:
    job, later = FakeJob("vectors", log), FakeJob("later", log)
    job.gate.clear()
    scheduler = scheduler_of(job, later)
    scheduler.schedule([job, later])
    await started(job)
    turn.busy = True
    await scheduler.idle()
    assert log == ["vectors stopped"]
    assert scheduler.status == ""

    scheduler.schedule()
    await scheduler.idle()
    assert log == ["vectors stopped"], "the turn is not over"

    turn.busy = False
    job.gate.set()
    scheduler.schedule()
    await scheduler.idle()
    assert log == ["vectors stopped", "vectors", "later"]


async def test_a_job_with_steps_left_is_taken_up_where_the_turn_stopped_it(
    scheduler_of: Schedulers, log: list[str], turn: FakeTurn
) -> None:
    job = FakeJob("vectors", log, steps=3)
    step = job.step

    def turn_begins_in_step(should_stop: ShouldStop) -> StepResult:
        turn.busy = True
        return step(should_stop)

    job.step = turn_begins_in_step
    scheduler = scheduler_of(job)
    for done in (1, 2, 3):
        turn.busy = False
        scheduler.schedule([job] if done == 1 else ())
        await scheduler.idle()
        assert len(log) == done


async def test_an_essential_job_runs_beside_a_turn(scheduler_of: Schedulers, log: list[str], turn: FakeTurn) -> None:
    mirror, other = FakeJob("mirror", log, essential=True), FakeJob("other", log)
    turn.busy = True
    scheduler = scheduler_of(mirror, other)
    scheduler.schedule([mirror, other])
    await scheduler.idle()
    assert log == ["mirror"]


async def test_a_cancelled_job_ends_early_and_does_not_come_back(scheduler_of: Schedulers, log: list[str]) -> None:
    job, later = FakeJob("long", log, steps=5), FakeJob("later", log)
    job.gate.clear()
    scheduler = scheduler_of(job, later)
    scheduler.schedule([job, later])
    await started(job)
    scheduler.cancel(job)
    await scheduler.idle()
    assert log == ["long stopped", "later"]
    scheduler.schedule()
    await scheduler.idle()
    assert log == ["long stopped", "later"]


@pytest.mark.parametrize(
    ("fault", "report"),
    [
        (Misuse("Wrong", "It is broken."), "It is broken."),
        (OSError("no space left"), "no space left"),
        (OSError(EROFS, "Read-only file system", "/ws/c_1.md"), "Read-only file system"),
        (LockTimeout("held"), "held"),
        (KeyError("key"), "KeyError: 'key'"),
    ],
)
async def test_a_job_that_raises_is_reported_and_the_next_one_runs(
    scheduler_of: Schedulers, log: list[str], fault: Exception, report: str
) -> None:
    bad, good = FakeJob("bad", log), FakeJob("good", log)
    bad.fault = fault
    scheduler = scheduler_of(bad, good)
    scheduler.schedule([bad, good])
    await scheduler.idle()
    assert log == ["good"]
    assert scheduler.status == f"bad not done: {report}"

    bad.fault = None
    scheduler.schedule([bad])
    await scheduler.idle()
    assert log == ["good", "bad"]
    assert scheduler.status == ""


async def test_an_error_that_a_step_reports_ends_the_job(scheduler_of: Schedulers, log: list[str]) -> None:
    job = FakeJob("vectors", log, steps=3)
    job.error = "no server there"
    scheduler = scheduler_of(job)
    scheduler.schedule([job])
    await scheduler.idle()
    assert log == ["vectors"]
    assert scheduler.status == "vectors not done: no server there"


async def test_closing_ends_the_step_and_completes_what_is_essential(scheduler_of: Schedulers, log: list[str]) -> None:
    job, mirror = FakeJob("long", log), FakeJob("mirror", log, essential=True)
    job.gate.clear()
    told: list[str] = []
    scheduler = scheduler_of(job, mirror, told=told)
    scheduler.schedule([job])
    await started(job)
    scheduler.schedule([mirror])
    await scheduler.close()
    assert log == ["long stopped", "mirror"]
    assert told == ["doing long"]


async def test_two_sessions_do_not_run_a_job_at_once(scheduler_of: Schedulers, log: list[str]) -> None:
    here, there = FakeJob("repack", log), FakeJob("repack", log)
    here.gate.clear()
    first, second = scheduler_of(here), scheduler_of(there)
    first.schedule([here])
    await started(here)
    second.schedule([there])
    await second.idle()
    assert log == []
    assert second.status == "", "the other session does it: nothing to report"

    here.gate.set()
    await first.idle()
    second.schedule([there])
    await second.idle()
    assert log == ["repack", "repack"]


async def test_each_session_runs_its_own_essential_jobs(scheduler_of: Schedulers, log: list[str]) -> None:
    here, there = FakeJob("mirror", log, essential=True), FakeJob("mirror", log, essential=True)
    here.gate.clear()
    first, second = scheduler_of(here), scheduler_of(there)
    first.schedule([here])
    await started(here)
    second.schedule([there])
    await second.idle()
    assert log == ["mirror"]
    here.gate.set()
    await first.idle()


async def test_what_is_scheduled_while_it_runs_runs_once_more(scheduler_of: Schedulers, log: list[str]) -> None:
    job = FakeJob("mirror", log, essential=True)
    job.gate.clear()
    scheduler = scheduler_of(job)
    scheduler.schedule([job])
    await started(job)
    job.left = 2
    scheduler.schedule([job])
    job.gate.set()
    await scheduler.idle()
    assert log == ["mirror", "mirror"]


async def test_a_full_disk_is_one_short_sentence_that_goes_once_the_jobs_can_write(
    scheduler_of: Schedulers, log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.background.scheduler.RETRY_S", 0.02)
    mirror, observing = FakeJob("mirror", log, essential=True), FakeJob("observing", log, essential=True)
    mirror.fault = OSError(ENOSPC, "No space left on device", "/ws/c_1.md")
    observing.fault = StoreFull("No space is left", "The disk is full.", "Free some space.")
    told: list[str] = []
    scheduler = scheduler_of(mirror, observing, told=told)
    scheduler.schedule([mirror, observing])
    await scheduler.idle()
    assert scheduler.status == DISK_FULL
    await asyncio.sleep(0.1)
    assert told[-1] == DISK_FULL
    assert told.count("doing mirror") == 1, "a retry changes nothing in the status bar"

    mirror.fault = observing.fault = None
    async with asyncio.timeout(5):
        while scheduler.status:
            await asyncio.sleep(0.01)
    assert sorted(log) == ["mirror", "observing"]  # each waits for a time of its own before it tries again
    await scheduler.close()


async def test_the_sentence_on_a_full_disk_goes_with_the_first_step_that_could_write(
    scheduler_of: Schedulers, log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert RETRY_S <= 5, "it goes a few seconds after there is room"
    monkeypatch.setattr("agent.background.scheduler.RETRY_S", 0.02)
    long = FakeJob("long", log, steps=2, essential=True)
    long.fault = OSError(ENOSPC, "No space left on device")
    scheduler = scheduler_of(long)
    scheduler.schedule([long])
    await scheduler.idle()
    assert scheduler.status == DISK_FULL
    real = long.step

    def step(should_stop: ShouldStop) -> StepResult:
        if log:  # the second step goes on
            long.gate.clear()
        return real(should_stop)

    monkeypatch.setattr(long, "step", step)
    long.fault = None
    async with asyncio.timeout(5):
        while scheduler.status != "doing long":
            await asyncio.sleep(0.01)
    long.gate.set()
    await scheduler.close()


async def test_a_closed_scheduler_does_not_try_again(
    scheduler_of: Schedulers, log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.background.scheduler.RETRY_S", 0.02)
    mirror = FakeJob("mirror", log, essential=True)
    mirror.fault = OSError(ENOSPC, "No space left on device")
    scheduler = scheduler_of(mirror)
    scheduler.schedule([mirror])
    await scheduler.idle()
    await scheduler.close()
    mirror.fault = None
    await asyncio.sleep(0.1)
    assert log == []
