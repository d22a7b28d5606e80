"""The one thread on which mlx lives: load, preprocess, generate, close.

mlx's streams are thread-local: a lazy array evaluated elsewhere raises. So every use of it is a job for this thread,
and jobs wait in the order chat, OCR, embedding; one that runs is not interrupted, so long work comes in small jobs.
What libraries print on this thread stays off the screen and out of standard output (`heard` keeps the end of it).
"""

import asyncio
import atexit
import itertools
import queue
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from enum import IntEnum
from typing import Any, TypeVar

from models.quiet import quiet

T = TypeVar("T")
Emit = Callable[[T], None]


class JobPriority(IntEnum):
    """The purpose of a job; a lower value runs first."""

    CHAT = 0
    OCR = 1
    EMBEDDING = 2
    END = 9


class JobStopped(Exception):
    """Raised in a job by its `emit` when its consumer has left."""


class MlxThread:
    """Runs jobs one after the other, always on the same thread, which begins with the first job.

    The thread never ends: mlx leaves destructors on it that take the interpreter's lock, and abort the process
    where the interpreter is ending at that moment (9 exits of 25). It is parked, and goes with the process.
    """

    def __init__(self) -> None:
        self._jobs: queue.PriorityQueue[tuple[int, int, Callable[[], None]]] = queue.PriorityQueue()
        self._order = itertools.count()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._parked = threading.Event()
        self.heard: deque[str] = deque(maxlen=200)

    def run(self, work: JobPriority, job: Callable[[], T]) -> "Future[T]":
        """Queues a job; the future has its result or error."""
        future: Future[T] = Future()

        def do() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                with quiet(self.heard):
                    result = job()
            except BaseException as error:  # whoever waits gets it
                future.set_exception(error)
            else:
                future.set_result(result)

        with self._lock:
            if self._closed.is_set():
                raise RuntimeError("the mlx thread is closed")
            self._jobs.put((work, next(self._order), do))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="mlx", daemon=True)
                self._thread.start()
                atexit.register(self.close)
        return future

    async def stream(self, work: JobPriority, job: Callable[[Emit[T]], None]) -> AsyncGenerator[T, None]:
        """The values that a job emits, as they come. Closing the generator makes the job's next `emit` raise
        JobStopped."""
        loop = asyncio.get_running_loop()
        came: asyncio.Queue[T | None] = asyncio.Queue()
        left = threading.Event()

        def tell(item: T | None) -> None:
            try:
                loop.call_soon_threadsafe(came.put_nowait, item)
            except RuntimeError as error:  # the loop is closed: no one will ever listen
                raise JobStopped from error

        def emit(item: T) -> None:
            if left.is_set() or self._closed.is_set():
                raise JobStopped
            tell(item)

        def do() -> None:
            try:
                if not left.is_set():
                    job(emit)
            except JobStopped:
                pass
            finally:
                _try(tell)

        future = self.run(work, do)
        try:
            while (item := await came.get()) is not None:
                yield item
            await asyncio.wrap_future(future)
        finally:
            left.set()

    def close(self, wait: float = 5.0) -> None:
        """Ends the running job at its next `emit`; after the jobs in the queue the thread stays parked."""
        with self._lock:
            running = self._thread is not None and not self._closed.is_set()
            self._closed.set()
        if running:
            self._jobs.put((JobPriority.END, next(self._order), lambda: None))
        if self._thread is not None and self._thread is not threading.current_thread():
            self._parked.wait(wait)

    def _work(self) -> None:
        while True:
            work, _, do = self._jobs.get()
            if work == JobPriority.END:
                break
            do()
        self._parked.set()
        threading.Event().wait()


def _try(callback: Callable[[Any], None]) -> None:
    """The end of a stream, where someone still listens."""
    try:
        callback(None)
    except JobStopped:
        return


_shared: list[MlxThread] = []


def mlx_thread() -> MlxThread:
    """The process's one thread."""
    if not _shared:
        _shared.append(MlxThread())
    return _shared[0]
