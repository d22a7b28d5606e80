"""Words that an editor wrote to a file that had just changed places.

An editor that writes in place holds the old file open; what it writes then lands in the version. So a version that
was just kept is looked at again, and what is new in it goes into the file that stands there now.
"""

import time
from datetime import datetime
from pathlib import Path

from memory.hot.edits import Edit, appended, entry
from memory.hot.merge import merge
from memory.hot.racing import KEPT_HEADING, decode

_QUIET_SECONDS = 0.05  # an editor first empties the file and then writes it: let it finish


class Late:
    """One version that was just kept, with the bytes that it held."""

    def __init__(self, name: str, place: Path, body: bytes) -> None:
        self.name = name
        self.place = place
        self._body = body
        self._looked_at = -1  # its time stamp when it was last read

    def words(self) -> bytes | None:
        """What the version holds now, if that is something else than it held."""
        try:
            found = self.place.stat()
            if found.st_size == 0 or found.st_mtime_ns == self._looked_at:
                return None
            body = self.place.read_bytes()
        except OSError:  # thinned out, or forgotten: nothing is late any more
            return None
        if body == self._body:
            self._looked_at = found.st_mtime_ns if _is_quiet(found.st_mtime) else -1
            return None
        return body if _is_quiet(found.st_mtime) else None

    def edit(self, words: bytes, moment: datetime) -> Edit:
        """Works what is new in `words` into a text."""
        before, after = decode(self.place, self._body), decode(self.place, words)

        def work_in(text: str) -> str:
            merged = merge(before, after, text)
            if not merged.leftover:
                return merged.text
            return appended(merged.text, entry(moment, KEPT_HEADING, merged.leftover, None))

        return work_in


def _is_quiet(mtime: float) -> bool:
    return time.time() - mtime > _QUIET_SECONDS
