"""The one choke point for privacy before any write.

(The rules are to come; the type and the names are settled.)
"""

from typing import NewType

Cleared = NewType("Cleared", str)
"""Text that may be written to disk: nothing private, no secret. Made here and nowhere else."""
