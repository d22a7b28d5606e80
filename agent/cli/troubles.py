"""Damage found during an export: reported on stderr at the end, with exit status 1."""

from __future__ import annotations

from agent.cli import output
from agent.cli.invocation import Invocation
from foundation.program import PROGRAM

MOST = 20  # sentences


class ErrorWriter:
    """Collects sentences; `tell` prints them and sets exit status 1 where there are any."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._sentences: list[str] = []
        self._count = 0

    def __call__(self, trouble: str) -> None:
        self._count += 1
        if len(self._sentences) < MOST:
            self._sentences.append(trouble)

    def tell(self) -> None:
        if not self._count:
            return
        for sentence in self._sentences:
            output.narrate(sentence)
        if self._count > MOST:
            output.narrate(f"And {self._count - MOST:,} more.")
        output.narrate(f"All that is sound was written. `{PROGRAM} check --repair` mends what can be mended.")
        self._invocation.status = 1
