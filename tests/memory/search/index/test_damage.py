"""Segments that a crash or a damaged disk left: none is trusted that is not whole."""

import threading
import zlib
from pathlib import Path

import pytest
from msgspec.structs import replace

from memory.memory import Memory
from memory.search.index import maintenance, segment
from memory.search.index.index import SearchIndex
from memory.search.segments import TRAILER, SegmentWriter
from tests.memory.search.conversation import Talk
from tests.memory.search.index.contents import every_posting, fresh_index, rested, scattered, segments


class Crash(BaseException):
    """Nothing catches it."""


@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize("step", range(1, 10))
def test_a_crash_at_any_step_of_writing_leaves_a_usable_index(
    talk: Talk, memory: Memory, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    scattered(talk, 40)
    steps = iter(range(1, 1000))

    def dies(real):
        def maybe(*given, **named):
            if next(steps) == step:
                raise Crash
            return real(*given, **named)

        return maybe

    with monkeypatch.context() as crash:
        crash.setattr(maintenance, "collect_garbage", dies(maintenance.collect_garbage))
        crash.setattr(SegmentWriter, "finish", dies(SegmentWriter.finish))
        crash.setattr(maintenance, "merge", dies(maintenance.merge))
        with pytest.raises(Crash):
            SearchIndex(memory.cold, memory.workspace.postings).update()
    assert not list(memory.workspace.postings.glob(".*.tmp"))
    again = rested(SearchIndex(memory.cold, memory.workspace.postings))
    assert every_posting(again) == every_posting(fresh_index(memory))
    again.update()
    assert sorted(memory.workspace.postings.glob("*.bin")) == segments(memory)
    assert not list(memory.workspace.postings.glob(".*.tmp"))


def damaged(path: Path) -> None:
    body = bytearray(path.read_bytes())
    sections = segment.open_segment(path).file.sections
    start = sections["documents"].offset
    for at in range(start, start + 4 * sections["documents"].count, 4):
        body[at] ^= 1
    path.write_bytes(bytes(body))


def damaged_at_its_end(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"since":', b'"sinse":'))


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def of_another_format(path: Path) -> None:
    path.write_bytes(b"PALPOST1" + path.read_bytes()[8:])


def of_another_store(path: Path) -> None:
    body = path.read_bytes()
    start = body.index(b'{"since"')
    footer = body[start : -TRAILER.size].replace(b'"mark":["add",', b'"mark":["sub",')
    path.write_bytes(body[:start] + footer + TRAILER.pack(len(footer), zlib.crc32(footer), segment.POSTINGS.magic))


HARMS = [damaged, damaged_at_its_end, cut_short, emptied, of_another_format, of_another_store]


@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize("harm", HARMS)
def test_a_segment_that_cannot_be_trusted_is_made_anew(talk: Talk, memory: Memory, harm) -> None:
    scattered(talk, 20)
    memory.search.update()
    (path,) = segments(memory)
    intact = path.read_bytes()
    harm(path)
    assert path.read_bytes() != intact
    again = SearchIndex(memory.cold, memory.workspace.postings)
    again.catch_up()
    assert every_posting(again) == every_posting(fresh_index(memory))
    rested(again).update()
    assert path.read_bytes() == intact


@pytest.fixture
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """No segment is so small that it is checked when it is opened."""
    monkeypatch.setattr(segment, "POSTINGS", replace(segment.POSTINGS, check_limit=0))


@pytest.mark.usefixtures("small_segments", "all_are_large")
def test_damage_in_a_large_segment_is_found_while_it_is_in_use(talk: Talk, memory: Memory) -> None:
    scattered(talk, 20)
    memory.search.update()
    damaged(segments(memory)[0])
    again = SearchIndex(memory.cold, memory.workspace.postings)
    again.catch_up()
    assert every_posting(again) != every_posting(fresh_index(memory))
    for thread in threading.enumerate():
        if thread.name == "palimpsest-postings-check":
            thread.join()
    assert every_posting(rested(again)) == every_posting(fresh_index(memory))


@pytest.mark.usefixtures("small_segments", "all_are_large")
def test_damage_in_a_large_segment_is_not_merged_into_another(talk: Talk, memory: Memory) -> None:
    scattered(talk, 20)
    memory.search.update()
    damaged(segments(memory)[0])
    scattered(talk, 20, start=20)
    again = SearchIndex(memory.cold, memory.workspace.postings)
    again.update()
    assert every_posting(rested(again)) == every_posting(fresh_index(memory))
