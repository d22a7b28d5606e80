"""Branches are read back to their anchor, and no further."""

import tempfile
from collections import Counter
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.cold import ColdStore, tree
from memory.cold.sql import run
from memory.errors import NotFound
from memory.records import EntryKind
from tests.examples import examples
from tests.memory.cold.drafts import open_store, said, summed_up

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


def chain(cold: ColdStore, conversation: int, count: int, parent: int | None = None) -> list[int]:
    """So many entries, each answering the one before; their seqs."""
    seqs: list[int] = []
    for number in range(count):
        parent = cold.append(said(conversation, f"word {number}", parent)).seq
        seqs.append(parent)
    return seqs


def seqs(entries: object) -> list[int]:
    return [entry.seq for entry in entries]


def test_a_branch_without_a_summary_is_the_path_from_the_root(cold: ColdStore) -> None:
    conversation = cold.new_conversation().seq
    path = chain(cold, conversation, 300)
    branch = cold.branch(path[-1])
    assert seqs(branch.entries) == path
    assert branch.summaries == ()
    assert seqs(cold.branch(path[10]).entries) == path[:11]


def test_branches_do_not_see_each_other(cold: ColdStore) -> None:
    conversation = cold.new_conversation().seq
    trunk = chain(cold, conversation, 3)
    left, right = chain(cold, conversation, 2, trunk[1]), chain(cold, conversation, 2, trunk[1])
    assert seqs(cold.branch(left[-1]).entries) == [*trunk[:2], *left]
    assert seqs(cold.branch(right[-1]).entries) == [*trunk[:2], *right]
    assert seqs(cold.children(trunk[1])) == [trunk[2], left[0], right[0]]


def test_a_summary_hides_what_stands_before_the_first_kept(cold: ColdStore) -> None:
    conversation = cold.new_conversation().seq
    path = chain(cold, conversation, 10)
    summary = cold.append(summed_up(conversation, path[-1], first_kept=path[7]))
    after = chain(cold, conversation, 2, summary.seq)
    branch = cold.branch(after[-1])
    assert branch.summaries == (summary,)
    assert seqs(branch.entries) == [*path[7:], *after]
    assert seqs(cold.branch(summary.seq).entries) == path[7:]


def test_earlier_summaries_in_view_come_first_and_are_no_entries(cold: ColdStore) -> None:
    conversation = cold.new_conversation().seq
    path = chain(cold, conversation, 6)
    first = cold.append(summed_up(conversation, path[-1], first_kept=path[4]))
    more = chain(cold, conversation, 4, first.seq)
    second = cold.append(summed_up(conversation, more[-1], first_kept=path[5], prior=(first.seq,)))
    last = chain(cold, conversation, 1, second.seq)
    branch = cold.branch(last[-1])
    assert branch.summaries == (first, second)
    assert seqs(branch.entries) == [path[5], *more, *last]


def test_a_summary_may_keep_nothing(cold: ColdStore) -> None:
    conversation = cold.new_conversation().seq
    path = chain(cold, conversation, 3)
    summary = cold.append(summed_up(conversation, path[-1], first_kept=None))
    assert cold.branch(summary.seq).entries == ()
    after = chain(cold, conversation, 2, summary.seq)
    assert seqs(cold.branch(after[-1]).entries) == after


def test_a_branch_above_the_summary_is_read_as_before(cold: ColdStore) -> None:
    conversation = cold.new_conversation().seq
    path = chain(cold, conversation, 5)
    cold.append(summed_up(conversation, path[-1], first_kept=path[4]))
    assert seqs(cold.branch(path[3]).entries) == path[:4]


def test_a_branch_ends_where_it_should_even_if_the_first_kept_is_on_another(cold: ColdStore) -> None:
    conversation = cold.new_conversation().seq
    path = chain(cold, conversation, 5)
    aside = chain(cold, conversation, 1, path[2])
    below = chain(cold, conversation, 2, path[-1])
    summary = cold.append(summed_up(conversation, below[-1], first_kept=aside[0]))
    assert seqs(cold.branch(summary.seq).entries) == below


def test_neighbours_are_along_the_path_and_the_newest_branch(cold: ColdStore) -> None:
    conversation = cold.new_conversation().seq
    path = chain(cold, conversation, 5)
    other = chain(cold, conversation, 3, path[2])
    assert seqs(cold.neighbours(path[2], 1, 2)) == [path[1], path[2], *other[:2]]
    assert seqs(cold.neighbours(path[0], 9, 0)) == [path[0]]
    with pytest.raises(NotFound):
        cold.neighbours(999, 1, 1)


def test_there_is_no_branch_of_nothing(cold: ColdStore) -> None:
    with pytest.raises(NotFound):
        cold.branch(1)


