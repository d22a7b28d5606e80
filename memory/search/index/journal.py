"""Reads the store's journal of changes: rows that were added or changed, and entries that were removed."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from memory.cold import ColdStore
from memory.cold.changes import TermsRow


class IndexChanges(Struct, frozen=True):
    """Changes up to `change`: the current row of each entry, and the entries that have none."""

    change: int
    rows: list[TermsRow]
    removed: list[int]


def changes_after(cold: ColdStore, after: int, at_once: int, last: int) -> Iterator[IndexChanges]:
    """Changes after `after`, up to `last` or a little later, `at_once` at a time. An unfinished answer has no row, and
    counts as removed."""
    while after < last and (changes := cold.changes(after, at_once)):
        after = changes[-1].seq
        touched = list(dict.fromkeys(change.entry for change in changes if change.op != "archive"))
        rows = _rows(cold, touched)
        yield IndexChanges(after, rows, sorted({*touched}.difference(row.entry for row in rows)))


def operation_at(cold: ColdStore, change: int) -> tuple[str, int]:
    """Operation and entry of a change: they identify the store, because another store has another change there."""
    changes = cold.changes(change - 1, 1)
    return (changes[0].op, changes[0].entry) if changes and changes[0].seq == change else ("", 0)


def _rows(cold: ColdStore, entries: Sequence[int]) -> list[TermsRow]:
    """Rows of the entries. An import's are consecutive, and are read as a range: several times faster than each."""
    if not entries:
        return []
    first, last = min(entries), max(entries)
    if last - first < 2 * len(entries):
        requested = set(entries)
        return [row for row in cold.terms(first - 1, last - first + 1) if row.entry in requested]
    return list(cold.terms_of(entries).values())
