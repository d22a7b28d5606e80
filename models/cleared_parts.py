"""Message parts that may be stored: every text in them is cleared."""

from typing import NewType

from foundation.privacy import cleared_struct
from models.messages import MessagePart

ClearedParts = NewType("ClearedParts", tuple[MessagePart, ...])
"""Parts whose every text is cleared. Made here and nowhere else."""

NO_PARTS = ClearedParts(())


def cleared_parts(parts: tuple[MessagePart, ...]) -> ClearedParts:
    """The parts in their storable form. The bytes of pictures stay."""
    return ClearedParts(cleared_struct(parts))
