"""Keeps full garbage collections short: each searches all objects, 300,000 after the start, while no key is drawn.

What start-up made lives as long as the program, so it is frozen: no later collection searches it. So is what survives
the first full collections, for the modules that the first messages bring. What a freeze finds dead already stays, about
a megabyte; after FREEZES nothing is frozen any more, and a day of use leaves no more behind.
"""

import gc
from collections.abc import Mapping
from typing import Any, Final

FREEZES: Final = 4
OLDEST: Final = 2  # the generation of a full collection
THRESHOLDS: Final = (20_000, 10, 10)  # the interpreter's own are 700, 10, 10


def collect_less() -> None:
    """Collects less often than the interpreter would, which takes a tenth of the time to the first frame."""
    gc.set_threshold(*THRESHOLDS)


class FullCollections:
    """Call `start` once, when the program is open."""

    def __init__(self) -> None:
        self.frozen = 0  # how often

    def start(self) -> None:
        self._freeze()
        gc.callbacks.append(self._collected)

    def _freeze(self) -> None:
        gc.freeze()
        self.frozen += 1

    def _collected(self, phase: str, info: Mapping[str, Any]) -> None:
        if phase != "stop" or info["generation"] != OLDEST:
            return
        self._freeze()
        if self.frozen >= FREEZES:
            gc.callbacks.remove(self._collected)
