"""Segments with values that no program of ours writes are named, and change nothing."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memory.cold.sync_clock import HIGHEST
from memory.sync.names import name_of
from memory.sync.operation import ConversationKey, EntryOperation, Operation, ValueOperation
from memory.sync.segment import Segment, encode_segment
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


def test_a_clock_that_is_thousands_of_years_ahead_does_not_stop_ours(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Hello", title="Trip")
    desk.run(place)
    key = ConversationKey("", trip.id, "chat", 0)
    put(place, ValueOperation(conversation=key, field="", value=b"Mine forever", clock=HIGHEST, device=DEVICE))
    for device in (desk, laptop):
        device.run(place)
    desk.memory.conversations.label(desk.found(trip).seq, "work")  # pyright: ignore[reportArgumentType]  # no secret
    desk.run(place)
    laptop.run(place)
    assert laptop.found(trip).labels == ("work",)


@settings(max_examples=examples(64), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(OPERATIONS, max_size=3))
def test_any_operation_is_taken_whole_or_named(laptop: Laptop, place: Path, operations: list[Operation]) -> None:
    put(place, *operations)
    laptop.run(place)
    for file in place.glob(f"{DEVICE}*"):
        file.unlink()
