"""Segments of the postings: files of documents and term lists, chained by the changes of the store.

A segment holds what the store's changes above `since`, up to `change`, put or removed; its name says which:
`postings-000000000000-000000004100.bin`. The chain, in which each segment begins at the change where the one before
ends, is the index. The columns of documents have room for those that come later.
"""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from foundation.files import list_files
from memory.search import segments
from memory.search.column import Column
from memory.search.index.documents import COLUMNS
from memory.search.index.postings import PostingLists
from memory.search.segments import SegmentFile, SegmentKind

LISTS = {"text": "u1", "edges": "u4", "hashes": "u8", "starts": "u4", "documents": "i4", "counts": "u1"}
_OPEN_ATTEMPTS = 10  # another process may merge segments that were just listed


def section_of(column: str) -> str:
    """Section name of a document column."""
    return f"document.{column}"


class PostingsFooter(Struct, frozen=True):
    """`mark` is the operation and the entry of `change`; `names` are those that the columns refer to."""

    since: int
    change: int
    mark: tuple[str, int]
    names: list[str]


POSTINGS = SegmentKind(
    prefix="postings",
    name=re.compile(r"postings-(\d{12})-(\d{12})\.bin"),
    lock_name="postings.lock",
    magic=b"PALPOST2",
    dtypes={"gone": "i8", **LISTS, **{section_of(column): dtype for column, dtype in COLUMNS.items()}},
    footer=PostingsFooter,
    check_limit=16 << 20,  # a hundredth of a second; a larger file is checked while it is in use
    appendable=True,
)


class PostingsSegment(Struct, frozen=True):
    """An open segment. `columns` have room beyond their `count` rows, sorted by entry, and include links only in
    segments from the first change on. `gone` are removed entries that earlier segments may hold."""

    file: SegmentFile[PostingsFooter]
    count: int
    columns: dict[str, Column]
    gone: Column
    lists: PostingLists

    @property
    def path(self) -> Path:
        return self.file.path

    @property
    def footer(self) -> PostingsFooter:
        return self.file.footer

    @property
    def since(self) -> int:
        return self.footer.since

    @property
    def change(self) -> int:
        return self.footer.change

    @property
    def rows(self) -> dict[str, Column]:
        """The columns without their room."""
        return {name: column[: self.count] for name, column in self.columns.items()}


def open_segment(path: Path) -> PostingsSegment | None:
    """None where the file is missing, truncated, of another format, or small and damaged."""
    try:
        file = segments.open_segment(path, POSTINGS)
        return None if file is None else _opened(file)
    except (OSError, KeyError):
        return None


def _opened(file: SegmentFile[PostingsFooter]) -> PostingsSegment:
    return PostingsSegment(
        file=file,
        count=file.sections[section_of("entry")].count,
        columns={name: file.columns[section_of(name)] for name in COLUMNS if section_of(name) in file.columns},
        gone=file.columns["gone"],
        lists=PostingLists(**{name: file.columns[name] for name in LISTS}),
    )


def path_for(folder: Path, since: int, change: int) -> Path:
    return folder / f"postings-{since:012d}-{change:012d}.bin"


def segments_in(folder: Path) -> list[Path]:
    """All segments of a folder, in and out of the chain."""
    with suppress(OSError):
        return POSTINGS.paths(folder)
    return []


def chain(paths: list[Path]) -> list[Path]:
    """The fewest segments that reach furthest from the first change."""
    best: dict[int, list[Path]] = {0: []}
    for path in sorted(paths, key=_range):
        since, change = _range(path)
        if since in best and since < change:
            new, known = [*best[since], path], best.get(change)
            if known is None or len(new) < len(known):
                best[change] = new
    return best[max(best)]


def open_chain(folder: Path, belongs: Callable[[PostingsSegment], bool]) -> list[PostingsSegment]:
    """Opens the segments of the chain. Deletes files that are damaged or of another store."""
    for attempt in range(_OPEN_ATTEMPTS):
        paths = chain(segments_in(folder))
        opened = [open_segment(path) for path in paths]
        bad = [path for path, segment in zip(paths, opened, strict=True) if not segment or not belongs(segment)]
        if not bad:
            return [segment for segment in opened if segment]
        for path in bad:
            discard(path)
        if attempt:
            time.sleep(0.01)
    return []


def superseded(folder: Path) -> list[Path]:
    """Segments that the chain does not need, and those of other formats."""
    needed = set(chain(segments_in(folder)))
    return [path for path in list_files(folder, "postings-*.bin") if path not in needed]


def discard(path: Path) -> None:
    """Deletes a segment where the disk allows it; a reader continues without it either way."""
    with suppress(OSError):
        segments.discard(path)


def _range(path: Path) -> tuple[int, int]:
    since, change = path.stem.split("-")[1:]
    return int(since), int(change)
