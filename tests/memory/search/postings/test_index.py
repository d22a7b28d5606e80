"""The index keeps up: with other processes, with removal, with damage."""

import os
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

from foundation.paths import Workspace
from memory.search.postings import index, snapshot
from memory.search.postings.index import Index
from memory.workspace_memory import Memory
from tests.memory.search.talk import Talk

ROOT = Path(__file__).parents[3]


@pytest.fixture
def small_snapshots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_DUE_AT_LEAST", 5)


def snapshots(memory: Memory) -> list[Path]:
    return snapshot.newest(memory.workspace.postings)


def scattered(talk: Talk, count: int, start: int = 0) -> None:
    talk.memory.cold.append_many(
        [
            talk.draft(f"fact number {number} of {'tea' if number % 2 else 'coffee'}", to=f"c{number % 7}")
            for number in range(start, start + count)
        ]
    )


def fresh_index(memory: Memory) -> Index:
    """Built from the rows alone."""
    fresh = Index(memory.cold, memory.workspace.root / f"nowhere-{time.monotonic_ns()}")
    fresh.catch_up()
    return fresh


def every_posting(some: Index) -> dict[str, list[tuple[int, int]]]:
    return {word: entries_with(some, word) for word in ("tea", "coffe", "fact", "number")}


def entries_with(some: Index, word: str) -> list[tuple[int, int]]:
    documents, counts = some.find(word)
    alive = some.documents["alive"][documents] == 1
    entries = some.documents["entry"][documents[alive]]
    return sorted(zip(entries.tolist(), counts[alive].tolist(), strict=True))


@pytest.mark.usefixtures("small_snapshots")
def test_snapshot_and_what_came_since_say_what_the_rows_say(talk: Talk, memory: Memory) -> None:
    kept = Index(memory.cold, memory.workspace.postings)
    for start, count in enumerate((8, 3, 9, 2)):
        scattered(talk, count, start=start * 20)
        kept.catch_up()
        fresh = fresh_index(memory)
        assert all(every_posting(kept).values())
        assert every_posting(kept) == every_posting(fresh)
        assert len(snapshots(memory)) <= 1
    assert kept.standing.documents.size  # there was a snapshot
    assert kept.recent.documents.count  # and not all of it came from there


@pytest.mark.usefixtures("small_snapshots")
def test_neighbours_are_the_same_after_a_snapshot_and_after_removal(talk: Talk, memory: Memory) -> None:
    scattered(talk, 30)
    kept = Index(memory.cold, memory.workspace.postings)
    kept.catch_up()
    scattered(talk, 4, start=30)
    memory.cold.delete_conversation(talk.seqs.pop("c3"))
    kept.catch_up()
    fresh = fresh_index(memory)
    assert links(kept) == links(fresh)
    assert (kept.documents.living, kept.documents.words) == (fresh.documents.living, fresh.documents.words)


def links(some: Index) -> dict[int, tuple[int, int]]:
    documents = some.documents
    entry = [*documents["entry"].tolist(), -1]
    return {
        entry[row]: (entry[documents["previous"][row]], entry[documents["following"][row]])
        for row in range(documents.count)
        if documents["alive"][row]
    }


@pytest.mark.usefixtures("small_snapshots")
def test_a_restart_reads_the_snapshot_and_not_the_rows(talk: Talk, memory: Memory) -> None:
    scattered(talk, 20)
    assert talk.ask("tea").total == 10
    (path,) = snapshots(memory)
    again = Index(memory.cold, memory.workspace.postings)
    again.catch_up()
    assert again.recent.counts.count == 0
    assert len(entries_with(again, "tea")) == 10
    assert path.name == snapshot.name_of(again.change)


@pytest.mark.usefixtures("small_snapshots")
def test_an_older_snapshot_never_takes_the_place_of_a_newer(talk: Talk, memory: Memory) -> None:
    slow, quick = (Index(memory.cold, memory.workspace.postings) for _ in range(2))
    scattered(talk, 20)
    slow.catch_up()
    scattered(talk, 20, start=20)
    quick.catch_up()
    slow.save()
    assert snapshots(memory)[0].name == snapshot.name_of(quick.change)
    latest = Index(memory.cold, memory.workspace.postings)
    latest.catch_up()
    assert len(entries_with(latest, "tea")) == 20
    assert len(snapshots(memory)) == 1


