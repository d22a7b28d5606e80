"""Maintenance of the segments: writes new changes into new segments, merges small ones, purges removed entries.

One process at a time does it, whichever finds it due, and reads all input from the store and the disk: it shares no
state with concurrent searches, in its own process or in others. Each step ends with a file under its final name, so an
interrupted process leaves the earlier steps complete.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from foundation.files import LockTimeout, remove
from memory.cold import ColdStore
from memory.cold.changes import note_change
from memory.cold.sql import fetch
from memory.search.index import journal
from memory.search.index.builder import Rest, build
from memory.search.index.combined import belongs_to
from memory.search.index.documents import ENTRY_COLUMNS, NONE
from memory.search.index.journal import IndexChanges
from memory.search.index.merge import merge, starts_of, table
from memory.search.index.segment import (
    LISTS,
    POSTINGS,
    PostingsFooter,
    PostingsSegment,
    open_chain,
    path_for,
    section_of,
    superseded,
)
from memory.search.segments import collect_garbage, write_segment

_INDEXED = "FROM terms WHERE derived = 0"
AT_ONCE = 30_000  # changes in one segment: some seconds' work, and a hundred megabytes at most
_MERGE_RATIO = 3  # a segment is merged with the later ones when they hold a third as much
_MAX_SEGMENTS = 40  # that a build leaves to be merged at its end

OnIndexed = Callable[[int], None]
"""Receives the number of entries in the segments so far."""


def update_segments(
    cold: ColdStore, folder: Path, rest: Rest, on_step: OnIndexed, wait_s: float, *, purge: bool
) -> bool:
    """Brings the segments up to the store. With `purge` no removed entry stays in them.

    False where another process held the lock for `wait_s` seconds. Raises OSError where the disk refuses.
    """
    try:
        with POSTINGS.lock(folder, wait_s):
            _SegmentMaintenance(cold, folder, rest, on_step).run(purge=purge)
    except LockTimeout:
        return False
    return True


class _SegmentMaintenance:
    """One maintenance run. Requires the lock."""

    def __init__(self, cold: ColdStore, folder: Path, rest: Rest, on_step: OnIndexed) -> None:
        self._cold = cold
        self._folder = folder
        self._rest = rest
        self._on_step = on_step
        self._verified: set[str] = set()

    def run(self, *, purge: bool) -> None:
        segments = self._open()
        was_empty = not segments
        segments = self._write_changes(segments)
        if was_empty and self._note_strays(segments):
            segments = self._write_changes(segments)
        segments = self._merge_small(segments)
        if purge and (first := _first_with_removed(segments)) is not None:
            self._merge(segments[first:])
        collect_garbage(POSTINGS, self._folder, superseded(self._folder))

    def _open(self) -> list[PostingsSegment]:
        """The chain, with each file verified once, so that a merge copies no damage."""
        while True:
            segments = open_chain(self._folder, belongs_to(self._cold))
            new = [segment for segment in segments if segment.path.name not in self._verified]
            damaged = [segment for segment in new if not segment.file.is_whole()]
            if not damaged:
                self._verified.update(segment.path.name for segment in new)
                return segments
            for segment in damaged:
                remove(segment.path, missing_ok=True)

    def _write_changes(self, segments: list[PostingsSegment]) -> list[PostingsSegment]:
        """Writes segments for the changes up to now; a concurrent writer may add more all the time."""
        last = self._cold.last_change()
        for new in journal.changes_after(self._cold, _end(segments), AT_ONCE, last):
            self._write(_end(segments), new)
            segments = self._open()
            self._on_step(sum(segment.count for segment in segments))
            if len(segments) > _MAX_SEGMENTS:
                segments = self._merge_small(segments)
        return segments

    def _write(self, since: int, new: IndexChanges) -> None:
        built = build(new.rows, self._rest)
        with write_segment(path_for(self._folder, since, new.change), POSTINGS) as writer:
            for name in ENTRY_COLUMNS:
                writer.section(section_of(name), [built.columns[name]])
            writer.section("gone", [np.array(new.removed, "i8")])
            for name in LISTS:
                writer.section(name, [getattr(built.lists, name)])
            writer.finish(PostingsFooter(since, new.change, journal.operation_at(self._cold, new.change), built.names))

    def _note_strays(self, segments: list[PostingsSegment]) -> bool:
        """Adds entries to the journal that it lacks, as in a salvaged store; whether there were any."""
        count = self._cold.read(lambda db: fetch(db, f"SELECT count(*) {_INDEXED}"))[0][0]
        documents = table(segments)
        if self._cold.read_only or count <= documents.live_count:
            return False
        entries = np.array(self._cold.read(lambda db: fetch(db, f"SELECT entry {_INDEXED}")), "i8").reshape(-1)
        strays = set(entries[documents.rows_of(entries) == NONE].tolist())
        sql = "SELECT entry FROM changes WHERE seq > ?"  # read after the terms: a concurrent addition is no stray
        strays -= {row[0] for row in self._cold.read(lambda db: fetch(db, sql, (_end(segments),)))}
        if strays:
            self._cold.write(lambda db: note_change(db, "add", sorted(strays)))
        return bool(strays)

    def _merge_small(self, segments: list[PostingsSegment]) -> list[PostingsSegment]:
        """Merges the first segment that is small beside the later ones with all of them."""
        sizes = np.array([segment.count + len(segment.gone) for segment in segments])
        after = sizes.sum() - np.cumsum(sizes)
        small = np.flatnonzero(sizes[:-1] <= _MERGE_RATIO * after[:-1])
        if not len(small):
            return segments
        self._merge(segments[small[0] :])
        return self._open()

    def _merge(self, segments: Sequence[PostingsSegment]) -> None:
        since, change = segments[0].since, segments[-1].change
        with write_segment(path_for(self._folder, since, change), POSTINGS) as writer:
            names = merge(segments, table(segments), writer, self._rest)
            writer.finish(PostingsFooter(since, change, segments[-1].footer.mark, names))


def _end(segments: Sequence[PostingsSegment]) -> int:
    return segments[-1].change if segments else 0


def _first_with_removed(segments: Sequence[PostingsSegment]) -> int | None:
    """Index of the first segment with removed documents."""
    documents = table(segments)
    for index, (start, segment) in enumerate(zip(starts_of(segments), segments, strict=True)):
        if documents.dead(range(start, start + segment.count)):
            return index
    return None
