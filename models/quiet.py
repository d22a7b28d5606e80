"""Keeps a library's output on one thread off the screen and out of standard output.

Python's own streams are replaced while a job runs; other threads write through.
"""

import sys
import threading
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast


class _DivertedStream:
    """Replaces a stream: collects the writes of one thread, and passes on all others."""

    def __init__(self, stream: Any, thread: int, heard: deque[str]) -> None:
        self.stream = stream
        self._thread = thread
        self._heard = heard

    def write(self, text: str) -> int:
        if threading.get_ident() != self._thread:
            return cast("int", self.stream.write(text))
        if text.strip():
            self._heard.append(text)
        return len(text)

    def flush(self) -> None:
        if threading.get_ident() != self._thread:
            self.stream.flush()

    def isatty(self) -> bool:
        return False if threading.get_ident() == self._thread else bool(self.stream.isatty())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def quiet(heard: deque[str]) -> Generator[None]:
    """Collects what this thread prints in `heard`."""
    me = threading.get_ident()
    out, err = _DivertedStream(sys.stdout, me, heard), _DivertedStream(sys.stderr, me, heard)
    sys.stdout, sys.stderr = cast("Any", out), cast("Any", err)
    try:
        yield
    finally:
        if sys.stdout is cast("Any", out):  # someone else may have put their own there meanwhile
            sys.stdout = out.stream
        if sys.stderr is cast("Any", err):
            sys.stderr = err.stream
