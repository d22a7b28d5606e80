"""Time limit of reading one picture, in CPU seconds of the reading thread."""

import time


class DeadlineExceeded(Exception):
    """The reading exceeded its time limit."""


class Deadline:
    """A limit of so many CPU seconds from now on; the load of the machine has no effect."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began = time.thread_time()

    @property
    def spent(self) -> float:
        return time.thread_time() - self._began

    def check(self) -> None:
        """Raises DeadlineExceeded once the time is spent."""
        if self.spent > self.seconds:
            raise DeadlineExceeded


def unlimited() -> Deadline:
    """No limit: for a caller with a limit of its own, and for tests of a single stage."""
    return Deadline(float("inf"))
