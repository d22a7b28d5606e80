"""What the store's journal of changes says: rows that were put, and entries that are gone."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from memory.cold import ColdStore
from memory.cold.changes import TermsRow


class IndexChanges(Struct, frozen=True):
    """What came after a change, up to `change`: each entry's row as it is now, and the entries that have none."""

    change: int
    rows: list[TermsRow]
    gone: list[int]


def news(cold: ColdStore, after: int, at_once: int, last: int) -> Iterator[IndexChanges]:
    """What came after the change `after` up to `last`, and maybe a little more, some changes at a time. An answer still
    in flight has no row, and is gone."""
    while after < last and (changes := cold.changes(after, at_once)):
        after = changes[-1].seq
        touched = list(dict.fromkeys(change.entry for change in changes if change.op != "archive"))
        rows = _rows(cold, touched)
        yield IndexChanges(after, rows, sorted({*touched}.difference(row.entry for row in rows)))


def mark(cold: ColdStore, change: int) -> tuple[str, int]:
    """What the change was: a segment of another store would have another there."""
    found = cold.changes(change - 1, 1)
    return (found[0].op, found[0].entry) if found and found[0].seq == change else ("", 0)


def _rows(cold: ColdStore, entries: Sequence[int]) -> list[TermsRow]:
    """An import's entries follow one another, and are read as a stretch: several times faster than one by one."""
    if not entries:
        return []
    first, last = min(entries), max(entries)
    if last - first < 2 * len(entries):
        wanted = set(entries)
        return [row for row in cold.terms(first - 1, last - first + 1) if row.entry in wanted]
    return list(cold.terms_of(entries).values())
