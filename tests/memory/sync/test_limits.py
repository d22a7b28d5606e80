"""A segment that holds more than a device writes is refused before it takes memory; what a device writes is taken."""

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foundation.privacy import clear, cleared_fields
from memory.archive.packs.remote import LONGEST_FILE
from memory.records import EntryDraft, EntryKind
from memory.sync.errors import SegmentDamaged
from memory.sync.limits import (
    MAX_NOTE_LINES,
    MOST_META_VALUES,
    MOST_NESTED,
    MOST_NOTE,
    MOST_OPERATIONS,
    MOST_TEXT,
    MOST_VALUES,
    is_within,
)
from memory.sync.names import name_of, parse_name
from memory.sync.operation import DeletionOperation, EntryOperation, NoteOperation, Operation
from memory.sync.outbox import FULL_BYTES
from memory.sync.segment import Segment, decode_segment
from memory.zstd import packer
from models.messages import Role
from tests.memory.sync.devices import Laptop
from tests.memory.sync.test_hostile_segments import GOOD, put
from tests.memory.sync.test_segment import DEVICE

_SUMMARY = EntryDraft(
    conversation=0, parent=None, kind=EntryKind.SUMMARY, role=Role.USER, text=clear("Where they went.")
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=40), inner, max_size=20),
    max_leaves=60,
)


