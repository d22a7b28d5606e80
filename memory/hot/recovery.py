"""Recovery of interrupted writes, and of edits that arrive late.

A write that was interrupted leaves temporary files; `settle_leftovers` merges and removes them. One that is still
staged was never in place: it is removed unread. An editor that writes in place holds the old file open, and what it
writes lands in the version that was just kept. So a version is read again for a while (`RecentVersion`), and its new
lines are merged into the current file.
"""

import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from foundation.files import STAGED, NotUtf8, exists, is_file, list_files, read_bytes, remove, status
from foundation.files.atomic_exchange import ASIDE, link_if_free
from memory.hot.edits import Edit, append_block, format_entry
from memory.hot.merge import union_lines
from memory.hot.parse import lines_of
from memory.hot.swap import SWAP, ExposedStates, KeepVersion, apply_edit, content_digest, decode, merge_or_append

_AWAITED_SECONDS = 10.0
_QUIET_SECONDS = 0.05  # an editor first empties the file and then writes it: let it finish


class RecentVersion:
    """A version that was just kept, with the bytes that it held."""

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
        """Whether to stop waiting: no editor holds a file open this long between reading and writing it."""
        return time.monotonic() - self._since > _AWAITED_SECONDS

    def changed_content(self) -> bytes | None:
        """The version's current content, where it changed; None while it is still being written."""
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

    def edit(self, content: bytes, moment: datetime) -> Edit:
        """An edit that merges what is new in `content`."""
        before, after = decode(self.place, self._body), decode(self.place, content)
        return lambda text: merge_or_append(before, after, text, moment)


def _is_quiet(mtime: float) -> bool:
    return time.time() - mtime > _QUIET_SECONDS


CUT_OFF_HEADING = "Saved from an interrupted write"


def target_name(leftover: Path) -> str:
    """The name of the file that a leftover is of."""
    return leftover.name[1 : leftover.name.index(".md.") + 3]


def settle_leftovers(folder: Path, keep: KeepVersion, moment: datetime) -> list[Path]:
    """Settles every leftover in the folder, so that no text exists only there; returns the files that it settled."""
    settled: list[Path] = []
    for leftover in list_files(folder, ".*.md.*"):
        if leftover.name.endswith(f"{SWAP}{STAGED}"):
            remove(leftover, missing_ok=True)
            continue
        path = folder / target_name(leftover)
        if leftover.suffix not in (SWAP, ASIDE) or (exists(path) and not is_file(path)):
            continue
        _settle(path, leftover, keep, moment)
        settled.append(path)
    return settled


def _settle(path: Path, leftover: Path, keep: KeepVersion, moment: datetime) -> None:
    body = read_bytes(leftover)
    if not exists(path) and link_if_free(leftover, path):  # cut off between moving it aside and putting ours there
        remove(leftover)
        return
    if leftover.suffix == ASIDE or content_digest(body) not in leftover.name.split("."):  # a person's words came out
        with suppress(NotUtf8):
            theirs = decode(leftover, body)
            apply_edit(path, lambda text: _with_lines(text, theirs, moment), keep, moment, ExposedStates())
    keep(leftover, body)


def _with_lines(text: str, other: str, moment: datetime) -> str:
    """The text, with the other text's missing lines appended as an entry."""
    ours, theirs = lines_of(text), lines_of(other)
    if len(ours) + len(theirs) > 20_000:
        known = set(ours)
        extra = [line for line in theirs if line not in known]
    else:
        joined = union_lines(ours, theirs)
        extra = [line for line in joined if line not in set(ours)]
    missing = "".join(extra).strip()
    return append_block(text, format_entry(moment, CUT_OFF_HEADING, missing, None)) if missing else text
