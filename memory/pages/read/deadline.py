"""The time that reading one picture may take: CPU seconds of the thread that reads."""

import time


class DeadlineExceeded(Exception):
    """The reading took as long as it may."""


class Deadline:
    """So many CPU seconds from now on. A busy machine shortens nothing."""

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
    """For a caller with a bound of its own, and for tests of a single stage."""
    return Deadline(float("inf"))
