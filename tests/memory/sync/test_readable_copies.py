"""What arrives from another device is in the readable copies, a bounded number of them at a time."""

from pathlib import Path

import pytest

import memory.sync.sync as sync
from foundation.privacy import clear
from tests.memory.sync.devices import Laptop
from tests.memory.sync.test_forgotten_names import mirrored


def test_a_conversation_that_arrives_has_a_readable_copy(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Where is the tent?", title="Trip")
    desk.run(place)
    laptop.run(place)
    assert "Where is the tent?" in mirrored(laptop)
    desk.say(trip, "In the cellar.")
    desk.memory.conversations.rename(trip.seq, clear("Tent"))
    desk.run(place)
    laptop.run(place)
    assert "In the cellar." in mirrored(laptop)
    assert 'title: "Tent"' in mirrored(laptop)
    assert not laptop.workspace.versions.exists() or not list(laptop.workspace.versions.glob("conversations-*"))


def test_what_a_person_wrote_into_a_copy_is_kept_as_a_version(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Where is the tent?", title="Trip")
    desk.run(place)
    laptop.run(place)
    (file,) = laptop.workspace.conversations.glob("*.md")
    file.write_text("My own words", "utf-8")
    desk.memory.conversations.rename(trip.seq, clear("Tent"))
    desk.run(place)
    laptop.run(place)
    assert 'title: "Tent"' in mirrored(laptop)
    (kept,) = laptop.workspace.versions.glob("conversations-*")
    assert kept.read_text("utf-8") == "My own words"


def test_a_run_writes_so_many_and_the_next_one_goes_on(
    desk: Laptop, laptop: Laptop, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync, "_MIRRORS", 2)
    for number in range(5):
        desk.talk(f"Text {number}", title=f"Talk {number}")
    desk.run(place)
    counts: list[int] = []
    for _ in range(3):
        laptop.run(place)
        counts.append(len(list(laptop.workspace.conversations.glob("*.md"))))
    assert counts == [2, 4, 5]


def test_a_text_that_cannot_be_read_keeps_no_other_from_its_copy(
    desk: Laptop, laptop: Laptop, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = desk.talk("Text 1", title="First")
    desk.talk("Text 2", title="Second")
    desk.run(place)
    update = laptop.memory.mirrors.update

    def fails(seq: int) -> Path | None:
        if laptop.memory.conversations.at(seq).id == first.id:
            return update(10**6)  # there is none
        return update(seq)

    monkeypatch.setattr(laptop.memory.mirrors, "update", fails)
    laptop.run(place)
    assert "Text 2" in mirrored(laptop)
    assert "Text 1" not in mirrored(laptop)
