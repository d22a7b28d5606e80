"""Vector store of one embedder: a folder of segments, shared by all processes of the workspace.

New vectors become a small segment; small segments are merged into larger ones, so that a million vectors are in some
ten files and each was rewritten a few times. A merged segment names its inputs: where a crash left both, readers use
the newer alone.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from threading import Lock, RLock

import numpy as np

from foundation.files import FileLock, is_file, status
from memory.search.column import Column
from memory.search.segments import collect_garbage, discard
from memory.search.vectors import segment as files
from memory.search.vectors.segment import VECTORS, VectorRows, VectorSegment

LARGEST = 262_144  # rows: with 384 dimensions 100 MB, which the removal of one entry rewrites
_TOGETHER = 8  # segments of one size class that are merged
_SMALLEST = 1024  # rows: below this all are of one size class
_LOCK_WAIT = 30.0  # seconds: writing the largest takes one or two
_LOOKS = 3  # a merge in another process may delete a segment that was just listed


class VectorStore:
    """Safe to call from any thread; writing methods raise OSError, and LockTimeout where another process holds the
    folder. `segments` are those of the last `look`."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self.folder = folder
        self.dimensions = dimensions
        self.segments: tuple[VectorSegment, ...] = ()
        self._names: frozenset[str] = frozenset()
        self._looking = RLock()
        self._writing = Lock()

    def look(self) -> tuple[VectorSegment, ...]:
        """Loads new segments of other processes. Deletes damaged files: their entries lack a vector again."""
        with self._looking:
            for _ in range(_LOOKS):
                names = self._present()
                if names == self._names or self._load(names):
                    break
            return self.segments

    @property
    def entries(self) -> int:
        """Number of entries that have been embedded, blank ones included."""
        return sum(segment.header.entries for segment in self.segments)

    @property
    def rows(self) -> int:
        return sum(segment.header.rows for segment in self.segments)

    @property
    def bytes(self) -> int:
        """Size on disk of the files in use."""
        return sum(file_status.st_size for segment in self.segments if (file_status := status(segment.path)))

    def has(self, entries: Column) -> Column:
        """Whether each of them has been embedded."""
        is_embedded = np.zeros(len(entries), bool)
        for segment in self.look():
            first, last = segment.places(entries)
            is_embedded |= last > first
        return is_embedded

    def checks(self, entries: Column) -> Column:
        """The check of each entry's text as it was embedded; 0 where it was not."""
        values = np.zeros(len(entries), np.uint64)
        for segment in self.look():
            first, last = segment.places(entries)
            is_here = last > first
            values[is_here] = segment.rows.check[first[is_here]]
        return values

    def notes(self) -> Column:
        """The notes that have been embedded: keys below 0."""
        parts = [np.unique(s.rows.entry[: np.searchsorted(s.rows.entry, 0)]) for s in self.look()]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def put(self, rows: VectorRows) -> None:
        """Adds the rows; they are on disk when it returns."""
        if len(rows):
            with self._writing, self._locked():
                self.replace_segments([rows], ())
                while due := self._due():
                    self.replace_segments([segment.rows for segment in due], due)

    def drop(self, entries: Column) -> bool:
        """Purges these entries from the files, and the leftovers of a crash. Whether there was any of them."""
        if not self.has(entries).any():
            if self._superseded() or VECTORS.unfinished(self.folder):
                with self._writing, self._locked():
                    collect_garbage(VECTORS, self.folder, self._superseded())
            return False
        with self._writing, self._locked():
            for segment in self.look():
                first, last = segment.places(entries)
                if gone := int((last - first).sum()):
                    if gone == segment.header.rows:
                        discard(segment.path)
                    if is_file(segment.path):  # Windows cannot delete mapped files: an empty file marks it as deleted
                        self.replace_segments([segment.rows], [segment], without=entries)
            self.look()
        return True

    def clear(self) -> None:
        """Deletes every segment."""
        with self._writing, self._locked():
            for name in self._present():
                discard(self.folder / name)
            self.look()

    def prove(self) -> None:
        """Reads every vector, and deletes the files that are damaged."""
        for segment in self.look():
            if not segment.file.is_whole():
                discard(segment.path)
        self.look()

    def _locked(self) -> FileLock:
        return VECTORS.lock(self.folder, _LOCK_WAIT)

    def _present(self) -> frozenset[str]:
        return frozenset(path.name for path in VECTORS.paths(self.folder))

    def _load(self, names: frozenset[str]) -> bool:
        """False where a segment was deleted meanwhile."""
        known = {segment.name: segment for segment in self.segments}
        loaded: list[VectorSegment] = []
        for name in sorted(names):
            try:
                segment = known.get(name) or files.load(self.folder / name, self.dimensions)
            except FileNotFoundError:
                return False
            if segment is None:
                discard(self.folder / name)
            else:
                loaded.append(segment)
        replaced = {name for segment in loaded for name in segment.header.replaces}
        self.segments = tuple(segment for segment in loaded if segment.name not in replaced)
        self._names = names
        return True

    def replace_segments(
        self, parts: Sequence[VectorRows], instead_of: Sequence[VectorSegment], without: Column | None = None
    ) -> None:
        """Writes one segment in place of others, which are deleted after it is there. Requires the lock."""
        number = max(map(files.number_of, self._present()), default=0) + 1
        path = self.folder / files.name_of(number)
        files.write(path, parts, self.dimensions, without=without, replaces=[old.name for old in instead_of])
        self.look()
        for segment in instead_of:
            discard(segment.path)
        collect_garbage(VECTORS, self.folder, self._superseded())
        self.look()

    def _superseded(self) -> list[Path]:
        """Files whose rows are in a newer segment: left by a crash, or by Windows."""
        replaced = {name for segment in self.segments for name in segment.header.replaces} & self._present()
        return [self.folder / name for name in replaced]

    def _due(self) -> list[VectorSegment]:
        """Segments of one size class to merge; none where there are fewer than eight of them."""
        sizes: dict[int, list[VectorSegment]] = {}
        for segment in self.segments:
            if segment.header.rows < LARGEST:
                sizes.setdefault(_size_class(segment.header.rows), []).append(segment)
        for same_size in sizes.values():
            totals = np.cumsum([segment.header.rows for segment in same_size])
            fitting = int(np.count_nonzero(totals <= LARGEST))
            if len(same_size) >= _TOGETHER and fitting > 1:
                return same_size[:fitting]
        return []


def _size_class(rows: int) -> int:
    return 0 if rows < _SMALLEST else int(math.log(rows / _SMALLEST, _TOGETHER)) + 1
