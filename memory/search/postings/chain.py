"""Which segments together are the index: a chain, each beginning at the change where the one before ends.

A file's name says which changes it holds: `postings-000000000000-000000004100.bin`. Files that are merged are deleted
after the merged one stands under its name, so a crash leaves a file too many and never one too few.
"""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from foundation.files import list_files, list_names, remove
from memory.search.postings.segment import Segment, open_segment

_NAME = re.compile(r"postings-(\d{12})-(\d{12})\.bin")
_ATTEMPTS = 10  # at opening what another process is merging just now


def path_for(folder: Path, since: int, change: int) -> Path:
    return folder / f"postings-{since:012d}-{change:012d}.bin"


def segments_in(folder: Path) -> list[Path]:
    """All segments of a folder, in and out of the chain."""
    with suppress(OSError):
        return [folder / name for name in list_names(folder) if _NAME.fullmatch(name)]
    return []


def chain(paths: list[Path]) -> list[Path]:
    """Those that reach furthest from the first change, as few as do."""
    best: dict[int, list[Path]] = {0: []}
    for path in sorted(paths, key=_range):
        since, change = _range(path)
        if since in best and since < change:
            here, there = [*best[since], path], best.get(change)
            if there is None or len(here) < len(there):
                best[change] = here
    return best[max(best)]


def open_chain(folder: Path, belongs: Callable[[Segment], bool]) -> list[Segment]:
    """The segments of the chain, open. Files that are damaged or do not belong to the store are deleted."""
    for attempt in range(_ATTEMPTS):
        paths = chain(segments_in(folder))
        opened = [open_segment(path) for path in paths]
        bad = [path for path, one in zip(paths, opened, strict=True) if not one or not belongs(one)]
        if not bad:
            return [one for one in opened if one]
        for path in bad:
            discard(path)
        if attempt:
            time.sleep(0.01)
    return []


def discard_others(folder: Path) -> None:
    """Deletes what the chain does not need, what another version left, and what a crash left half written. For who
    holds the lock: nobody else writes here then."""
    needed = set(chain(segments_in(folder)))
    for path in (*list_files(folder, "postings-*.bin"), *list_files(folder, ".postings-*.tmp")):
        if path not in needed:
            discard(path)


def discard(path: Path) -> None:
    """Deletes it. Windows keeps a file that somebody has mapped: it is deleted some later time then."""
    with suppress(OSError):
        remove(path)


def _range(path: Path) -> tuple[int, int]:
    since, change = path.stem.split("-")[1:]
    return int(since), int(change)