@pytest.mark.usefixtures("small_snapshots")
def test_what_a_crash_left_half_written_goes(talk: Talk, memory: Memory) -> None:
    memory.workspace.postings.mkdir(parents=True)
    left, fresh = (memory.workspace.postings / f".postings-000000000007.bin.{name}.tmp" for name in ("aa", "bb"))
    left.write_bytes(b"zeppelin")
    fresh.write_bytes(b"another process is at it")
    os.utime(left, (1, 1))
    scattered(talk, 20)
    talk.ask("tea")
    assert (left.exists(), fresh.exists()) == (False, True)


def damaged(path: Path) -> None:
    body = bytearray(path.read_bytes())
    body[len(body) // 2] ^= 1
    path.write_bytes(bytes(body))


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def of_another_analyser(path: Path) -> None:
    body = path.read_bytes()[12:].replace(b'"analyser":1,', b'"analyser":9,')
    path.write_bytes(b"PALPOST1" + zlib.crc32(body).to_bytes(4, "little") + body)


def of_another_store(path: Path) -> None:
    body = path.read_bytes()[12:].replace(b'"mark":["add",', b'"mark":["sub",')
    path.write_bytes(b"PALPOST1" + zlib.crc32(body).to_bytes(4, "little") + body)


@pytest.mark.usefixtures("small_snapshots")
@pytest.mark.parametrize("harm", [damaged, cut_short, emptied, of_another_analyser, of_another_store])
def test_a_snapshot_that_cannot_be_trusted_is_made_anew(talk: Talk, memory: Memory, harm) -> None:
    scattered(talk, 20)
    talk.ask("tea")
    (path,) = snapshots(memory)
    whole = path.read_bytes()
    harm(path)
    assert path.read_bytes() != whole
    again = Index(memory.cold, memory.workspace.postings)
    again.catch_up()
    assert len(entries_with(again, "tea")) == 10
    assert path.read_bytes() == whole


def test_a_store_that_was_put_back_to_an_older_state_is_read_anew(talk: Talk, memory: Memory) -> None:
    scattered(talk, 20)
    assert talk.ask("tea").found
    memory.cold.write(lambda db: [db.execute(f"DELETE FROM {table}") for table in ("changes", "terms")] and None)
    assert not talk.ask("tea").found


WRITER = """
import sys
from pathlib import Path
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.cold import Draft, EntryKind
from memory.workspace_memory import Memory
from models.messages import Role
memory = Memory.open(Workspace(Path(sys.argv[1])), SystemClock())
conversation = memory.cold.latest().seq
memory.cold.append(Draft(conversation=conversation, parent=None, kind=EntryKind.MESSAGE, role=Role.USER,
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


@pytest.mark.usefixtures("small_snapshots")
def test_what_was_removed_is_not_found_and_leaves_the_disk(talk: Talk, memory: Memory) -> None:
    talk.say("the zeppelin has landed", to="secret")
    scattered(talk, 20)
    assert talk.ask("zeppelin").found
    assert b"zeppelin" in snapshots(memory)[0].read_bytes()
    memory.cold.delete_conversation(talk.seqs.pop("secret"))
    assert not talk.ask("zeppelin").found
    memory.search.update()
    assert not any(b"zeppelin" in path.read_bytes() for path in memory.workspace.postings.iterdir())
    assert talk.ask("tea").total == 10


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
@pytest.mark.usefixtures("small_snapshots")
def test_where_the_disk_refuses_the_search_goes_on_and_says_so(talk: Talk, memory: Memory) -> None:
    memory.workspace.postings.mkdir()
    memory.workspace.postings.chmod(0o500)
    scattered(talk, 20)
    assert talk.ask("tea").total == 10
    assert "could not be written" in memory.search.trouble


@pytest.mark.usefixtures("small_snapshots")
def test_a_file_in_the_folders_place_does_not_stop_the_search(talk: Talk, memory: Memory) -> None:
    memory.workspace.postings.write_text("in the way")
    scattered(talk, 20)
    assert talk.ask("tea").total == 10
    assert "could not be written" in memory.search.trouble


@pytest.mark.usefixtures("small_snapshots")
def test_catching_up_costs_by_what_is_new(talk: Talk, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    scattered(talk, 60)
    talk.ask("tea")
    rows: list[int] = []
    put = Index._put
    monkeypatch.setattr(Index, "_put", lambda self, row: (rows.append(row.entry), put(self, row))[1])
    talk.say("one more")
    talk.ask("tea")
    assert len(rows) == 1
