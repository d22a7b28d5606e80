"""Errors of syncing.

Misuse
└── NoSyncPlace        the location cannot be used
SegmentDamaged         a segment is not what was written
└── UnprovenSegment    nothing shows that a device of this location wrote it
NewerSegment           a newer program wrote it
NoKey                  a segment is encrypted, and no key of this device opens it
"""

from foundation.errors import Misuse, PalimpsestError
from memory.errors import Damaged


class NoSyncPlace(Misuse):
    """The location holds other files, lies in the workspace, or is not one."""

    code = "no_sync_place"


class SegmentDamaged(Damaged):
    """A segment is torn, or differs from what was written."""


class UnprovenSegment(SegmentDamaged):
    """A segment that anybody could have written, at a location where devices encrypt what they write."""


class NewerSegment(PalimpsestError):
    """A newer program wrote this. It is not damaged, and is left as it is."""

    code = "newer_segment"


class NoKey(PalimpsestError):
    """A segment is encrypted for other keys."""

    code = "no_key"
