"""Sync with a clock that jumps between runs: by hours, and by years, forward and back."""

from pathlib import Path
from typing import Final

import pytest

from foundation.privacy import clear
from tests.memory.sync.devices import Laptop, state_of

HOUR: Final = 3_600.0
YEAR: Final = 366 * 24 * HOUR


def meet(*devices: Laptop, place: Path) -> None:
    for device in (*devices, *devices):
        device.run(place)


@pytest.mark.parametrize("jump", [-9 * YEAR, -YEAR, -5 * HOUR, 5 * HOUR, YEAR, 9 * YEAR])
def test_a_clock_that_jumps_and_comes_back_loses_nothing(
    desk: Laptop, laptop: Laptop, place: Path, jump: float
) -> None:
    trip = desk.talk("Where to?", title="first")
    note = desk.workspace.memory_md
    note.write_text("# Memory\n\n- first\n")
    meet(desk, laptop, place=place)
    for number, by in enumerate((jump, -jump)):
        desk.clock.advance(by)
        desk.say(trip, f"From the desk {number}")
        desk.memory.conversations.rename(trip.seq, clear(f"title {number}"))
        note.write_text(note.read_text() + f"- desk {number}\n")
        meet(desk, laptop, place=place)
        there = laptop.found(trip)
        assert there.title == f"title {number}"
        laptop.say(there, f"From the laptop {number}")
        laptop.memory.conversations.rename(there.seq, clear(f"later title {number}"))
        meet(laptop, desk, place=place)
        assert desk.found(trip).title == f"later title {number}", "it was made knowing of the other"
    assert state_of(desk) == state_of(laptop)
    assert len(list(laptop.memory.conversations.all_entries(laptop.found(trip).seq))) == 5
    assert (laptop.workspace.memory_md).read_text().splitlines()[2:] == ["- first", "- desk 0", "- desk 1"]


def test_what_is_not_believed_while_the_own_clock_is_decades_back_is_taken_when_it_is_right(
    desk: Laptop, laptop: Laptop, place: Path
) -> None:
    trip = desk.talk("Where to?", title="first")
    meet(desk, laptop, place=place)
    desk.clock.advance(-40 * YEAR)
    laptop.memory.conversations.rename(laptop.found(trip).seq, clear("second"))
    meet(laptop, desk, place=place)
    assert "Is the clock of one of the devices wrong?" in desk.run(place).unread[0].message
    assert desk.found(trip).title == "first"
    desk.clock.advance(40 * YEAR)
    assert desk.run(place).unread == ()
    assert desk.found(trip).title == "second"


@pytest.mark.parametrize("own_jump", [0.0, 100 * YEAR])
def test_a_clock_a_century_ahead_stops_nobody(desk: Laptop, laptop: Laptop, place: Path, own_jump: float) -> None:
    """What it named stays where it is, and is said; what the others say goes on."""
    trip = desk.talk("Where to?", title="first")
    meet(desk, laptop, place=place)
    desk.clock.advance(100 * YEAR)
    desk.memory.conversations.rename(trip.seq, clear("far"))
    desk.run(place)
    laptop.clock.advance(own_jump)
    unread = laptop.run(place).unread
    assert laptop.found(trip).title == ("far" if own_jump else "first")
    assert len(unread) == (0 if own_jump else 1)
    laptop.say(laptop.found(trip), "To the sea")
    meet(laptop, desk, place=place)
    texts = [each.text for each in desk.memory.conversations.all_entries(trip.seq)]
    assert texts == ["Where to?", "To the sea"]
