"""Entries that earlier compactions removed from view, read from the leaf: one run per summary."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from memory.records import UNDOES, Entry, EntryKind

MOST_RUNS = 64
_SHOWN = (EntryKind.MESSAGE, EntryKind.TOOL_RESULT)


class CompactionRun(Struct, frozen=True):
    """Entries that one compaction removed, oldest first. `summary` is the seq of its summary."""

    summary: int
    entries: tuple[Entry, ...]


class CompactionRuns(Struct, frozen=True):
    """Runs of a branch, newest first. `all`: no older run exists."""

    runs: tuple[CompactionRun, ...] = ()
    all: bool = True


def read_runs(path: Iterable[Entry], in_view: frozenset[int], characters: int) -> CompactionRuns:
    """Reads the newest runs of a branch, up to `characters`. `path` yields its entries, newest first.

    An entry belongs to the first compaction that covered it, and to none while it is in view, or where the compaction
    was undone. A summary follows the last entry that it covers and precedes the first entry that the next summary
    covers, so the walk ends at the first uncovered entry.
    """
    summaries: list[Entry] = []
    removed: list[Entry] = []
    first_covered, total, enough = 0, 0, False
    undone: set[int] = set()
    for entry in path:
        if UNDOES in entry.meta:
            undone.add(int(entry.meta[UNDOES]))
        elif entry.kind is EntryKind.SUMMARY and entry.seq not in undone:
            enough = enough or total >= characters or len(summaries) == MOST_RUNS
            if not enough:
                summaries.append(entry)
                first_covered = min(first_covered or entry.seq, _covers(entry)[0])
        elif summaries and entry.seq < first_covered:
            break
        elif summaries and entry.kind in _SHOWN and entry.seq not in in_view:
            removed.append(entry)
            total += entry.chars
    return CompactionRuns(tuple(_split_runs(summaries, removed)), not enough)


def _covers(summary: Entry) -> tuple[int, int]:
    first, last = summary.meta.get("covers") or (summary.seq, 0)
    return int(first), int(last)


def _split_runs(summaries: list[Entry], removed: list[Entry]) -> Iterator[CompactionRun]:
    """Runs, newest first, as are `summaries` and `removed`."""
    remaining = removed[::-1]
    runs: list[CompactionRun] = []
    for summary in reversed(summaries):
        first, last = _covers(summary)
        runs.append(CompactionRun(summary.seq, tuple(entry for entry in remaining if first <= entry.seq <= last)))
        remaining = [entry for entry in remaining if not first <= entry.seq <= last]
    return reversed(runs)
