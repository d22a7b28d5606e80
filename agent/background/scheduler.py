"""The scheduler of background jobs: one at a time, in small steps, off the event loop.

A job gives way to a turn: its step ends early, and the job goes on once the turn is over. A job is skipped while
another session of the workspace runs it. A job that fails is reported, and the next one runs. After a full disk the
jobs try again by themselves.
"""

import asyncio
import errno
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from foundation.errors import PalimpsestError
from foundation.files import FileLock, LockTimeout, make_private_folder
from foundation.log import logger
from memory.errors import StoreFull

CLOSE_WAIT_S = 5.0
"""The longest wait for a running step before the store is closed."""

RETRY_S = 3.0
"""After a full disk, the time until the jobs try again."""

ANSWERS = "answers"
"""The name of the job that stores the answers which had no room."""
DISK_FULL = "disk full: mirrors and observations wait"
UNSTORED = "disk full: an answer, mirrors and observations wait"
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})

_log = logger("background")

ShouldStop = Callable[[], bool]
"""True once a turn has begun, the job was cancelled, or the session is closing. For the step's thread to ask often."""


class StepResult(Struct, frozen=True):
    """The outcome of one step. `more`: another step is due at once. `error`: why the job could not go on, or ""."""

    more: bool = False
    error: str = ""


class BackgroundJob(Protocol):
    """Work that a session does while nobody waits for it. `due` and `step` block and run in a worker thread."""

    @property
    def name(self) -> str:
        """A file name: the lock between sessions is `<name>.lock`."""
        ...

    @property
    def status(self) -> str:
        """The text for the status bar while the job runs; "" for none."""
        ...

    @property
    def failure(self) -> str:
        """What did not happen, in front of an error: "pages not packed"."""
        ...

    @property
    def essential(self) -> bool:
        """Whether the job runs during turns, in every session, and is completed before the store is closed."""
        ...

    def due(self) -> bool:
        """Whether there is anything to do."""
        ...

    def step(self, should_stop: ShouldStop) -> StepResult:
        """Does a few seconds' work, less where `should_stop` says so. Raises PalimpsestError and OSError."""
        ...


class Scheduler:
    """Runs the jobs of one session, the first of those scheduled first. For the event loop's thread.

    `locks` is the folder of the locks between sessions. `on_status` is called whenever `status` changes.
    """

    def __init__(
        self,
        jobs: Sequence[BackgroundJob],
        locks: Path,
        is_busy: Callable[[], bool],
        on_status: Callable[[str], None] | None = None,
    ) -> None:
        self._jobs = tuple(jobs)
        self._locks = locks
        self._is_busy = is_busy
        self._on_status = on_status
        self._scheduled: set[str] = set()
        self._running = ""
        self._cancelled = False
        self._closing = False
        self._errors: dict[str, str] = {}
        self._waiting: set[str] = set()  # jobs that a full disk stopped
        self._retry: asyncio.TimerHandle | None = None
        self._status = ""
        self._task: asyncio.Task[None] | None = None

    @property
    def status(self) -> str:
        """The running job's text; while none runs, what failed in each job's latest run, or that the disk is full."""
        return self._status

    def schedule(self, jobs: Iterable[BackgroundJob] = ()) -> None:
        """Runs these jobs as soon as possible, and those that a turn interrupted."""
        self._scheduled.update(job.name for job in jobs)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    def cancel(self, job: BackgroundJob) -> None:
        """Ends the job's current step early and runs no other until it is scheduled again."""
        self._scheduled.discard(job.name)
        self._cancelled = self._cancelled or job.name == self._running

    async def idle(self) -> None:
        """Waits until no job runs. Jobs that a turn interrupted may be left."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """Ends the current step early and completes the essential jobs, within `CLOSE_WAIT_S` seconds."""
        self._closing, self._on_status = True, None
        if self._retry is not None:
            self._retry.cancel()
        if self._waiting:
            self._try_again()
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=CLOSE_WAIT_S)

    async def _run(self) -> None:
        while (job := self._next()) is not None:
            self._scheduled.discard(job.name)  # before it runs: what is scheduled from now on runs once more
            self._running, self._cancelled = job.name, False
            error = await self._run_job(job)
            self._running = ""
            self._errors.pop(job.name, None)
            self._waiting.discard(job.name)
            if error == DISK_FULL:
                self._wait_for_space(job)
            elif error:
                self._errors[job.name] = f"{job.failure}: {error}"
            full = UNSTORED if ANSWERS in self._waiting else DISK_FULL
            self._show("; ".join([*([full] if self._waiting else []), *self._errors.values()]))

    def _wait_for_space(self, job: BackgroundJob) -> None:
        self._waiting.add(job.name)
        if self._retry is not None:
            self._retry.cancel()
        if not self._closing:
            self._retry = asyncio.get_running_loop().call_later(RETRY_S, self._try_again)

    def _try_again(self) -> None:
        """The essential jobs too: an answer that is stored now is in the mirror then."""
        self.schedule([job for job in self._jobs if job.essential or job.name in self._waiting])

    def _next(self) -> BackgroundJob | None:
        return next((job for job in self._jobs if job.name in self._scheduled and not self._must_yield(job)), None)

    async def _run_job(self, job: BackgroundJob) -> str:
        """Runs the job until it is done, is cancelled or has to yield; the error that ended it, or ""."""
        lock: FileLock | None = None
        try:
            if not await asyncio.to_thread(job.due):
                return ""
            if not job.essential and (lock := await asyncio.to_thread(self._locked, job)) is None:
                return ""
            return await self._run_steps(job)
        except (PalimpsestError, OSError) as error:
            if job.name not in self._waiting:
                _log.warning("%s failed: %s", job.name, type(error).__name__)
            return _reason(error)
        except Exception as error:  # the edge of a worker: the other jobs go on
            _log.error("%s failed: %s", job.name, type(error).__name__)
            return f"{type(error).__name__}: {error}"
        finally:
            if lock is not None:
                lock.release()

    async def _run_steps(self, job: BackgroundJob) -> str:
        def should_stop() -> bool:
            return self._cancelled or self._must_yield(job)

        while not should_stop():
            is_retried = job.name in self._waiting  # the status bar stays as it is
            self._show(self._status if is_retried else job.status or self._status)
            result = await asyncio.to_thread(job.step, should_stop)
            _log.debug("%s: a step, %s", job.name, "more to do" if result.more else "done")
            self._waiting.discard(job.name)  # it could write
            if result.error or not (result.more or self._must_yield(job)):
                return result.error
        if not self._cancelled:
            self._scheduled.add(job.name)
        return ""

    def _must_yield(self, job: BackgroundJob) -> bool:
        return not job.essential and (self._closing or self._is_busy())

    def _locked(self, job: BackgroundJob) -> FileLock | None:
        """The job's lock; None while another session runs the job."""
        make_private_folder(self._locks)
        lock = FileLock(self._locks / f"{job.name}.lock")
        with suppress(LockTimeout):
            lock.acquire(timeout=0)
        return lock if lock.is_locked else None

    def _show(self, status: str) -> None:
        changed, self._status = status != self._status, status
        if changed and self._on_status is not None:
            self._on_status(status)


def _reason(error: PalimpsestError | OSError) -> str:
    if isinstance(error, StoreFull) or (isinstance(error, OSError) and error.errno in _NO_SPACE):
        return DISK_FULL
    return (isinstance(error, OSError) and error.strerror) or str(error)
