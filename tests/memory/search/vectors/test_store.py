"""A folder of vectors: what was put is there, for every process, whatever was cut off; what is dropped is nowhere."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace

from foundation.files import atomic
from memory.search.vectors import segment as files
from memory.search.vectors import store as stores
from memory.search.vectors.segment import VectorRows
from memory.search.vectors.similarity import inverse_lengths
from memory.search.vectors.store import VectorStore
from tests.examples import examples
from tests.paths import ROOT

SIZE = 8


def rows(*entries: int, chunks: int = 1, seed: int | None = None) -> VectorRows:
    """Vectors that say whose they are: entry n is full of n's low byte, or by chance."""
    entry = np.repeat(np.array(entries, np.int64), chunks)
    vectors = np.repeat((entry % 120 + 1).astype(np.int8)[:, None], SIZE, axis=1)
    if seed is not None:
        vectors = np.random.default_rng(seed).integers(1, 100, vectors.shape, dtype=np.int8)
    return VectorRows(
        entry=entry,
        check=(np.abs(entry) * 3 + 1).astype(np.uint64),
        chunk=np.tile(np.arange(chunks, dtype=np.uint16), len(entries)),
        inverse=inverse_lengths(vectors),
        vectors=vectors,
    )


def held(store: VectorStore) -> dict[int, list[list[int]]]:
    """The vectors of each entry, in the order of its chunks."""
    found: dict[int, list[list[int]]] = {}
    for segment in store.look():
        assert segment.rows.entry.tolist() == sorted(segment.rows.entry.tolist())
        for entry, vector in zip(segment.rows.entry.tolist(), segment.rows.vectors.tolist(), strict=True):
            found.setdefault(entry, []).append(vector)
    return found


@pytest.fixture
def store(tmp_path: Path) -> VectorStore:
    return VectorStore(tmp_path / "vectors", SIZE)


def test_what_was_put_is_there_for_another_process(store: VectorStore) -> None:
    store.put(rows(5, 3, 9, chunks=2))
    other = VectorStore(store.folder, SIZE)
    assert held(other) == held(store) == {n: [[n + 1] * SIZE] * 2 for n in (3, 5, 9)}
    assert (other.entries, other.rows) == (3, 6)


def test_it_says_what_it_has(store: VectorStore) -> None:
    store.put(rows(1, 2))
    store.put(rows(7, -4))
    assert store.has(np.array([1, 2, 3, 7, -4])).tolist() == [True, True, False, True, True]
    assert store.checks(np.array([7, 3])).tolist() == [22, 0]
    assert store.notes().tolist() == [-4]
    assert store.entries == 3  # a note is no entry


def test_small_files_become_large_ones(store: VectorStore) -> None:
    for number in range(40):
        store.put(rows(number, number + 100))
    assert len(store.segments) < 10
    assert set(held(store)) == set(range(40)) | set(range(100, 140))
    assert {path.name for path in store.folder.glob("*.bin")} == {segment.name for segment in store.segments}


def test_the_largest_are_left_alone(store: VectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "LARGEST", 100)
    monkeypatch.setattr(stores, "_SMALLEST", 8)
    for number in range(60):
        store.put(rows(*range(number * 10, number * 10 + 10)))
    assert len(held(store)) == 600
    assert max(segment.header.rows for segment in store.segments) <= 100


def test_of_what_is_dropped_no_byte_is_left(store: VectorStore) -> None:
    secret = np.array([[101, 3, 77, 14, 90, 66, 31, 5]], np.int8)
    some = rows(50)
    store.put(rows(*range(30)))
    store.put(VectorRows(some.entry, np.array([0x1122334455667788], np.uint64), some.chunk, some.inverse, secret))
    assert any(secret.tobytes() in path.read_bytes() for path in store.folder.iterdir())
    assert store.drop(np.array([50, 60]))
    for path in store.folder.iterdir():
        assert secret.tobytes() not in path.read_bytes()
        assert bytes.fromhex("8877665544332211") not in path.read_bytes()
    assert sorted(held(store)) == list(range(30))
    assert not store.drop(np.array([50]))


