"""Segments with values that no program of ours writes are named, and change nothing."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from foundation.clock import to_ms
from foundation.privacy import clear
from memory.backup.place import LocalPlace
from memory.cold.sync_clock import HIGHEST, TICKS
from memory.sync.names import name_of
from memory.sync.operation import ConversationKey, EntryOperation, Operation, ValueOperation
from memory.sync.place import SYNC
from memory.sync.segment import Segment, encode_segment
from memory.sync.status import location_status
from tests.examples import examples
from tests.memory.sync.devices import Laptop, state_of
from tests.memory.sync.test_segment import DEVICE, OPERATIONS

KEY = ConversationKey("", "c_0123456789ab", "chat", 0)
GOOD = EntryOperation(
    conversation=KEY,
    id="e_0123456789ab",
    parent="",
    kind="message",
    role="user",
    speaker="",
    time_ms=0,
    text=b"Hello",
    meta={},
    complete=True,
)


def put(place: Path, *operations: Operation) -> str:
    place.mkdir(exist_ok=True)
    stored = encode_segment(Segment(device=DEVICE, name="\x1b[31mevil\n", number=1, operations=operations))
    name = str(name_of(DEVICE, 1, stored))
    (place / name).write_bytes(stored)
    return name


@pytest.mark.parametrize(
    "change",
    [
        {"role": "root"},
        {"kind": "command"},
        {"time_ms": 2**62},
        {"meta": {"password": "x" * 20, "deep": {"a": [1] * 50}}},
        {"id": "../../etc/passwd"},
        {"text": b"\xff\xfe"},
    ],
)
def test_a_forged_entry_harms_nothing(laptop: Laptop, place: Path, change: dict[str, object]) -> None:
    before = state_of(laptop)
    name = put(place, GOOD, replace(GOOD, **{"id": "e_zzzzzzzzzzzz", **change}))
    result = laptop.run(place)
    if result.unread:
        assert (result.unread[0].name, state_of(laptop)) == (name, before)
    assert laptop.memory.cold.check() == []
    assert not (place.parent / "etc").exists()


def test_the_name_of_a_device_is_shown_without_control_characters(laptop: Laptop, place: Path) -> None:
    put(place, GOOD)
    laptop.run(place)
    rows = laptop.memory.cold.read(lambda db: list(db.execute("SELECT name FROM sync_devices")))
    assert "\x1b" not in rows[0][0]
    assert "\n" not in rows[0][0]


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_what_is_no_file_is_skipped_and_named(desk: Laptop, laptop: Laptop, place: Path, kind: str) -> None:
    desk.talk("Where is the tent?")
    desk.run(place)
    (file,) = place.glob("*.segment")
    for device in (DEVICE, file.name[:14]):
        there = place / f"{device}-00000009-0123456789abcdef.segment"
        match kind:
            case "folder":
                there.mkdir()
            case "pipe":
                os.mkfifo(there)
            case _:
                there.symlink_to(file)
    before = desk.sync.device
    for device in (desk, laptop):
        assert [each.message.endswith("It was skipped.") for each in device.run(place).unread] == [True, True]
    assert desk.sync.device == before
    assert state_of(laptop) == state_of(desk)
    assert len(location_status(laptop.memory, LocalPlace(place, SYNC)).problems) == 2


YEAR = 366 * 86_400_000 * TICKS


@pytest.mark.parametrize("clock", [HIGHEST, -1, None])
def test_a_clock_that_is_years_ahead_is_refused_and_named(
    desk: Laptop, laptop: Laptop, place: Path, clock: int | None
) -> None:
    trip = desk.talk("Hello", title="Trip")
    desk.run(place)
    if clock is None:
        clock = to_ms(desk.clock.now()) * TICKS + 11 * YEAR
    forged = ValueOperation(
        conversation=ConversationKey("", trip.id, "chat", 0), field="", value=b"Mine", clock=clock, device=DEVICE
    )
    name = put(place, GOOD, forged)
    for device in (laptop, desk):
        (unread,) = device.run(place).unread
        assert (unread.name, "10 years ahead" in unread.message) == (name, True)
        assert device.found(trip).title == "Trip"
    desk.memory.conversations.rename(trip.seq, clear("Later"))
    for device in (desk, laptop):
        device.run(place)
    assert laptop.found(trip).title == "Later"
    assert state_of(laptop) == state_of(desk)
    assert len(state_of(desk)["entries"]) == 2, "the rest of the segment is taken"


def test_a_later_title_holds_over_one_that_is_nearly_too_far_ahead(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Hello", title="Trip")
    desk.run(place)
    key, clock = ConversationKey("", trip.id, "chat", 0), to_ms(desk.clock.now()) * TICKS + 9 * YEAR
    put(place, ValueOperation(conversation=key, field="", value=b"Mine", clock=clock, device=DEVICE))
    for device in (desk, laptop):
        assert device.run(place).unread == ()
    desk.memory.conversations.rename(trip.seq, clear("Later"))
    for device in (desk, laptop):
        device.run(place)
        assert device.found(trip).title == "Later"


def test_one_clock_given_twice_ends_alike_in_any_order(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Hello", title="Trip")
    desk.run(place)
    laptop.run(place)
    key, clock = ConversationKey("", trip.id, "chat", 0), to_ms(desk.clock.now()) * TICKS + YEAR
    one, two = (
        ValueOperation(conversation=key, field="", value=value, clock=clock, device=DEVICE) for value in (b"A", b"B")
    )
    for device, operations in ((desk, (one, two)), (laptop, (two, one))):
        for operation in operations:
            for file in place.glob(f"{DEVICE}*"):
                file.unlink()
            put(place, operation)
            device.run(place)
    assert (desk.found(trip).title, laptop.found(trip).title) == ("B", "B")


def test_the_clock_of_this_device_never_overflows(desk: Laptop, place: Path) -> None:
    trip = desk.talk("Hello", title="Trip")
    desk.memory.cold.write(lambda db: db.execute("UPDATE sync_device SET clock = ?", (HIGHEST,)))
    desk.memory.conversations.rename(trip.seq, clear("Later"))
    desk.run(place)
    assert desk.found(trip).title == "Later"


@settings(max_examples=examples(64), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(OPERATIONS, max_size=3))
def test_any_operation_is_taken_whole_or_named(laptop: Laptop, place: Path, operations: list[Operation]) -> None:
    put(place, *operations)
    laptop.run(place)
    for file in place.glob(f"{DEVICE}*"):
        file.unlink()
