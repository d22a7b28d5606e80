"""The event loop of the MCP servers, in a thread of its own: the session's loop never waits for a server."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from foundation.errors import TemporaryFailure

T = TypeVar("T")
ENDING_SECONDS = 4.0  # for what is left on the loop when it is stopped


class ServerLoop:
    """Runs coroutines on its loop; the thread starts with the first. From any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False

    @property
    def is_running(self) -> bool:
        return self._loop is not None and not self._is_closed

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Raises TemporaryFailure once it is closed."""
        with self._lock:
            if self._is_closed:
                work.close()
                raise TemporaryFailure("The MCP servers have ended", "The session is closing.")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="mcp", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self, seconds: float) -> None:
        """Stops the loop and waits for its thread."""
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
        if self._loop is not None and self._thread is not None and not was_closed:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(seconds)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Runs the loop until it is stopped, then ends what is left on it."""
    asyncio.set_event_loop(loop)
    loop.set_exception_handler(_unreported)
    try:
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.wait(tasks, timeout=ENDING_SECONDS))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def _unreported(_loop: asyncio.AbstractEventLoop, _context: object) -> None:
    """Discards what asyncio would print: a server that ends badly is its state, never text in the terminal."""
