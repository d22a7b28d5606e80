"""The writer thread: all writes of a process, one transaction at a time."""

import heapq
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from typing import Any, TypeVar

import apsw
from msgspec import Struct

from memory.cold.sql import run
from memory.errors import StoreClosed

T = TypeVar("T")
Transaction = Callable[[apsw.Connection], Any]


class _Job(Struct, frozen=True):
    work: Transaction
    future: Future[Any]
    bare: bool  # outside a transaction


class Writer:
    """Runs functions in order, each in its own transaction.

    `connect` opens the connection, and opens another after an I/O error, since the state after a failed fsync is
    unknown. `at_end` is called in each transaction before its COMMIT.
    """

    def __init__(
        self, connect: Callable[[], apsw.Connection], at_end: Callable[[apsw.Connection], None] | None = None
    ) -> None:
        self._connect = connect
        self._at_end = at_end
        self._connection: apsw.Connection | None = connect()
        self._due: list[tuple[float, int, _Job]] = []
        self._order = count()
        self._wake = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="palimpsest-writer", daemon=True)
        self._thread.start()

    def run(self, transaction: Callable[[apsw.Connection], T]) -> T:
        """Returns the function's result after COMMIT; raises its error after ROLLBACK."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("a transaction may not start another: pass its connection on")
        return self.later(transaction, 0).result()

    def run_bare(self, work: Callable[[apsw.Connection], T]) -> T:
        """Runs the function outside a transaction, for statements that SQLite refuses inside one."""
        return self._plan(work, 0, bare=True).result()

    def later(self, transaction: Callable[[apsw.Connection], T], seconds: float) -> "Future[T]":
        """Schedules `run` after `seconds`; returns at once."""
        return self._plan(transaction, seconds, bare=False)

    def _plan(self, work: Callable[[apsw.Connection], T], seconds: float, *, bare: bool) -> "Future[T]":
        future: Future[T] = Future()
        due = (time.monotonic() + seconds if seconds else 0.0, next(self._order), _Job(work, future, bare))
        with self._wake:
            if self._closing:
                raise StoreClosed("The store is closed", "Something was still to be written when the store was closed.")
            heapq.heappush(self._due, due)
            self._wake.notify()
        return future

    def close(self) -> None:
        """Runs all scheduled writes now, then ends the thread."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join()

    def _work(self) -> None:
        while job := self._next():
            try:
                result = self._do(job)
            except BaseException as error:  # passed on to the waiting caller
                job.future.set_exception(error)
            else:
                job.future.set_result(result)
            del job
        if self._connection is not None:
            self._connection.close()

    def _next(self) -> _Job | None:
        with self._wake:
            while True:
                if self._due:
                    wait = self._due[0][0] - time.monotonic()
                    if wait <= 0 or self._closing:
                        return heapq.heappop(self._due)[2]
                    self._wake.wait(wait)
                elif self._closing:
                    return None
                else:
                    self._wake.wait()

    def _do(self, job: _Job) -> Any:
        if self._connection is None:
            self._connection = self._connect()
        connection = self._connection
        try:
            if job.bare:
                return job.work(connection)
            run(connection, "BEGIN IMMEDIATE")
            result = job.work(connection)
            if self._at_end is not None:
                self._at_end(connection)
            run(connection, "COMMIT")
        except BaseException as error:
            self._undo(connection, error)
            raise
        return result

    def _undo(self, connection: apsw.Connection, error: BaseException) -> None:
        if connection.in_transaction:
            run(connection, "ROLLBACK")
        if isinstance(error, apsw.IOError):
            self._connection = None
            connection.close()
