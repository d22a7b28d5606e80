"""How many examples Hypothesis makes: a part in every run, all with `make soak`."""

import os
from typing import Final

SOAK: Final = os.environ.get("PALIMPSEST_SOAK") == "1"
_PART: Final = 4


def examples(count: int) -> int:
    """The count in the soak, else a quarter of it, and no fewer than eight."""
    return count if SOAK else min(count, max(8, count // _PART))
