"""Repacking: pages that have been in warm packs for a day are repacked, half as large, 64 pages a frame.

So are those of cold packs that were written until 0.3.2. A frame takes some 0.4 seconds of one core, so a run can be
bounded, and never delays an answer. One process at a time.
After an interruption at any point each page is in its old pack or in the new one.
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
from memory.archive.packs.storage import MIN_REPACK_AGE, PAGES_A_FRAME
from memory.archive.rows import pages as page_rows
from memory.cold import ColdStore
from memory.cold.sql import fetch
from memory.errors import OutOfDate, StoreBusy
from memory.pages.types import PageRow

FRAMES_AT_ONCE = 4
"""Frames of a pack in an unbounded run; a bounded run makes packs of one."""

_DUE_PAGES = """FROM pages p JOIN packs k ON k.name = p.pack WHERE k.created_ms <= ?
    AND (k.kind <> 'symbols' OR (SELECT count(*) FROM pages q WHERE q.pack = k.name) < ?)"""


class RepackResult(Struct, frozen=True):
    """Result of a run. Bytes are those of the deleted packs and of the new ones."""

    pages: int = 0
    packs: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    left: int = 0  # pages at rest that are still to be packed


class Repacker:
    """Repacks pages of one vault."""

    def __init__(self, cold: ColdStore, clock: Clock, mover: PageMover) -> None:
        self._cold = cold
        self._clock = clock
        self._mover = mover

    def due(self, min_age: timedelta = MIN_REPACK_AGE) -> int:
        """Number of pages at rest in warm packs."""
        before = to_ms(self._clock.now() - min_age)
        return self._cold.read(lambda db: page_rows.warm_pages(db, before))

    def run(
        self,
        *,
        min_age: timedelta = MIN_REPACK_AGE,
        least: int = PAGES_A_FRAME,
        seconds: float | None = None,
        on_page: Callable[[int], None] | None = None,
    ) -> RepackResult:
        """Repacks pages at rest, oldest first, while there are `least` of them and time is left.

        `on_page` receives the number of packed pages; an exception from it ends the run, and finished packs stay.
        Raises StoreBusy where another process repacks; Damaged where a page cannot be read exactly: its pack stays.
        """
        self._cold.refuse_read_only()
        lock = FileLock(self._cold.database.with_name("repack.lock"), timeout=0)
        try:
            lock.acquire()
        except LockTimeout as error:
            raise StoreBusy("Packing already", "Another palimpsest is packing pages.", "Wait until it ends.") from error
        try:
            return self._run(min_age, max(least, 1), seconds, on_page)
        finally:
            lock.release()

    def _run(
        self, min_age: timedelta, least: int, seconds: float | None, on_page: Callable[[int], None] | None
    ) -> RepackResult:
        ends = None if seconds is None else monotonic() + seconds
        most = PAGES_A_FRAME * (FRAMES_AT_ONCE if ends is None else 1)
        before, pages, packs, new_bytes = to_ms(self._clock.now() - min_age), 0, 0, 0
        bytes_before = self._bytes()
        while ends is None or monotonic() < ends:
            rows = self._cold.read(lambda db: _resting(db, before, most))
            if len(rows) < least:
                break
            pages_before = pages

            def report(packed: int, pages_before: int = pages_before) -> None:
                if on_page is not None:
                    on_page(pages_before + packed)

            try:
                written = self._mover.move(rows, COLD, report)
            except OutOfDate:  # a page was deleted meanwhile: look again
                continue
            pages, packs, new_bytes = pages + len(rows), packs + 1, new_bytes + written.size
        return RepackResult(
            pages=pages,
            packs=packs,
            bytes_before=bytes_before - self._bytes() + new_bytes,
            bytes_after=new_bytes,
            left=self.due(min_age),
        )

    def _bytes(self) -> int:
        return self._cold.read(lambda db: sum(row.size for row in page_rows.pack_rows(db)))


def _resting(db: apsw.Connection, before_ms: int, most: int) -> list[PageRow]:
    """Pages at rest, in the order of their archives, so that neighbours stay neighbours: as many as fill whole frames.

    Where they fill no frame, all of them; none where they are one cold pack already, which would only be rewritten.
    """
    sql = f"SELECT p.id, k.name, k.kind {_DUE_PAGES} ORDER BY p.archive, p.number LIMIT ?"
    due_rows = fetch(db, sql, (before_ms, PAGES_A_FRAME, most))
    due_rows = due_rows[: len(due_rows) // PAGES_A_FRAME * PAGES_A_FRAME] or due_rows
    if len({name for _, name, _ in due_rows}) == 1 and due_rows[0][2] == COLD:
        return []
    rows = page_rows.pages_by_id(db, [row[0] for row in due_rows])
    return [rows[row[0]] for row in due_rows]
