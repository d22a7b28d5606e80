"""A parser of foreign bytes as a fuzz target: what feeds it, what it may refuse, and what an input may cost."""

import resource
import signal
import time
from collections.abc import Callable
from types import FrameType

from msgspec import Struct

from foundation.errors import PalimpsestError

MOST_SECONDS = 5.0
"""Of one input, on a busy machine: none of the seeds takes a tenth of one."""
MOST_GROWTH = 300 * 2**20
"""Bytes by which one input may raise the peak of the process's memory."""


class TooSlow(Exception):
    """The input took longer than MOST_SECONDS."""


class TooLarge(Exception):
    """The input took more memory than MOST_GROWTH."""


class FuzzTarget(Struct, frozen=True, kw_only=True):
    """`parse` gets the mutated bytes and raises nothing but `refusals`.

    `seal` makes the checksums right again, so that what is behind them is reached: half of the inputs pass through it.
    """

    name: str
    seeds: Callable[[], list[bytes]]
    parse: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...] = (PalimpsestError,)
    seal: Callable[[bytes], bytes] | None = None
    words: tuple[bytes, ...] = ()
    """Words of the format, for the mutation."""

    def run(self, data: bytes) -> bool:
        """Parses the input; whether it was accepted. Raises what is a finding."""
        began, before = time.process_time(), _peak()
        signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS * 4)
        try:
            self.parse(data)
            accepted = True
        except self.refusals:
            accepted = False
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if time.process_time() - began > MOST_SECONDS:
            raise TooSlow(f"{time.process_time() - began:.1f} s of CPU")
        if _peak() - before > MOST_GROWTH:
            raise TooLarge(f"{(_peak() - before) / 2**20:,.0f} MB")
        return accepted


def catch_hangs() -> None:
    """From now on an input that takes too long raises TooSlow. For the main thread."""

    def late(_number: int, _frame: FrameType | None) -> None:
        raise TooSlow(f"more than {MOST_SECONDS * 4:g} s")

    signal.signal(signal.SIGALRM, late)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
