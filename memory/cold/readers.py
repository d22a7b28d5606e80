"""Connections for readers: one at a time each, lent out and taken back, so that they are as many as read at once."""

import threading
from collections import deque
from collections.abc import Callable
from typing import TypeVar

import apsw

from memory.cold.sql import pragma, run
from memory.errors import Closed

T = TypeVar("T")


class Readers:
    """Safe to call from any thread."""

    def __init__(self, connect: Callable[[], apsw.Connection]) -> None:
        self._connect = connect
        self._idle: deque[apsw.Connection] = deque()
        self._closed = False
        self._watching = threading.Lock()
        self._watcher: apsw.Connection | None = None

    def run(self, read: Callable[[apsw.Connection], T]) -> T:
        """What the function returns; all that it reads is of one moment. It must not return a cursor."""
        connection = self._lend()
        try:
            run(connection, "BEGIN")
            try:
                return read(connection)
            finally:
                if connection.in_transaction:
                    run(connection, "ROLLBACK")
        finally:
            self._take_back(connection)

    def data_version(self) -> int:
        """A number that differs when anything was committed since, by this process or another."""
        with self._watching:
            if self._closed:
                raise _closed()
            if self._watcher is None:
                self._watcher = self._connect()
            return pragma(self._watcher, "data_version")

    def close(self) -> None:
        """Closes what is idle now, and what is lent when it comes back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()
        with self._watching:
            if self._watcher is not None:
                self._watcher.close()

    def _lend(self) -> apsw.Connection:
        if self._closed:
            raise _closed()
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def _take_back(self, connection: apsw.Connection) -> None:
        self._idle.append(connection)
        if self._closed:
            self.close()


def _closed() -> Closed:
    return Closed("The store is closed", "Something was read after the store was closed.")
