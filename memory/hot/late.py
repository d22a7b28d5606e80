"""Words that an editor wrote to a file that had just changed places.

An editor that writes in place holds the old file open; what it writes then lands in the version. So a version that
was just kept is looked at again, and what is new in it goes into the file that stands there now.
"""

import time
from datetime import datetime
from pathlib import Path

from foundation.files import read_bytes, status
from memory.hot.edits import Edit
from memory.hot.racing import decode, merge_whole

_AWAITED_SECONDS = 10.0
_QUIET_SECONDS = 0.05  # an editor first empties the file and then writes it: let it finish


class Late:
    """One version that was just kept, with the bytes that it held."""

    def __init__(self, name: str, place: Path, body: bytes) -> None:
        self.name = name
        self.place = place
        self._body = body
        self._looked_at = -1  # its time stamp when it was last read
        self._since = time.monotonic()

    @property
    def size(self) -> int:
        return len(self._body)

    @property
    def is_over(self) -> bool:
        """No editor holds a file open for so long between reading and writing it."""
        return time.monotonic() - self._since > _AWAITED_SECONDS

    def words(self) -> bytes | None:
        """What the version holds now, if that is something else than it held."""
        try:
            found = status(self.place)
            if found is None or found.st_size == 0 or found.st_mtime_ns == self._looked_at:
                return None
            body = read_bytes(self.place)
        except OSError:  # thinned out, or forgotten: nothing is late any more
            return None
        if body == self._body:
            self._looked_at = found.st_mtime_ns if _is_quiet(found.st_mtime) else -1
            return None
        return body if _is_quiet(found.st_mtime) else None

    def edit(self, words: bytes, moment: datetime) -> Edit:
        """Works what is new in `words` into a text."""
        before, after = decode(self.place, self._body), decode(self.place, words)
        return lambda text: merge_whole(before, after, text, moment)


def _is_quiet(mtime: float) -> bool:
    return time.time() - mtime > _QUIET_SECONDS