def test_all_of_it_can_be_dropped(store: VectorStore) -> None:
    store.put(rows(1, 2))
    store.drop(np.array([1, 2]))
    assert held(store) == {}
    assert not list(store.folder.glob("*.bin"))


def test_other_processes_see_what_is_dropped(store: VectorStore) -> None:
    store.put(rows(1, 2))
    other = VectorStore(store.folder, SIZE)
    other.look()
    store.drop(np.array([1]))
    assert other.has(np.array([1, 2])).tolist() == [False, True]


def test_other_processes_see_what_takes_the_place_of_what_was_dropped(store: VectorStore) -> None:
    store.put(rows(1, seed=1))
    other = VectorStore(store.folder, SIZE)
    other.look()
    store.drop(np.array([1]))
    store.put(rows(1, seed=2))
    assert held(other) == {1: rows(1, seed=2).vectors.tolist()}


@pytest.mark.parametrize("at", [0, 9, 14, 60, 150, -1])
def test_a_damaged_file_is_deleted(at: int, store: VectorStore) -> None:
    store.put(rows(1, 2))
    path = store.segments[0].path
    body = bytearray(path.read_bytes())
    body[at] ^= 0x41
    path.write_bytes(body)
    assert held(VectorStore(store.folder, SIZE)) == {}
    assert not path.exists()


@pytest.mark.parametrize("length", [0, 5, 40, 200])
def test_a_file_that_was_cut_off_is_deleted(length: int, store: VectorStore) -> None:
    store.put(rows(1, 2))
    path = store.segments[0].path
    path.write_bytes(path.read_bytes()[:length])
    assert held(VectorStore(store.folder, SIZE)) == {}
    assert not path.exists()


def test_damage_among_many_vectors_is_found_by_proving(store: VectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "VECTORS", replace(files.VECTORS, check_limit=0))
    store.put(rows(1, 2))
    path = store.segments[0].path
    body = bytearray(path.read_bytes())
    body[store.segments[0].file.sections["vectors"].offset] ^= 1
    path.write_bytes(body)
    other = VectorStore(store.folder, SIZE)
    assert set(held(other)) == {1, 2}
    other.prove()
    assert held(other) == {}
    assert not path.exists()


