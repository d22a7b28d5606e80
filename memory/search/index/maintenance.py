"""Keeping the segments: what came since goes into new ones, small ones are merged, what was removed leaves them.

One process at a time does it, whichever finds it due, and reads all that it needs from the store and the disk: it
shares nothing with the searches that go on meanwhile, in its own process or in others. Each step ends with a file under
its name, so a process that is stopped in the middle leaves the steps before done.
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
from memory.search.index.combined import belonging
from memory.search.index.documents import NONE, TOLD
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

AT_ONCE = 30_000  # changes in one segment: some seconds' work, and a hundred megabytes at most
_TIMES = 3  # a segment is merged with what came after it when that is a third as much
_MOST = 40  # segments that a build leaves to be merged at its end

OnIndexed = Callable[[int], None]
"""Told how many entries the segments hold so far."""


def keep(cold: ColdStore, folder: Path, rest: Rest, on_step: OnIndexed, wait_s: float, *, purge: bool) -> bool:
    """Brings the segments up to the store. With `purge` nothing that was removed stays in them.

    False where another process was at it for all of `wait_s` seconds. Raises OSError where the disk refuses.
    """
    try:
        with POSTINGS.lock(folder, wait_s):
            _MaintenanceLock(cold, folder, rest, on_step).run(purge=purge)
    except LockTimeout:
        return False
    return True


class _MaintenanceLock:
    """What holds the lock."""

    def __init__(self, cold: ColdStore, folder: Path, rest: Rest, on_step: OnIndexed) -> None:
        self._cold = cold
        self._folder = folder
        self._rest = rest
        self._on_step = on_step
        self._looked_through: set[str] = set()

    def run(self, *, purge: bool) -> None:
        segments = self._open()
        was_empty = not segments
        segments = self._written(segments)
        if was_empty and self._note_strays(segments):
            segments = self._written(segments)
        segments = self._tidied(segments)
        if purge and (first := _first_with_dead(segments)) is not None:
            self._merge(segments[first:])
        collect_garbage(POSTINGS, self._folder, superseded(self._folder))

    def _open(self) -> list[PostingsSegment]:
        """The chain, each file looked through once, so that no damage is handed on."""
        while True:
            segments = open_chain(self._folder, belonging(self._cold))
            new = [one for one in segments if one.path.name not in self._looked_through]
            damaged = [one for one in new if not one.file.is_whole()]
            if not damaged:
                self._looked_through.update(one.path.name for one in new)
                return segments
            for one in damaged:
                remove(one.path, missing_ok=True)

    def _written(self, segments: list[PostingsSegment]) -> list[PostingsSegment]:
        """With new segments for all that came since, up to now: somebody may go on writing all the time."""
        last = self._cold.last_change()
        for new in journal.news(self._cold, _end(segments), AT_ONCE, last):
            self._write(_end(segments), new)
            segments = self._open()
            self._on_step(sum(one.count for one in segments))
            if len(segments) > _MOST:
                segments = self._tidied(segments)
        return segments

    def _write(self, since: int, new: IndexChanges) -> None:
        built = build(new.rows, self._rest)
        with write_segment(path_for(self._folder, since, new.change), POSTINGS) as writer:
            for name in TOLD:
                writer.section(section_of(name), [built.columns[name]])
            writer.section("gone", [np.array(new.gone, "i8")])
            for name in LISTS:
                writer.section(name, [getattr(built.lists, name)])
            writer.finish(PostingsFooter(since, new.change, journal.mark(self._cold, new.change), built.names))

    def _note_strays(self, segments: list[PostingsSegment]) -> bool:
        """Entries that the journal does not know, in a store that was salvaged, are noted in it; whether there were."""
        count = self._cold.read(lambda db: fetch(db, "SELECT count(*) FROM terms"))[0][0]
        documents = table(segments)
        if self._cold.read_only or count <= documents.living:
            return False
        entries = np.array(self._cold.read(lambda db: fetch(db, "SELECT entry FROM terms")), "i8").reshape(-1)
        strays = set(entries[documents.rows_of(entries) == NONE].tolist())
        sql = "SELECT entry FROM changes WHERE seq > ?"  # asked after the terms: what is new meanwhile is no stray
        strays -= {row[0] for row in self._cold.read(lambda db: fetch(db, sql, (_end(segments),)))}
        if strays:
            self._cold.write(lambda db: note_change(db, "add", sorted(strays)))
        return bool(strays)

    def _tidied(self, segments: list[PostingsSegment]) -> list[PostingsSegment]:
        """With the first segment that is small beside what came after it merged with all of that."""
        sizes = np.array([one.count + len(one.gone) for one in segments])
        after = sizes.sum() - np.cumsum(sizes)
        small = np.flatnonzero(sizes[:-1] <= _TIMES * after[:-1])
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


def _first_with_dead(segments: Sequence[PostingsSegment]) -> int | None:
    """The first segment with documents that do not live any more."""
    documents = table(segments)
    for place, (start, one) in enumerate(zip(starts_of(segments), segments, strict=True)):
        if documents.dead(range(start, start + one.count)):
            return place
    return None
