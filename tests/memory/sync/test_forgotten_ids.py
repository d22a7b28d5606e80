"""A forgotten id becomes another one, the same on every device; the old one comes back from nowhere."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.services import forget
from foundation.privacy import clear, cleared_fields
from memory.records import Conversation, EntryKind
from models.messages import Role
from tests.memory.sync.devices import Hidden, Laptop, state_of
from tests.memory.sync.test_forgotten_names import WORD, forget_there, words_left

ID = clear(f"j-{WORD}-1")
LONG = " ".join(str(number**5) for number in range(9000))


@pytest.fixture
def tablet(tmp_path: Path) -> Iterator[Laptop]:
    device = Laptop(tmp_path / "tablet" / "ws", "tablet")
    yield device
    device.close()


def restored(desk: Laptop, tmp_path: Path) -> Laptop:
    """A device that has a copy of the desk's workspace."""
    desk.memory.cold.empty_journal()
    shutil.copytree(desk.workspace.root, tmp_path / "restored" / "ws")
    return Laptop(tmp_path / "restored" / "ws", "restored")


def import_there(desk: Laptop) -> Conversation:
    trip = desk.talk("An ordinary beginning.")
    desk.say(trip, "Plain words that must stay.", id=ID)
    desk.say(trip, "An ordinary answer.", Role.ASSISTANT)
    return trip


def branch(device: Laptop, conversation: Conversation) -> list[str | None]:
    found = device.found(conversation)
    assert found.leaf is not None
    return [entry.text for entry in device.memory.conversations.path(found.leaf)][::-1]


SAID = ["An ordinary beginning.", "Plain words that must stay.", "An ordinary answer."]


def test_the_other_device_gives_it_the_same_other_id(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = import_there(desk)
    desk.run(place)
    laptop.run(place)
    forget_there(desk, place)
    assert words_left(place, desk.workspace.root) == {}
    laptop.run(place)
    assert branch(laptop, trip) == branch(desk, trip) == SAID
    assert state_of(laptop) == state_of(desk)
    assert len(state_of(laptop)["entries"]) == 3
    assert words_left(place, laptop.workspace.root) == {}
    desk.run(place)
    assert state_of(laptop) == state_of(desk)


def test_a_restored_backup_does_not_bring_it_back(desk: Laptop, place: Path, tmp_path: Path) -> None:
    trip = import_there(desk)
    desk.run(place)
    copy = restored(desk, tmp_path)
    forget_there(desk, place)
    copy.run(place)
    assert words_left(place, copy.workspace.root) == {}
    desk.run(place)
    assert branch(desk, trip) == branch(copy, trip) == SAID
    assert state_of(desk) == state_of(copy)
    assert words_left(place, desk.workspace.root) == {}
    copy.close()


@pytest.mark.parametrize("number", [1, 2])
def test_it_is_one_entry_whichever_file_comes_first(desk: Laptop, laptop: Laptop, place: Path, number: int) -> None:
    """The entry with its other id, or what tells of it, comes a sync later."""
    trip = import_there(desk)
    desk.run(place)
    laptop.run(place)
    laptop.say(laptop.found(trip), "Said before it heard.")
    desk.say(desk.found(trip), LONG)
    desk.run(place)
    forget_there(desk, place)
    desk.run(place)
    late = {file.name for file in place.glob(f"*-0000000{number}-*")}
    assert late
    laptop.run(Hidden(place, late))
    laptop.run(place)
    desk.run(place)
    laptop.run(place)
    assert len(state_of(laptop)["entries"]) == 5
    assert state_of(laptop) == state_of(desk)
    assert words_left(place, desk.workspace.root, laptop.workspace.root) == {}


def test_one_that_waits_for_an_entry_before_it_finds_it_by_its_other_id(
    desk: Laptop, laptop: Laptop, tablet: Laptop, place: Path
) -> None:
    trip = desk.talk(LONG)
    desk.say(trip, "Plain words that must stay.", id=ID)
    desk.run(place)
    laptop.run(place)
    laptop.say(laptop.found(trip), "An answer to it.", Role.ASSISTANT)
    laptop.run(place)
    own = desk.sync.device
    assert own is not None
    tablet.run(Hidden(place, {file.name for file in place.glob(f"{own.id}-*")}))
    forget_there(desk, place)
    desk.run(place)
    tablet.run(place)
    laptop.run(place)
    desk.run(place)
    assert state_of(tablet) == state_of(laptop) == state_of(desk)
    assert len(state_of(tablet)["entries"]) == 3
    assert words_left(place, tablet.workspace.root, laptop.workspace.root) == {}


def test_one_that_another_device_forgets_goes_under_its_other_id_too(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = import_there(desk)
    desk.run(place)
    laptop.run(place)
    forget_there(desk, place)
    (entry,) = laptop.memory.conversations.entries_named(ID)
    forget.forget(laptop.memory, forget.plan(laptop.memory, named=entry.id))
    for device in (laptop, desk, laptop, desk):
        device.run(place)
    assert branch(desk, trip) == branch(laptop, trip) == [SAID[0], "[forgotten]", SAID[2]]
    assert state_of(desk) == state_of(laptop)
    assert words_left(place, desk.workspace.root, laptop.workspace.root) == {}


def test_a_summary_names_it_by_its_other_id(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = import_there(desk)
    desk.run(place)
    laptop.run(place)
    forget_there(desk, place)
    (entry,) = laptop.memory.conversations.entries_named(ID)
    laptop.say(
        laptop.found(trip), "Earlier: words.", kind=EntryKind.SUMMARY, meta=cleared_fields({"covers": [entry.seq]})
    )
    for device in (laptop, desk, laptop):
        device.run(place)
    for device in (desk, laptop):
        *_, summary = device.memory.conversations.all_entries(device.found(trip).seq)
        (covered,) = device.memory.conversations.entries(summary.meta["covers"]).values()
        assert covered.text == SAID[1]
    assert state_of(desk) == state_of(laptop)
    assert words_left(place, desk.workspace.root, laptop.workspace.root) == {}
