"""Measures what holds the event loop up: SQLite calls on its thread, and its longest stall while a store is locked."""

import asyncio
import subprocess
import sys
import threading
import traceback
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Self

import apsw

TICK = 0.005  # seconds
LOCKED = 0.4  # seconds that the store stays locked: several times what a stall may take

_HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for line in sys.stdin:
    connection.execute(line)
    print("done", flush=True)
"""


class StallWatch:
    """The loop's longest stall, counted in ticks of a thread beside it.

    A machine under load delays the thread as it delays the loop, so only what holds up the loop alone is counted.
    """

    def __init__(self) -> None:
        self.longest = 0.0
        self._beats = 0
        self._ended = threading.Event()

    async def __aenter__(self) -> Self:
        self._beating = asyncio.create_task(self._beat())
        await asyncio.sleep(0)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._beating.cancel()

    async def _beat(self) -> None:
        while True:
            self._beats += 1
            await asyncio.sleep(TICK)

    def _watch(self) -> None:
        seen, ticks = self._beats, 0
        while not self._ended.wait(TICK):
            seen, ticks = (seen, ticks + 1) if self._beats == seen else (self._beats, 0)
            self.longest = max(self.longest, ticks * TICK)


@contextmanager
def sqlite_calls_here() -> Generator[list[str]]:
    """The SQLite statements that run on this thread meanwhile, each with the line that made it."""
    here, calls = threading.get_ident(), list[str]()

    def note(event: dict[str, Any]) -> None:
        if threading.get_ident() == here:
            ours = [frame for frame in traceback.extract_stack()[:-1] if "/tests/" not in frame.filename]
            calls.append(f"{event['sql']} at {ours[-1].filename}:{ours[-1].lineno}")

    def trace(connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, note, id="event loop")

    apsw.connection_hooks.append(trace)
    try:
        yield calls
    finally:
        apsw.connection_hooks.remove(trace)


class OtherProcess:
    """Another process with the same store open, which can lock it for writing."""

    def __init__(self, database: Path) -> None:
        self._database = database

    def __enter__(self) -> Self:
        arguments = [sys.executable, "-c", _HOLDER, str(self._database)]
        self._process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    @asynccontextmanager
    async def lock(self) -> AsyncGenerator[None]:
        await asyncio.to_thread(self._execute, "BEGIN IMMEDIATE")
        try:
            yield
        finally:
            await asyncio.to_thread(self._execute, "ROLLBACK")

    def _execute(self, statement: str) -> None:
        assert self._process.stdin and self._process.stdout
        print(statement, file=self._process.stdin, flush=True)
        assert self._process.stdout.readline() == "done\n"
