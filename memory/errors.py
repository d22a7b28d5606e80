"""The errors of memory.

    MemoryTrouble           the root of this room's tree
    ├── NotFound            nothing has that name or id
    ├── Damaged             what is on disk is not what was written
    ├── Approximate         it was read, and cannot be vouched for
    └── NotAPage            the picture is none of our pages
"""

from foundation.errors import PalimpsestError


class MemoryTrouble(PalimpsestError):
    """Something that memory could not do."""

    code = "memory"


class NotFound(MemoryTrouble):
    """Nothing has that name or id."""

    code = "not_found"


class Damaged(MemoryTrouble):
    """What is on disk is not what was written there."""

    code = "damaged"


class Approximate(MemoryTrouble):
    """The text was read from a picture whose hash does not match it."""

    code = "approximate"


class NotAPage(MemoryTrouble):
    """The picture holds none of our cells: an OCR engine may read it, the cell reader cannot."""

    code = "not_a_page"
