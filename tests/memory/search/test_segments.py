"""Segment files: what was written is read, and no other byte is taken for it."""

import errno
import os
import re
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from foundation.files import LockTimeout, atomic
from memory.search.segments import (
    SegmentFile,
    SegmentKind,
    collect_garbage,
    discard,
    open_segment,
    write_segment,
)
from memory.search.vectors import segment as vector_segments
from memory.search.vectors.store import VectorStore
from tests.examples import examples


class Label(Struct, frozen=True):
    """What the kind of these tests says of a segment."""

    text: str


KIND = SegmentKind(
    prefix="test",
    name=re.compile(r"test-\d+\.bin"),
    lock_name="test.lock",
    magic=b"PALTEST1",
    dtypes={"numbers": "i8", "bytes": "u1", "halves": "u2"},
    footer=Label,
    check_limit=1 << 20,
    always_checked=frozenset({"numbers"}),
    appendable=True,
)
LARGE = replace(KIND, check_limit=0)
"""The same, with no file so small that all of it is checked when it is opened."""


def written(path: Path, **columns: list[int]) -> Path:
    with write_segment(path, KIND) as writer:
        for name, values in columns.items():
            writer.section(name, [np.array(values, KIND.dtypes[name])], room=len(values), align=64)
        writer.finish(Label("tea"))
    return path


def flipped(path: Path, at: int) -> None:
    body = bytearray(path.read_bytes())
    body[at] ^= 0x41
    path.write_bytes(body)


@given(
    numbers=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=9),
    octets=st.lists(st.integers(0, 255), max_size=70),
    cut=st.integers(0, 9),
)
@settings(max_examples=examples(50), deadline=None)
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[int], octets: list[int], cut: int
) -> None:
    path = tmp_path_factory.mktemp("segments") / "test-1.bin"
    with write_segment(path, KIND) as writer:
        writer.section("bytes", [np.array(octets, "u1")], align=64)
        writer.section("numbers", [np.array(numbers[:cut], "i8"), np.array(numbers[cut:], "i8")], room=3)
        writer.finish(Label("茶"))
    file = open_segment(path, KIND)
    assert file is not None
    assert (file.footer, file.is_checked, file.is_whole()) == (Label("茶"), True, True)
    assert file.values("numbers").tolist() == numbers
    assert file.values("bytes").tolist() == octets
    assert file.sections["bytes"].offset % 64 == 0
    assert len(file.columns["numbers"]) == len(numbers) + 3


def test_values_added_to_the_room_stay_in_the_process(tmp_path: Path) -> None:
    path = written(tmp_path / "test-1.bin", numbers=[1, 2])
    file = open_segment(path, KIND)
    assert file is not None
    file.columns["numbers"][2] = 3
    file.columns["numbers"][0] = 9
    again = open_segment(path, KIND)
    assert again is not None
    assert again.values("numbers").tolist() == [1, 2]


def test_no_byte_can_be_changed_unseen(tmp_path: Path) -> None:
    path = written(tmp_path / "test-1.bin", numbers=[7, 8], bytes=[1, 2, 3])
    body = path.read_bytes()
    file = open_segment(path, KIND)
    assert file is not None
    room = {
        at
        for name, section in file.sections.items()
        for at in range(
            section.offset + section.count * KIND.dtype(name).itemsize,
            section.offset + section.room * KIND.dtype(name).itemsize,
        )
    }
    for at in range(len(body)):
        path.write_bytes(body)
        flipped(path, at)
        assert (open_segment(path, KIND) is None) == (at not in room), at


def test_a_file_cut_off_anywhere_is_not_opened(tmp_path: Path) -> None:
    path = written(tmp_path / "test-1.bin", numbers=[7, 8])
    body = path.read_bytes()
    for length in range(len(body)):
        path.write_bytes(body[:length])
        assert open_segment(path, KIND) is None, length


def test_a_file_of_another_kind_is_not_opened(tmp_path: Path) -> None:
    path = written(tmp_path / "test-1.bin", numbers=[7, 8])
    assert open_segment(path, replace(KIND, magic=b"PALTEST2")) is None


def test_of_a_large_file_only_some_sections_are_checked_when_it_is_opened(tmp_path: Path) -> None:
    path = written(tmp_path / "test-1.bin", bytes=[1, 2, 3], numbers=[7, 8])
    file = open_segment(path, LARGE)
    assert file is not None
    assert not file.is_checked
    flipped(path, file.sections["bytes"].offset)
    damaged = open_segment(path, LARGE)
    assert damaged is not None
    assert not damaged.is_whole()
    flipped(path, file.sections["numbers"].offset)
    assert open_segment(path, LARGE) is None


