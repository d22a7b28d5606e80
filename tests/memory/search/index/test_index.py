"""The index keeps up: with other processes, with removal, with damage, while it is built and merged."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from foundation.paths import Workspace
from memory.cold import changes
from memory.memory import Memory
from memory.search.index import combined, index, maintenance, segment
from memory.search.index.documents import NONE
from memory.search.index.index import IndexProgress, SearchIndex
from memory.search.index.segment import chain, path_for
from tests.memory.search.conversation import Talk
from tests.memory.search.index.contents import (
    entries_with,
    every_posting,
    fresh_index,
    rested,
    rows_on_disk,
    scattered,
    segments,
)
from tests.paths import ROOT


@pytest.mark.usefixtures("small_segments")
def test_segments_and_what_came_since_say_what_the_rows_say(talk: Talk, memory: Memory) -> None:
    kept = SearchIndex(memory.cold, memory.workspace.postings)
    for start, count in enumerate((8, 3, 30, 2, 9, 1)):
        scattered(talk, count, start=start * 40)
        rested(kept)
        fresh = fresh_index(memory)
        assert all(every_posting(kept).values())
        assert every_posting(kept) == every_posting(fresh)
        assert links(kept) == links(fresh)
    assert segments(memory)
    assert kept.documents.count > rows_on_disk(memory)  # and not all of it came from there
    assert sorted(memory.workspace.postings.glob("postings-*.bin")) == segments(memory)


def test_many_at_once_say_what_one_by_one_says(talk: Talk, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once, one_by_one = (SearchIndex(memory.cold, memory.workspace.root / name) for name in ("a", "b"))
    for start, count in enumerate((8, 3, 30, 2, 9, 1)):
        scattered(talk, count, start=start * 40)
        if start == 3:
            memory.cold.delete_conversation(talk.seqs.pop("c3"))
            seqs = [row.entry for row in memory.cold.terms(0)][::3]
            memory.cold.write(lambda db, seqs=seqs: changes.note_change(db, "change", seqs))
        monkeypatch.setattr(combined, "_BULK_FROM", 4)
        at_once.catch_up()
        monkeypatch.setattr(combined, "_BULK_FROM", 1000)
        one_by_one.catch_up()
        assert every_posting(at_once) == every_posting(one_by_one)
        assert links(at_once) == links(one_by_one)
        entries = [row.entry for row in memory.cold.terms(0)]
        for each in (at_once, one_by_one):
            assert NONE not in each.documents.rows_of(np.array(entries))
            assert NONE not in map(each.documents.find, entries)
            assert each.documents.live_count == len(entries)


@pytest.mark.usefixtures("small_segments")
def test_neighbours_are_the_same_after_a_merge_and_after_removal(talk: Talk, memory: Memory) -> None:
    scattered(talk, 30)
    kept = rested(SearchIndex(memory.cold, memory.workspace.postings))
    scattered(talk, 4, start=30)
    memory.cold.delete_conversation(talk.seqs.pop("c3"))
    kept.catch_up()
    fresh = fresh_index(memory)
    assert links(kept) == links(fresh)
    assert (kept.documents.live_count, kept.documents.term_count) == (
        fresh.documents.live_count,
        fresh.documents.term_count,
    )


def links(some: SearchIndex) -> dict[int, tuple[int, int]]:
    documents = some.documents
    entry = [*documents["entry"].tolist(), -1]
    return {
        entry[row]: (entry[documents["previous"][row]], entry[documents["following"][row]])
        for row in range(documents.count)
        if documents["alive"][row]
    }


@pytest.mark.usefixtures("small_segments")
def test_a_restart_reads_the_segments_and_not_the_rows(talk: Talk, memory: Memory) -> None:
    scattered(talk, 20)
    rested(SearchIndex(memory.cold, memory.workspace.postings))
    again = SearchIndex(memory.cold, memory.workspace.postings)
    again.catch_up()
    assert rows_on_disk(memory) == again.documents.count == 20
    assert len(entries_with(again, "tea")) == 10


@pytest.mark.usefixtures("small_segments")
def test_few_segments_stand_however_much_came(talk: Talk, memory: Memory) -> None:
    kept = SearchIndex(memory.cold, memory.workspace.postings)
    for start in range(0, 150, 6):
        scattered(talk, 6, start=start)
        rested(kept)
    assert 1 <= len(segments(memory)) <= 6
    assert len(entries_with(kept, "tea")) == 75


def test_few_long_entries_leave_memory_as_many_short_ones_do(
    talk: Talk, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "DUE_POSTINGS", 1000)
    kept = SearchIndex(memory.cold, memory.workspace.postings)
    for start in range(0, 3000, 300):
        talk.say(" ".join(f"word{number}" for number in range(start, start + 300)))
        rested(kept)
    assert rows_on_disk(memory) >= 6
    assert kept.documents.count == 10
    assert len(entries_with(kept, "word2999")) == 1


@pytest.mark.usefixtures("small_segments")
def test_two_indexes_keep_one_chain(talk: Talk, memory: Memory) -> None:
    one, other = (SearchIndex(memory.cold, memory.workspace.postings) for _ in range(2))
    for start in range(0, 120, 20):
        scattered(talk, 20, start=start)
        one.catch_up()
        other.catch_up()
    one.update()
    other.update()
    latest = fresh_index(memory)
    assert every_posting(rested(one)) == every_posting(rested(other)) == every_posting(latest)
    assert sorted(memory.workspace.postings.glob("postings-*.bin")) == segments(memory)


@pytest.mark.usefixtures("small_segments")
def test_one_process_at_a_time_keeps_the_segments(talk: Talk, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_LOCK_WAIT_S", 0.1)
    folder = memory.workspace.postings
    folder.mkdir(parents=True)
    half = folder / ".postings-000000000000-000000000007.bin.aa.tmp"
    half.write_bytes(b"another process is at it")
    scattered(talk, 20)
    with FileLock(folder / segment.POSTINGS.lock_name):
        memory.search.update()
        assert (segments(memory), half.exists()) == ([], True)
        assert talk.ask("tea").total == 10
    memory.search.update()
    assert (len(segments(memory)), half.exists()) == (1, False)


def test_the_chain_is_what_reaches_furthest_in_the_fewest_steps(tmp_path: Path) -> None:
    def paths(*ranges: tuple[int, int]) -> list[Path]:
        return [path_for(tmp_path, *each) for each in ranges]

    assert chain([]) == []
    assert chain(paths((0, 5), (5, 9), (0, 9), (9, 12))) == paths((0, 9), (9, 12))
    assert chain(paths((0, 5), (0, 7), (5, 9))) == paths((0, 5), (5, 9))
    assert chain(paths((3, 9), (0, 2))) == paths((0, 2))
    assert chain(paths((0, 3), (3, 4), (4, 9), (0, 5), (5, 9))) == paths((0, 5), (5, 9))


@pytest.mark.usefixtures("small_segments")
def test_what_a_crash_left_half_written_goes(talk: Talk, memory: Memory) -> None:
    memory.workspace.postings.mkdir(parents=True)
    left = memory.workspace.postings / ".postings-000000000000-000000000007.bin.aa.tmp"
    older = memory.workspace.postings / "postings-000000000007.bin"
    for path in (left, older):
        path.write_bytes(b"zeppelin")
    scattered(talk, 20)
    memory.search.update()
    assert not left.exists()
    assert not older.exists()
    assert talk.ask("tea").total == 10


def test_a_store_that_was_put_back_to_an_older_state_is_read_anew(talk: Talk, memory: Memory) -> None:
    scattered(talk, 20)
    assert talk.ask("tea").found
    memory.cold.write(lambda db: [db.execute(f"DELETE FROM {table}") for table in ("changes", "terms")] and None)
    assert not talk.ask("tea").found


@pytest.mark.parametrize("is_large", [False, True])
def test_entries_that_the_journal_lost_are_found(
    talk: Talk, memory: Memory, monkeypatch: pytest.MonkeyPatch, *, is_large: bool
) -> None:
    scattered(talk, 20)
    memory.cold.write(lambda db: db.execute("DELETE FROM changes WHERE seq < 15") and None)
    if is_large:
        monkeypatch.setattr(index, "DUE", 5)
        memory.search.update()
    assert talk.ask("tea").total == 10


WRITER = """
import sys
from pathlib import Path
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.records import EntryDraft, EntryKind
from memory.memory import Memory
from models.messages import Role
memory = Memory.open(Workspace(Path(sys.argv[1])), SystemClock())
conversation = memory.cold.latest().seq
memory.cold.append(EntryDraft(conversation=conversation, parent=None, kind=EntryKind.MESSAGE, role=Role.USER,
                         text=as_given("the zeppelin has landed")))
