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
from foundation.privacy.private_tags import Source

__all__ = [
    "Cleared",
    "ClearingStream",
    "Findings",
    "Secret",
    "Source",
    "as_given",
    "clear",
    "cleared_id",
    "examine",
    "without_tags",
]
