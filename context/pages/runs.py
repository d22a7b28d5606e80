"""The entries that earlier compactions removed from view, read from the leaf: a run for each summary."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from memory.records import Entry, EntryKind

MOST_RUNS = 64
_SHOWN = (EntryKind.MESSAGE, EntryKind.TOOL_RESULT)


class CompactionRun(Struct, frozen=True):
    """The entries that one compaction removed, oldest first. `summary` is its summary's seq; 0 for a planned one."""

    summary: int
    entries: tuple[Entry, ...]


class CompactionRuns(Struct, frozen=True):
    """Newest first. `all`: these are all runs of the branch."""

    runs: tuple[CompactionRun, ...] = ()
    all: bool = True


def read_runs(path: Iterable[Entry], in_view: frozenset[int], characters: int) -> CompactionRuns:
    """Reads the newest runs of the branch that `path` walks, newest first, up to so many characters.

    An entry belongs to the first compaction that covered it, and to none while it is in view. A summary comes after the
    last entry that it covers and before the first that the next one covers, so the walk ends at the first uncovered
    entry.
    """
    summaries: list[Entry] = []
    gone: list[Entry] = []
    floor, total, enough = 0, 0, False
    for entry in path:
        if entry.kind is EntryKind.SUMMARY:
            enough = enough or total >= characters or len(summaries) == MOST_RUNS
            if not enough:
                summaries.append(entry)
                floor = min(floor or entry.seq, _covers(entry)[0])
        elif summaries and entry.seq < floor:
            break
        elif summaries and entry.kind in _SHOWN and entry.seq not in in_view:
            gone.append(entry)
            total += entry.chars
    return CompactionRuns(tuple(_parted(summaries, gone)), not enough)


def _covers(summary: Entry) -> tuple[int, int]:
    first, last = summary.meta.get("covers") or (summary.seq, 0)
    return int(first), int(last)


def _parted(summaries: list[Entry], gone: list[Entry]) -> Iterator[CompactionRun]:
    """The runs, newest first, as are `summaries` and `gone`."""
    left = gone[::-1]
    found: list[CompactionRun] = []
    for summary in reversed(summaries):
        first, last = _covers(summary)
        found.append(CompactionRun(summary.seq, tuple(entry for entry in left if first <= entry.seq <= last)))
        left = [entry for entry in left if not first <= entry.seq <= last]
    return reversed(found)
