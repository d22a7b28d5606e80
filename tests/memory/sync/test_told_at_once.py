"""A forgetting tells other devices of lines and names of their notes at once, without a `sync now` here first."""

from pathlib import Path

import pytest

from agent.services import forget
from memory.settings import SyncSettings
from memory.sync import outbox
from memory.sync.notes import NoteSync
from memory.sync.renewal import LocationAccess, pending_locations, renew_locations
from tests.memory.sync.devices import Laptop
from tests.memory.sync.test_forgotten import words_at, words_in
from tests.memory.sync.test_notes import text, write


def forget_everywhere(device: Laptop, words: str, *places: Path) -> str:
    """The last line of the receipt."""
    access = LocationAccess(SyncSettings(locations=[str(place) for place in places]), {})
    receipt = forget.forget_everywhere(device.memory, forget.plan(device.memory, named=words), access)
    assert receipt.left == ()
    return receipt.lines[-1]


def test_a_line_that_another_device_wrote_goes_there_with_its_next_sync(
    desk: Laptop, laptop: Laptop, place: Path
) -> None:
    write(desk, "- the zanzibar\n- and more\n")
    desk.run(place)
    laptop.run(place)
    write(laptop, "- the zanzibar\n- and more\n- not sent yet\n")
    assert laptop.sync.device
    NoteSync(laptop.memory).collect(laptop.sync.device.id)  # as a sync that was cut off before it wrote
    assert "`palimpsest sync now` there." in forget_everywhere(laptop, "zanzibar", place)
    assert "not sent yet" not in words_at(place)
    desk.run(place)
    assert text(desk) == "- and more\n"
    assert "zanzibar" not in words_at(place)
    assert b"zanzibar" not in words_in(laptop)
    for device in (laptop, desk):
        device.run(place)
    assert text(desk) == text(laptop) == "- and more\n- not sent yet\n"
    assert [device.run(place).segments_written for device in (laptop, desk)] == [0, 0]


def test_a_note_that_another_device_wrote_gets_its_other_name_there(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, "- and more\n", "memory/zanzibar.md")
    desk.run(place)
    laptop.run(place)
    forget_everywhere(laptop, "zanzibar", place)
    desk.run(place)
    (name,) = [file.path for file in laptop.memory.hot.files() if file.text == "- and more\n"]
    assert text(desk, name) == "- and more\n"
    assert "zanzibar" not in words_at(place)


def test_notes_that_fill_several_segments_are_all_told(
    desk: Laptop, laptop: Laptop, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        write(desk, f"- the zanzibar\n- and {number}{' and more' * 40}\n", f"memory/{number}.md")
    write(laptop, "- and so on\n" * 80, "memory/own.md")  # nearly a segment
    for device in (desk, laptop, desk):
        device.run(place)
    monkeypatch.setattr(outbox, "FULL_BYTES", 1_000)
    monkeypatch.setattr(outbox, "_NOTES", 4)
    forget_everywhere(laptop, "zanzibar", place)
    desk.run(place)
    assert "zanzibar" not in words_at(place)
    assert all("zanzibar" not in file.text for file in desk.memory.hot.files())


def test_a_location_that_is_away_is_told_by_the_next_forget(
    desk: Laptop, laptop: Laptop, place: Path, tmp_path: Path
) -> None:
    write(desk, "- the zanzibar\n- and more\n")
    desk.run(place)
    laptop.run(place)
    away = place.rename(tmp_path / "away")
    access = LocationAccess(SyncSettings(locations=[str(place)]), {})
    plan = forget.plan(laptop.memory, named="zanzibar")
    (left,) = forget.forget_everywhere(laptop.memory, plan, access).left
    assert left.location == str(place)
    assert pending_locations(laptop.memory) == (str(place),)
    away.rename(place)
    assert renew_locations(laptop.memory, access) == ()
    assert pending_locations(laptop.memory) == ()
    desk.run(place)
    assert text(desk) == "- and more\n"