def test_a_file_that_cannot_be_read_just_now_is_not_deleted(
    store: VectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(rows(1))

    def refuse(*_: object) -> None:
        raise PermissionError(13, "no")

    with monkeypatch.context() as patch:
        patch.setattr(files, "load", refuse)
        with pytest.raises(PermissionError):
            VectorStore(store.folder, SIZE).look()
    assert set(held(VectorStore(store.folder, SIZE))) == {1}


def test_vectors_of_another_size_are_not_taken(store: VectorStore) -> None:
    store.put(rows(1))
    assert VectorStore(store.folder, SIZE * 2).look() == ()


def test_a_merge_that_a_crash_cut_off_shows_nothing_twice(store: VectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new file is there, the old ones are not deleted yet."""
    store.put(rows(1))
    store.put(rows(2))
    monkeypatch.setattr(stores, "discard", lambda _: None)
    monkeypatch.setattr(stores, "collect_garbage", lambda *_: None)
    store.replace_segments([segment.rows for segment in store.segments], store.segments)
    assert len(list(store.folder.glob("*.bin"))) == 3
    other = VectorStore(store.folder, SIZE)
    assert held(other) == {1: [[2] * SIZE], 2: [[3] * SIZE]}
    monkeypatch.undo()
    other.put(rows(3))
    assert len(list(store.folder.glob("*.bin"))) == 2


def test_half_a_file_that_a_crash_left_goes_with_the_next_look_for_removed(store: VectorStore) -> None:
    store.put(rows(1))
    left = store.folder / ".vectors-0000000009.bin.abc123.tmp"
    left.write_bytes(b"words of somebody")
    store.drop(np.array([77]))
    assert not left.exists()
    assert set(held(store)) == {1}


def test_a_disk_that_refuses_leaves_what_was_there(store: VectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put(rows(1))

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "sync_handle", refuse)
        with pytest.raises(OSError, match="No space"):
            store.put(rows(2))
    assert set(held(store)) == {1}
    assert not list(store.folder.glob("*.tmp"))


def test_threads_read_while_others_write(store: VectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "_SMALLEST", 4)
    store.put(rows(0))
    wrong: list[Any] = []
    over = threading.Event()

    def read() -> None:
        other = VectorStore(store.folder, SIZE)
        while not over.is_set():
            found = held(other)
            if found.get(0) != [[1] * SIZE] or any(len(each) != 1 for each in found.values()):
                wrong.append(found)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(1, 60):
        store.put(rows(number))
        if number % 7 == 0:
            store.drop(np.array([number - 1]))
    over.set()
    for reader in readers:
        reader.join()
    assert not wrong
    assert len(held(store)) == 60 - 8


_WRITER = """
import sys
from pathlib import Path
from tests.memory.search.vectors.test_store import SIZE, rows
from memory.search.vectors.store import VectorStore
store = VectorStore(Path(sys.argv[1]), SIZE)
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 25):
    store.put(rows(number))
"""


def test_processes_write_at_once(store: VectorStore) -> None:
    command = [sys.executable, "-c", _WRITER, str(store.folder)]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [subprocess.Popen([*command, str(start)], cwd=ROOT, env=here) for start in (0, 100, 200)]
    assert [one.wait(30) for one in running] == [0, 0, 0]
    assert sorted(held(store)) == [*range(25), *range(100, 125), *range(200, 225)]


def test_a_process_that_is_killed_loses_nothing_that_was_put(store: VectorStore) -> None:
    code = _WRITER + "\nprint('done', flush=True)\nimport time; time.sleep(30)"
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    one = subprocess.Popen(
        [sys.executable, "-c", code, str(store.folder), "0"], cwd=ROOT, env=here, stdout=subprocess.PIPE
    )
    assert one.stdout is not None
    assert one.stdout.readline().strip() == b"done"
    one.kill()
    one.wait()
    one.stdout.close()
    store.put(rows(500))  # its lock went with it
    assert sorted(held(store)) == [*range(25), 500]


class Keeping(RuleBasedStateMachine):
    """Puts, drops and new processes in any order: what is held is what a dictionary holds."""

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.place = tempfile.TemporaryDirectory()
        self.stores = [VectorStore(Path(self.place.name) / "v", SIZE)]
        self.wanted: dict[int, list[list[int]]] = {}
        self.seed = 0

    def teardown(self) -> None:
        self.stores.clear()
        self.place.cleanup()

    @rule(entries=st.sets(st.integers(-5, 40), min_size=1, max_size=8), chunks=st.integers(1, 3), by=st.integers(0, 3))
    def put(self, entries: set[int], chunks: int, by: int) -> None:
        self.seed += 1
        some = rows(*entries, chunks=chunks, seed=self.seed)
        store = self.stores[by % len(self.stores)]
        store.drop(np.array(sorted(entries)))
        store.put(some)
        for entry in entries:
            self.wanted[entry] = some.vectors[some.entry == entry].tolist()

    @rule(entries=st.sets(st.integers(-5, 40), max_size=8), by=st.integers(0, 3))
    def drop(self, entries: set[int], by: int) -> None:
        self.stores[by % len(self.stores)].drop(np.array(sorted(entries), np.int64))
        for entry in entries:
            self.wanted.pop(entry, None)

    @rule()
    def open_another(self) -> None:
        self.stores.append(VectorStore(self.stores[0].folder, SIZE))

    @invariant()
    def all_agree(self) -> None:
        for store in self.stores:
            assert held(store) == self.wanted


TestKeeping = Keeping.TestCase
TestKeeping.settings = settings(max_examples=examples(15), stateful_step_count=20, deadline=None)
