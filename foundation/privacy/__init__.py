"""What is taken out of text before it is written: private words, our own injections, secrets."""

from foundation.privacy.privacy import (
    Cleared,
    ClearingStream,
    Findings,
    Secret,
    as_given,
    clear,
    cleared_id,
    examine,
    without_tags,
)

__all__ = [
    "Cleared",
    "ClearingStream",
    "Findings",
    "Secret",
    "as_given",
    "clear",
    "cleared_id",
    "examine",
    "without_tags",
]