def held(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(held(key) + held(each) for key, each in value.items())
    return 1 + sum(map(held, value)) if isinstance(value, list) else 1


@given(VALUES)
def test_values_are_counted_as_they_will_be(value: Any) -> None:
    packed, count = msgspec.msgpack.encode(value), held(value)
    assert is_within(packed, values=count, nested=MOST_NESTED)
    assert not is_within(packed, values=count - 1, nested=MOST_NESTED)
    if packed != b"\x90":
        assert not is_within(packed[:-1], values=count, nested=MOST_NESTED)


@pytest.mark.parametrize(
    "packed", [msgspec.msgpack.encode(msgspec.msgpack.Ext(5, b"x" * size)) for size in (1, 2, 4, 8, 16, 7, 300, 70_000)]
)
def test_extensions_are_one_value(packed: bytes) -> None:
    assert is_within(packed, values=1, nested=1)
    assert not is_within(packed[:-1], values=1, nested=1)


def test_nesting_is_counted() -> None:
    assert is_within(b"\x91" * 9 + b"\x90", values=99, nested=10)
    assert not is_within(b"\x91" * 10 + b"\x90", values=99, nested=10)


def stored_as(packed: bytes) -> bytes:
    frame = packer()(packed)
    return b"PSS1p" + hashlib.sha256(frame).digest() + frame


def bomb_of_meta() -> bytes:
    """The file of 4 kB that took gigabytes: the meta of its entry is a list of 134 million empty lists."""
    entry = msgspec.to_builtins(GOOD, builtin_types=(bytes,))
    entry["meta"] = {"a": msgspec.Raw(b"\xdd" + (2**27).to_bytes(4, "big") + b"\x90" * 2**27)}
    packed = msgspec.msgpack.encode({"device": DEVICE, "name": "x", "number": 1, "operations": [entry]})
    return stored_as(packed)


def bomb_of_values() -> bytes:
    """The same within the limit of bytes."""
    entry = msgspec.to_builtins(GOOD, builtin_types=(bytes,))
    entry["meta"] = {"a": msgspec.Raw(b"\xdd" + (2**24).to_bytes(4, "big") + b"\x90" * 2**24)}
    return stored_as(msgspec.msgpack.encode({"device": DEVICE, "name": "x", "number": 1, "operations": [entry]}))


_LIMITED = """
import resource, sys
from pathlib import Path
from memory.sync.errors import SegmentDamaged
from memory.sync.names import parse_name
from memory.sync.segment import decode_segment
file = Path(sys.argv[1])
try:
    decode_segment(parse_name(file.name), file.read_bytes())
except SegmentDamaged as error:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "linux" else 2**20)
    if sys.platform == "linux":  # there the figure of before exec is carried over
        status = Path("/proc/self/status").read_text().splitlines()
        peak = next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))
    print(peak, error.message)
"""


@pytest.mark.parametrize("make", [bomb_of_meta, bomb_of_values])
def test_a_small_file_that_stands_for_gigabytes_takes_little_memory(tmp_path: Path, make: Any) -> None:
    stored = make()
    assert len(stored) < 100_000
    file = tmp_path / str(name_of(DEVICE, 1, stored))
    file.write_bytes(stored)
    done = subprocess.run([sys.executable, "-c", _LIMITED, str(file)], capture_output=True, text=True, check=True)
    megabytes, _, message = done.stdout.partition(" ")
    assert message.strip().endswith("It was not read.")
    assert int(megabytes) < 200, "those values would take more than 900"


@pytest.mark.parametrize(
    "operations",
    [
        [replace(GOOD, text=b"x" * (MOST_TEXT + 1))],
        [NoteOperation(id="", path="MEMORY.md", parents=(), text=b"x" * (MOST_NOTE + 1), clock=1, device=DEVICE)],
        [replace(GOOD, meta={"a": [0] * MOST_META_VALUES})],
        [replace(GOOD, meta={"a": "x" * 2**22})],
        [DeletionOperation(token="a", deleted_ms=1)] * (MOST_OPERATIONS + 1),
        [replace(GOOD, meta={"a": [0] * (MOST_META_VALUES - 9)})] * (MOST_VALUES // MOST_META_VALUES + 1),
    ],
    ids=["text", "note", "values of a meta", "bytes of a meta", "operations", "values"],
)
def test_what_holds_more_than_a_device_writes_is_named_and_changes_nothing(
    laptop: Laptop, place: Path, operations: list[Operation]
) -> None:
    name = put(place, *operations)
    (unread,) = laptop.run(place).unread
    assert unread.message == f"{name} is larger than any valid segment. It was not read."
    assert laptop.memory.conversations.latest() is None
    with pytest.raises(SegmentDamaged, match="larger than any valid segment"):
        decode_segment_at(place / name)


def test_a_file_that_is_too_long_is_not_read(laptop: Laptop, place: Path) -> None:
    name = put(place, GOOD)
    with (place / name).open("r+b") as file:
        file.truncate(LONGEST_FILE)
    assert "larger than any valid segment" in laptop.run(place).unread[0].message


def decode_segment_at(file: Path) -> Segment:
    name = parse_name(file.name)
    assert name is not None
    return decode_segment(name, file.read_bytes())


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_the_longest_text_and_the_largest_meta_arrive(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Hello")
    longest = "word " * (MOST_TEXT // 5)
    desk.say(trip, longest, meta=cleared_fields({"a": [1] * (MOST_META_VALUES - 9)}))
    note = "# Memory\n\n" + ("word " * 20 + "\n") * (MOST_NOTE // 101 - 9)
    (desk.workspace.root / "MEMORY.md").write_text(note)
    desk.run(place)
    assert laptop.run(place).unread == ()
    assert (laptop.workspace.root / "MEMORY.md").read_text() == note
    there = list(laptop.memory.conversations.all_entries(laptop.found(trip).seq))
    assert there[1].text == longest
    assert len(there[1].meta["a"]) == MOST_META_VALUES - 9


@pytest.mark.parametrize("character", ["x", *(pytest.param(each, marks=pytest.mark.soak) for each in "é🏕")])
@pytest.mark.timeout(120)
def test_of_a_longer_text_the_beginning_arrives_and_says_so(
    desk: Laptop, laptop: Laptop, place: Path, character: str
) -> None:
    trip = desk.talk("Hello")
    text = "y" + character * (MOST_TEXT // len(character.encode()) + 9)
    desk.say(trip, text)
    desk.say(trip, "And then?")
    desk.run(place)
    assert laptop.run(place).unread == ()
    _, cut, after = laptop.memory.conversations.all_entries(laptop.found(trip).seq)
    beginning, _, note = (cut.text or "").rpartition("\n")
    assert text.startswith(beginning)
    assert note == f"[This is the beginning of {len(text.encode()):,} bytes. The rest is too long for sync.]"
    assert MOST_TEXT - 4 <= len((cut.text or "").encode()) <= MOST_TEXT
    assert after.text == "And then?"


@pytest.mark.parametrize(
    "value",
    [[None] * (MOST_META_VALUES + 1), "x" * 2**22, 2**70, msgspec.json.decode("[" * 80 + "]" * 80)],
    ids=["many", "long", "number", "deep"],
)
def test_of_a_meta_that_is_too_large_the_fields_that_name_entries_arrive(
    desk: Laptop, laptop: Laptop, place: Path, value: Any
) -> None:
    trip = desk.talk("Hello", "Where?")
    first, last = desk.memory.conversations.all_entries(trip.seq)
    meta = cleared_fields({"covers": [first.seq, last.seq], "first_kept": None, "prior": [], "a": value})
    draft = msgspec.structs.replace(_SUMMARY, conversation=trip.seq, parent=last.seq, meta=meta)
    desk.memory.conversations.append(draft)
    desk.run(place)
    assert laptop.run(place).unread == ()
    *others, summary = laptop.memory.conversations.all_entries(laptop.found(trip).seq)
    assert summary.meta["covers"] == [each.seq for each in others]
    assert "a" not in summary.meta


@pytest.mark.timeout(60)
def test_texts_that_pack_well_do_not_pile_up_in_one_segment(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Hello")
    for _ in range(6):
        desk.say(trip, "word " * (FULL_BYTES // 10))
        desk.run(place)
    sizes = [
        sum(len(each.text) for each in decode_segment_at(file).operations if isinstance(each, EntryOperation))
        for file in place.glob("*.segment")
    ]
    assert max(sizes) <= FULL_BYTES
    assert len(sizes) < 7
    laptop.run(place)
    assert len(list(laptop.memory.conversations.all_entries(laptop.found(trip).seq))) == 7


@pytest.mark.timeout(60)
def test_notes_of_a_run_go_into_several_segments(desk: Laptop, laptop: Laptop, place: Path) -> None:
    notes = desk.workspace.root / "memory"
    notes.mkdir(exist_ok=True)
    texts = {f"memory/n{n}.md": f"# Note {n}\n\n" + f"{f'word {n} ' * 4}\n" * 20_000 for n in range(5)}
    for path, text in texts.items():
        (desk.workspace.root / path).write_text(text)
    desk.run(place)
    assert len(list(place.glob("*.segment"))) == 5
    laptop.run(place)
    assert {path: (laptop.workspace.root / path).read_text() for path in texts} == texts


def test_a_note_that_is_too_long_stays_on_its_device(desk: Laptop, place: Path) -> None:
    (desk.workspace.root / "MEMORY.md").write_text("# Memory\n\n" + "word\n" * (MOST_NOTE // 5))
    assert desk.run(place).held_back == ("MEMORY.md",)


def test_a_note_of_very_many_lines_stays_on_its_device(laptop: Laptop, place: Path) -> None:
    laptop.workspace.memory_md.write_text("x\n" * (MAX_NOTE_LINES + 1))
    assert laptop.run(place).held_back == ("MEMORY.md",)
    laptop.workspace.memory_md.write_text("x\n" * MAX_NOTE_LINES)
    assert laptop.run(place).held_back == ()
