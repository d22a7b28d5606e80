"""What was found damaged while something was written out: told on stderr at the end, and the status says so."""

from __future__ import annotations

from agent.cli import output
from agent.cli.invocation import Invocation
from foundation.program import PROGRAM

MOST = 20  # sentences


class ErrorWriter:
    """Takes sentences as they come; `tell` writes them, and exits with 1 where there are any."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._told: list[str] = []
        self._count = 0

    def __call__(self, trouble: str) -> None:
        self._count += 1
        if len(self._told) < MOST:
            self._told.append(trouble)

    def tell(self) -> None:
        if not self._count:
            return
        for sentence in self._told:
            output.say(sentence)
        if self._count > MOST:
            output.say(f"And {self._count - MOST:,} more.")
        output.say(f"All that is sound was written. `{PROGRAM} check --repair` mends what can be mended.")
        self._invocation.status = 1
