"""Pages of the archive that hold forgotten words, and whole conversations and archives that go.

A page cannot be edited: the archives that hold it are dissolved. The texts of all their entries return to their rows,
where the next step blanks them, the pages are deleted, and their packs are rewritten without them.
"""

from collections.abc import Collection, Iterator
from contextlib import suppress

import apsw

from foundation.program import PROGRAM
from memory.archive.rows import pages as page_rows
from memory.cold.sql import batches, each, first, marks, run
from memory.errors import NotFound, StorageUnreachable
from memory.forget.lineage import citing
from memory.forget.work import DAMAGED, UNREACHABLE, ForgetWork, StepCounts, entry_bytes, found_in

_EXISTS = "SELECT 1 FROM conversations WHERE seq = ?"


def forget_conversations(work: ForgetWork) -> StepCounts:
    """Deletes the conversations that go as a whole, with their pages, pictures and mirrors."""
    memory, pages, gone = work.memory, 0, 0
    for seq in work.job.conversations:
        if memory.cold.read(lambda db, seq=seq: first(db, _EXISTS, (seq,))) is None:
            continue
        with suppress(NotFound):  # another process was faster
            memory.mirrors.remove(seq)
            pages += len(memory.knowledge.delete_conversation(seq).pages)
            gone += 1
    memory.vault.finish_deletions()
    return StepCounts({"conversations": gone, "pages": pages})


def forget_pages(work: ForgetWork) -> StepCounts:
    """Brings the texts of archives that hold forgotten words back to their rows, and deletes their pages.

    Raises StorageUnreachable where pages cannot be read or deleted now: nobody knows whether they hold the words.
    """
    memory = work.memory
    archived, unreachable, damaged = _archived(work)
    if unreachable:
        raise _unreachable(unreachable)
    pages = memory.cold.write(lambda db: _dissolve(db, archived)) if archived else frozenset[str]()
    memory.vault.release(sorted(pages))
    if left := memory.cold.read(lambda db: _still_archived(db, archived)) if archived else []:
        raise _unreachable(len(left))
    return StepCounts({"pages": len(pages)}, tuple(_damaged_sentence(work, damaged)))


def _archived(work: ForgetWork) -> tuple[list[int], int, list[int]]:
    """Entries on pages that are forgotten, or that change; how many cannot be reached; which are damaged."""
    found, cited = set[int](), work.memory.cold.read(lambda db: citing(db, work))
    unreachable, damaged = 0, list[int]()
    for batch in entry_bytes(work.memory):
        on_pages = [entry for entry in batch if entry.is_archived]
        found.update(entry.seq for entry in on_pages if entry.seq in work.job.entries)
        found.update(entry.seq for entry in on_pages if entry.seq in cited)
        earlier = list(filter(work.is_earlier, on_pages))
        found.update(earlier[index].seq for index in found_in(work.prints, [entry.words for entry in earlier]))
        unreachable += sum(entry.unread == UNREACHABLE for entry in on_pages)
        damaged += [entry.seq for entry in on_pages if entry.unread == DAMAGED and entry.seq not in work.job.entries]
    return sorted(found), unreachable, damaged


def _unreachable(count: int) -> StorageUnreachable:
    return StorageUnreachable(
        "Not all pages can be read",
        f"{count:,} entries are on pages that cannot be read or deleted now and may contain the text.",
        f"Make the packs available; then `{PROGRAM} forget` continues.",
    )


def _damaged_sentence(work: ForgetWork, damaged: list[int]) -> Iterator[str]:
    if damaged:
        ids = [entry.id for entry in work.memory.conversations.entries(damaged[:20]).values()]
        yield (f"{len(damaged):,} entries on damaged pages could not be searched: {', '.join(ids)}.")


def _dissolve(db: apsw.Connection, entries: Collection[int]) -> frozenset[str]:
    """Detaches all archives of these entries' pages from their conversations; gives the pages of these archives."""
    pages = {span.page for seq in entries for span in page_rows.spans_of(db, seq)}
    archives = _archives_of(db, pages)
    for archive in archives:
        run(db, "UPDATE archives SET conversation = NULL, bare = 0 WHERE seq = ?", (archive,))
    return frozenset(pages)


def _archives_of(db: apsw.Connection, pages: Collection[str]) -> set[int]:
    archives: set[int] = set()
    for batch in batches(sorted(pages)):
        wanted = marks(batch)
        sql = f"""SELECT archive FROM pages WHERE id IN ({wanted})
                  UNION SELECT archive FROM archive_pages WHERE page IN ({wanted})"""
        archives.update(row[0] for row in each(db, sql, (*batch, *batch)))
    return archives


def _still_archived(db: apsw.Connection, entries: Collection[int]) -> list[int]:
    found: list[int] = []
    for batch in batches(sorted(entries)):
        sql = f"SELECT seq FROM entries WHERE body IS NULL AND chars > 0 AND seq IN ({marks(batch)})"
        found += [seq for (seq,) in each(db, sql, batch)]
    return found
