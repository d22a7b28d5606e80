"""What compactions let go is read back run by run, and no further than is asked."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from context.pages.runs import read_runs
from memory.records import Entry, EntryKind
from models.messages import Role


def entry(seq: int, kind: EntryKind = EntryKind.MESSAGE, **meta: Any) -> Entry:
    return Entry(
        seq=seq,
        id=f"e_{seq}",
        conversation="c",
        conversation_seq=1,
        parent=seq - 1,
        kind=kind,
        role=Role.USER,
        time=datetime(2026, 3, 14, tzinfo=UTC),
        text="word " * 20,
        chars=100,
        meta=meta,
    )


def branch() -> list[Entry]:
    """Twelve messages; 1–4 left with summary 7, 5–8 with summary 10, and 9, 11, 12 are in view. Newest first."""
    messages = {seq: entry(seq) for seq in (1, 2, 3, 4, 5, 6, 8, 9, 11, 12)}
    messages[7] = entry(7, EntryKind.SUMMARY, covers=[1, 4], first_kept=5)
    messages[10] = entry(10, EntryKind.SUMMARY, covers=[5, 8], first_kept=9)
    return [messages[seq] for seq in sorted(messages, reverse=True)]


def seqs(path: list[Entry], characters: int, in_view: frozenset[int] = frozenset({9, 11, 12})) -> list[list[int]]:
    return [[one.seq for one in run.entries] for run in read_runs(path, in_view, characters).runs]


def test_each_compaction_is_a_run_the_newest_first() -> None:
    found = read_runs(branch(), frozenset({9, 11, 12}), 10_000)
    assert [run.summary for run in found.runs] == [10, 7]
    assert seqs(branch(), 10_000) == [[5, 6, 8], [1, 2, 3, 4]]
    assert found.all


def test_enough_is_enough() -> None:
    found = read_runs(branch(), frozenset({9, 11, 12}), 50)
    assert [run.summary for run in found.runs] == [10]
    assert not found.all


def test_an_entry_that_is_still_in_view_belongs_to_no_run() -> None:
    assert seqs(branch(), 10_000, frozenset({6, 9, 11, 12})) == [[5, 8], [1, 2, 3, 4]]


def test_the_walk_ends_where_no_compaction_reached() -> None:
    read: list[int] = []

    def watched() -> Iterator[Entry]:
        older = [entry(-n) for n in range(500)]
        for one in [*branch(), *older]:
            read.append(one.seq)
            yield one

    read_runs(watched(), frozenset({9, 11, 12}), 10_000)
    assert read[-1] == 0  # one beyond the first that a compaction covers


def test_a_branch_without_compactions_has_no_runs() -> None:
    assert read_runs([entry(n) for n in range(9, 0, -1)], frozenset(), 1000).runs == ()