memory.close()
"""


def test_what_another_process_writes_is_found(talk: Talk, workspace: Workspace) -> None:
    talk.say("tea")
    assert not talk.ask("zeppelin").found
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", WRITER, str(workspace.root)], check=True, env=environment)
    assert talk.found("zeppelin") == ["the zeppelin has landed"]


def test_an_answer_is_found_once_it_is_finished(talk: Talk, memory: Memory) -> None:
    talk.say("what has landed?")
    answer = memory.cold.begin_answer(talk.draft(""))
    assert not talk.ask("zeppelin").found
    answer.finish(talk.draft("the zeppelin").text)
    assert talk.found("zeppelin") == ["the zeppelin"]


@pytest.mark.usefixtures("small_segments")
def test_what_was_removed_is_not_found_and_leaves_the_disk(talk: Talk, memory: Memory) -> None:
    talk.say("the zeppelin has landed", to="secret", speaker="Ferdinand")
    scattered(talk, 20)
    memory.search.update()
    assert talk.ask("zeppelin").found
    assert on_disk(memory, b"zeppelin")
    assert on_disk(memory, b"Ferdinand")
    memory.cold.delete_conversation(talk.seqs.pop("secret"))
    assert not talk.ask("zeppelin").found
    memory.search.update()
    assert not on_disk(memory, b"zeppelin")
    assert not on_disk(memory, b"Ferdinand")
    assert talk.ask("tea").total == 10


def on_disk(memory: Memory, piece: bytes) -> bool:
    return any(piece in path.read_bytes() for path in memory.workspace.postings.iterdir())


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
@pytest.mark.usefixtures("small_segments")
def test_where_the_disk_refuses_the_search_goes_on_and_says_so(talk: Talk, memory: Memory) -> None:
    memory.workspace.postings.mkdir()
    memory.workspace.postings.chmod(0o500)
    scattered(talk, 20)
    assert talk.ask("tea").total == 10
    memory.search.update()
    assert "could not be written" in memory.search.trouble
    assert talk.ask("tea").total == 10


@pytest.mark.usefixtures("small_segments")
def test_a_file_in_the_folders_place_does_not_stop_the_search(
    talk: Talk, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "AT_ONCE", 10)
    memory.workspace.postings.write_text("in the way")
    scattered(talk, 20)
    memory.search.update()
    assert "could not be written" in memory.search.trouble
    assert talk.ask("tea").total == 10


@pytest.mark.usefixtures("small_segments")
def test_catching_up_costs_by_what_is_new(talk: Talk, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    scattered(talk, 60)
    kept = rested(SearchIndex(memory.cold, memory.workspace.postings))
    rows: list[int] = []
    put = combined.CombinedIndex.put
    monkeypatch.setattr(combined.CombinedIndex, "put", lambda self, row: (rows.append(row.entry), put(self, row))[1])
    talk.say("one more")
    kept.catch_up()
    assert len(rows) == 1


@pytest.mark.usefixtures("small_segments")
def test_the_newest_is_found_while_the_rest_is_being_built(
    talk: Talk, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "AT_ONCE", 30)
    monkeypatch.setattr(index, "_NEWEST", 4)
    monkeypatch.setattr(index, "_BUILD_WAIT_S", 0.01)
    monkeypatch.setattr(index, "_REFRESH_S", 0.0)
    go_on, build = threading.Semaphore(0), maintenance.build

    def waiting(*given):
        assert go_on.acquire(timeout=5)
        return build(*given)

    monkeypatch.setattr(maintenance, "build", waiting)
    scattered(talk, 60)
    kept = SearchIndex(memory.cold, memory.workspace.postings)
    kept.catch_up()
    assert kept.is_partial
    assert kept.building == IndexProgress(done=4, total=60)
    assert len(entries_with(kept, "fact")) == 4
    talk.say("a fact of last minute")
    kept.catch_up()
    assert len(entries_with(kept, "fact")) == 5
    for _ in range(6):  # as many segments as leave less than is read at once
        go_on.release()
    until = time.monotonic() + 5
    while kept.is_partial and time.monotonic() < until:
        kept.catch_up()
        time.sleep(0.01)
    assert len(entries_with(kept, "fact")) == 61
    for _ in range(9):
        go_on.release()
    rested(kept)
    assert kept.building is None


@pytest.mark.usefixtures("small_segments")
def test_segments_are_kept_while_somebody_writes_all_the_time(
    talk: Talk, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    scattered(talk, 20)
    build = maintenance.build

    def written_meanwhile(*given):
        scattered(talk, 1, start=100 + len(built))
        built.append(1)
        assert len(built) < 20
        return build(*given)

    built: list[int] = []
    monkeypatch.setattr(maintenance, "build", written_meanwhile)
    memory.search.update()
    assert segments(memory)
    assert memory.cold.last_change() == len(memory.cold.terms(0))  # and nobody noted the new ones once more


def test_an_entry_is_found_at_once_while_segments_are_merged(
    talk: Talk, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    scattered(talk, 20)
    memory.search.update()
    scattered(talk, 20, start=20)
    merging, go_on, merge = threading.Event(), threading.Event(), maintenance.merge

    def waiting(*given):
        merging.set()
        assert go_on.wait(5)
        return merge(*given)

    monkeypatch.setattr(maintenance, "merge", waiting)
    updating = threading.Thread(target=memory.search.update)
    updating.start()
    assert merging.wait(5)
    talk.say("the zeppelin has landed")
    assert talk.found("zeppelin") == ["the zeppelin has landed"]
    go_on.set()
    updating.join()
    assert talk.ask("tea").total == 20
    assert talk.found("zeppelin") == ["the zeppelin has landed"]
