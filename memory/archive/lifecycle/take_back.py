"""Takes an archiving back: texts return to the store, and pages that nothing else needs are deleted.

Texts are read and stored before any page is deleted, a portion a transaction: a text is in the store or on its pages,
however the process ends, and a repeated call goes on.
"""

from collections.abc import Callable, Sequence
from functools import partial

import apsw

from foundation.program import PROGRAM
from memory.archive.lifecycle.release import return_texts
from memory.archive.packs.storage import Storage
from memory.archive.rows import archives as archive_rows
from memory.archive.rows.facts import seal
from memory.cold import ColdStore
from memory.cold.sql import batches, each, first, run
from memory.errors import Damaged
from memory.records import Entry

_AT_ONCE = 500_000
"""Characters of one transaction: each syncs the disk and writes the manifests of its packs."""


def take_back(
    cold: ColdStore,
    storage: Storage,
    ranges: Sequence[tuple[int, int]],
    archives: Sequence[int],
    *,
    text_of: Callable[[Entry], str | None],
    release: Callable[[Sequence[str]], None],
    on_entries: Callable[[int], None],
) -> int:
    """Takes the archiving of entries in these archives back; gives the number of entries whose text returned. `ranges`
    are the first and last seqs of the entries. Raises Damaged where a page cannot be read exactly: what was not
    reached stays on its pages."""
    count, due, chars = 0, list[tuple[Entry, str]](), 0

    def store() -> None:
        nonlocal count, due, chars
        cold.write(lambda db, due=tuple(due): return_texts(db, storage, due))
        count, due, chars = count + len(due), [], 0
        on_entries(count)

    seqs = [seq for first_last in ranges for seq in cold.read(partial(_archived, first_last=first_last))]
    for batch in batches(seqs):
        for entry in cold.entries(batch).values():
            text = text_of(entry)
            if text is None:
                raise Damaged(
                    "A page cannot be read",
                    f"Entry {entry.id} cannot be read exactly from its pages. It stays archived.",
                    f"`{PROGRAM} check --repair` mends what can be mended.",
                )
            due.append((entry, text))
            chars += len(text)
            if chars >= _AT_ONCE:
                store()
    if due:
        store()
    for archive in archives:
        release(cold.write(lambda db, archive=archive: _let_go(db, storage, archive)))
    return count


def _archived(db: apsw.Connection, first_last: tuple[int, int]) -> list[int]:
    sql = "SELECT seq FROM entries WHERE body IS NULL AND seq BETWEEN ? AND ? ORDER BY seq"
    return [seq for (seq,) in each(db, sql, first_last)]


def _let_go(db: apsw.Connection, storage: Storage, archive: int) -> list[str]:
    """Leaves the archive without its conversation, so that its pages are released; gives their ids."""
    if first(db, "SELECT 1 FROM archives WHERE seq = ? AND origin = 'conversation'", (archive,)) is None:  # gone
        return []
    pages = [page for (page,) in each(db, "SELECT id FROM pages WHERE archive = ?", (archive,))]
    held = [page for (page,) in each(db, "SELECT page FROM archive_pages WHERE archive = ?", (archive,))]
    packs = archive_rows.packs_of_archive(db, archive)
    run(db, "UPDATE archives SET conversation = NULL WHERE seq = ?", (archive,))
    seal(db, storage, packs)
    return sorted({*pages, *held})