class Crash(Exception):
    pass


@pytest.mark.parametrize("step", ["section", "finish", "sync_handle", "replace", "sync_folder"])
def test_a_crash_while_writing_leaves_the_file_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = written(tmp_path / "test-1.bin", numbers=[1])

    def crash(*_: object, **__: object) -> None:
        raise Crash

    with monkeypatch.context() as broken:
        target = "memory.search.segments.SegmentWriter" if step in {"section", "finish"} else atomic.__name__
        broken.setattr(f"{target}.{step}", crash)
        with pytest.raises(Crash):
            written(path, numbers=[2])
    file = open_segment(path, KIND)
    assert file is not None
    assert file.values("numbers").tolist() == ([2] if step == "sync_folder" else [1])
    assert KIND.unfinished(tmp_path) == []


def test_garbage_is_what_is_superseded_and_what_was_left_unfinished(tmp_path: Path) -> None:
    kept, old = written(tmp_path / "test-1.bin", numbers=[1]), written(tmp_path / "test-2.bin", numbers=[1])
    others = tmp_path / "note.md", tmp_path / ".other-1.bin.ab.tmp"
    left = tmp_path / ".test-3.bin.ab.tmp"
    for path in (*others, left):
        path.write_bytes(b"words")
    collect_garbage(KIND, tmp_path, [old, tmp_path / "test-9.bin"])
    assert sorted(tmp_path.iterdir()) == sorted([kept, *others])
    assert KIND.paths(tmp_path) == [kept]


@pytest.mark.parametrize(("number", "is_left"), [(errno.EACCES, True), (errno.EIO, False)])
def test_a_file_that_cannot_be_deleted_just_now_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, is_left: bool
) -> None:
    """Windows refuses to delete a file that a process has mapped. A disk that fails is reported."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("memory.search.segments.remove", refuse)
    with nullcontext() if is_left else pytest.raises(OSError, match=os.strerror(number)):
        discard(tmp_path / "test-1.bin")


def test_one_process_at_a_time_holds_the_folder(tmp_path: Path) -> None:
    with KIND.lock(tmp_path / "new", timeout=0), pytest.raises(LockTimeout), KIND.lock(tmp_path / "new", timeout=0):
        pass


# ── vectors of earlier versions: embedding them again may take hours ──

RELEASED = Path(__file__).parent / "released" / "vectors-0.3.1.bin"
"""Written by 0.3.1: entries -7, 3 (two chunks) and 12, of 8 dimensions; it replaces number 1."""


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    path = tmp_path / "vectors-0000000004-0a1b2c3d.bin"
    path.write_bytes(RELEASED.read_bytes())
    return path


def test_vectors_of_earlier_versions_are_read(earlier: Path) -> None:
    segment = vector_segments.load(earlier, 8)
    assert segment is not None
    assert segment.header.rows == 4
    assert segment.header.entries == 2
    assert segment.header.replaces == ["vectors-0000000001-00000000.bin"]
    assert segment.rows.entry.tolist() == [-7, 3, 3, 12]
    assert segment.rows.check.tolist() == [1, 10, 10, 37]
    assert segment.rows.chunk.tolist() == [0, 0, 1, 0]
    assert segment.rows.vectors[2].tolist() == [-1, -2, -3, -4, -5, -6, -7, -8]
    assert segment.rows.inverse[3] == 0
    assert isinstance(segment.file, SegmentFile)
    assert segment.file.is_whole()


def test_they_are_dropped_and_merged_with_new_ones(earlier: Path) -> None:
    store = VectorStore(earlier.parent, 8)
    assert store.drop(np.array([3]))
    assert store.has(np.array([-7, 3, 12])).tolist() == [True, False, True]
    assert not earlier.exists()
    assert bytes([9] * 8) not in b"".join(path.read_bytes() for path in earlier.parent.glob("*.bin"))


def test_no_byte_of_them_can_be_changed_unseen(earlier: Path) -> None:
    for at in range(len(RELEASED.read_bytes())):
        earlier.write_bytes(RELEASED.read_bytes())
        flipped(earlier, at)
        assert vector_segments.load(earlier, 8) is None, at


def test_damage_in_many_of_them_is_found_by_proving(earlier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_segments, "VECTORS", replace(vector_segments.VECTORS, check_limit=0))
    flipped(earlier, -1)
    segment = vector_segments.load(earlier, 8)
    assert segment is not None
    assert not segment.file.is_whole()
