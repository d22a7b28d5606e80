"""Pages come to rest: what has stood in warm packs for a day is packed anew, a third tighter, 64 pages a frame.

A frame takes some five seconds of one core, so a run may be bounded, and is never on the way of an answer. One process
does it at a time. Stopped anywhere, each page stands where it stood or where it went.
"""

from collections.abc import Callable
from datetime import timedelta
from time import monotonic

import apsw
from msgspec import Struct

from foundation.clock import Clock, to_ms
from foundation.files import FileLock, LockTimeout
from memory.archive.lifecycle.move import PageMover
from memory.archive.packs.pack import COLD
from memory.archive.packs.storage import AT_REST, PAGES_A_FRAME
from memory.archive.rows import pages as page_rows
from memory.cold import ColdStore
from memory.cold.sql import fetch
from memory.errors import OutOfDate, StoreBusy
from memory.pages.types import PageRow

FRAMES_AT_ONCE = 4
"""Frames of a pack where there is all the time; a bounded run makes packs of one."""

_AT_REST = """FROM pages p JOIN packs k ON k.name = p.pack WHERE k.created_ms <= ?
    AND (k.kind = 'warm' OR (SELECT count(*) FROM pages q WHERE q.pack = k.name) < ?)"""


class RepackResult(Struct, frozen=True):
    """What a run did. Bytes are of the packs that went and of those that came."""

    pages: int = 0
    packs: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    left: int = 0  # pages at rest that are still to be packed


class Repacker:
    """One vault's."""

    def __init__(self, cold: ColdStore, clock: Clock, moving: PageMover) -> None:
        self._cold = cold
        self._clock = clock
        self._moving = moving

    def due(self, rest: timedelta = AT_REST) -> int:
        """How many pages in warm packs have come to rest."""
        before = to_ms(self._clock.now() - rest)
        return self._cold.read(lambda db: page_rows.warm_pages(db, before))

    def run(
        self,
        *,
        rest: timedelta = AT_REST,
        least: int = PAGES_A_FRAME,
        seconds: float | None = None,
        on_page: Callable[[int], None] | None = None,
    ) -> RepackResult:
        """Packs what is at rest, the oldest first, while there are `least` pages of it and time is left.

        `on_page` is told how many pages are packed; what it raises ends the run: packs that are done stay so. Raises
        StoreBusy where another process is at it; Damaged where a page cannot be read exactly: its pack stays as it is.
        """
        self._cold.refuse_read_only()
        lock = FileLock(self._cold.database.with_name("repack.lock"), timeout=0)
        try:
            lock.acquire()
        except LockTimeout as error:
            raise StoreBusy(
                "Packing already", "Another palimpsest is bringing pages to rest.", "Let it end."
            ) from error
        try:
            return self._run(rest, max(least, 1), seconds, on_page)
        finally:
            lock.release()

    def _run(
        self, rest: timedelta, least: int, seconds: float | None, on_page: Callable[[int], None] | None
    ) -> RepackResult:
        ends = None if seconds is None else monotonic() + seconds
        most = PAGES_A_FRAME * (FRAMES_AT_ONCE if ends is None else 1)
        before, pages, packs, came = to_ms(self._clock.now() - rest), 0, 0, 0
        weighed = self._bytes()
        while ends is None or monotonic() < ends:
            rows = self._cold.read(lambda db: _resting(db, before, most))
            if len(rows) < least:
                break
            done = pages

            def told(packed: int, done: int = done) -> None:
                if on_page is not None:
                    on_page(done + packed)

            try:
                written = self._moving.move(rows, COLD, told)
            except OutOfDate:  # a page was deleted meanwhile: look again
                continue
            pages, packs, came = pages + len(rows), packs + 1, came + written.size
        return RepackResult(
            pages=pages,
            packs=packs,
            bytes_before=weighed - self._bytes() + came,
            bytes_after=came,
            left=self.due(rest),
        )

    def _bytes(self) -> int:
        return self._cold.read(lambda db: sum(row.size for row in page_rows.pack_rows(db)))


def _resting(db: apsw.Connection, before_ms: int, most: int) -> list[PageRow]:
    """Pages at rest, in the order of their archives, so that neighbours stay neighbours: as many as fill frames.

    Where they fill none, all of them; and none where they are one cold pack already, which would only come again.
    """
    sql = f"SELECT p.id, k.name, k.kind {_AT_REST} ORDER BY p.archive, p.number LIMIT ?"
    found = fetch(db, sql, (before_ms, PAGES_A_FRAME, most))
    found = found[: len(found) // PAGES_A_FRAME * PAGES_A_FRAME] or found
    if len({name for _, name, _ in found}) == 1 and found[0][2] == COLD:
        return []
    rows = page_rows.pages_by_id(db, [row[0] for row in found])
    return [rows[row[0]] for row in found]