def test_a_path_is_read_a_page_at_a_time(cold: ColdStore) -> None:
    conversation = cold.new_conversation().seq
    path = chain(cold, conversation, 2 * tree.PAGE + 5)
    walk = cold.path(path[-1])
    assert [next(walk).seq for _ in range(3)] == path[-1:-4:-1]
    assert seqs(walk) == path[-4::-1]


def long_store(path: Path, count: int) -> tuple[ColdStore, int]:
    """A conversation of `count` entries, a summary that keeps twenty of them, and ten entries after; and its leaf."""
    cold = open_store(path, synchronous="off")
    conversation = cold.new_conversation().seq
    insert = """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        INSERT INTO entries (seq, conversation, id, parent, kind, role, time_ms, body, chars, sha256)
        SELECT i, ?, 'i' || i, CASE i WHEN 1 THEN NULL ELSE i - 1 END, 'message', 'user', i, 'words', 5, x'00' FROM n"""
    as_blob = insert.replace("'words'", "CAST('words' AS BLOB)")
    cold.write(lambda db: run(db, as_blob, (count, conversation)))
    summary = cold.append(summed_up(conversation, count, first_kept=count - 19))
    return cold, chain(cold, conversation, 10, summary.seq)[-1]


def test_reading_a_branch_costs_the_same_however_long_the_conversation(tmp_path: Path) -> None:
    """Counted in steps of SQLite's own machine: a time would say more of this computer than of the code."""
    steps: list[int] = []
    for count in (1_000, 100_000):
        cold, leaf = long_store(tmp_path / f"{count}.db", count)
        counted: Counter[str] = Counter()

        def read(db: apsw.Connection, leaf: int = leaf, counted: Counter[str] = counted) -> tree.Branch:
            def count_steps(event: dict[str, object]) -> None:
                status = event["stmt_status"]
                assert isinstance(status, dict)
                counted["steps"] += status["SQLITE_STMTSTATUS_VM_STEP"]
                counted["queries"] += 1

            db.trace_v2(apsw.SQLITE_TRACE_PROFILE, count_steps)
            found = tree.branch(db, leaf)
            db.trace_v2(0)
            return found

        branch = cold.read(read)
        assert len(branch.entries) == 30
        assert counted["queries"] <= 5
        steps.append(counted["steps"])
        cold.close()
    assert 0 < steps[1] <= 1.1 * steps[0]


def test_a_summary_is_never_a_tree_entry(cold: ColdStore) -> None:
    conversation = cold.new_conversation().seq
    path = chain(cold, conversation, 2)
    cold.append(summed_up(conversation, path[-1], first_kept=path[0]))
    leaf = cold.conversation_at(conversation).leaf
    assert leaf is not None
    assert all(entry.kind is not EntryKind.SUMMARY for entry in cold.branch(leaf).entries)


@settings(max_examples=examples(30), deadline=None)
@given(st.data())
def test_a_branch_is_what_the_rule_says_for_any_tree(data: st.DataObject) -> None:
    """Against the rule written plainly: the whole path, cut at the newest summary's first kept entry."""
    with tempfile.TemporaryDirectory() as folder:
        cold = open_store(Path(folder) / "cold.db", synchronous="off")
        conversation = cold.new_conversation().seq
        parents: dict[int, int | None] = {}
        kept: dict[int, int | None] = {}
        for _ in range(data.draw(st.integers(1, 40))):
            parent = data.draw(st.sampled_from([None, *list(parents)[-6:]]))
            if parent is not None and data.draw(st.integers(0, 4)) == 0:
                first = data.draw(st.sampled_from([None, *whole_path(parents, parent)]))
                seq = cold.append(summed_up(conversation, parent, first)).seq
                kept[seq] = first
            else:
                seq = cold.append(said(conversation, "word", parent)).seq
            parents[seq] = parent
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tree, "PAGE", data.draw(st.integers(1, 9)))
            for leaf in parents:
                way = whole_path(parents, leaf)
                anchors = [seq for seq in way if seq in kept]
                start = 0
                if anchors:
                    first = kept[anchors[-1]]
                    start = way.index(anchors[-1] if first is None else first)
                branch = cold.branch(leaf)
                assert seqs(branch.entries) == [seq for seq in way[start:] if seq not in kept]
                assert seqs(branch.summaries) == anchors[-1:]
                assert [entry.seq for entry in cold.path(leaf)] == way[::-1]
        cold.close()


def whole_path(parents: dict[int, int | None], leaf: int | None) -> list[int]:
    """From the root to the leaf."""
    way: list[int] = []
    while leaf is not None:
        way.append(leaf)
        leaf = parents[leaf]
    return way[::-1]
