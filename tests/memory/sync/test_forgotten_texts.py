"""A text that was forgotten is not brought back under another name, by an import on any device or by a sync."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.importers.record import ImportRecord
from agent.importers.store import store_all
from agent.services import forget
from memory.check import check
from memory.forgotten.tombstones import ForgottenName
from tests.memory.sync.devices import Hidden, Laptop, state_of
from tests.memory.sync.test_forgotten import forget_words, words_at, words_in

TEXT = "The zanzibar canary sings at night."
BEFORE = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)


def imported(device: Laptop, source: str, *texts: str, time: datetime | None = BEFORE) -> int:
    """Imports a conversation of these texts; how many were left out, for they were forgotten."""
    records = [
        ImportRecord(location=str(number), conversation="diary", id=f"b{number}", text=text, time=time)
        for number, text in enumerate(texts)
    ]
    return store_all(device.memory.conversations, records, source=source, fixed_source=True).forgotten


def texts(device: Laptop, source: str) -> list[str | None]:
    (found,) = [each for each in device.memory.conversations.recent() if each.source == source]
    return [entry.text for entry in device.memory.conversations.all_entries(found.seq)]


def share(place: Path, *devices: Laptop) -> None:
    for device in devices:
        device.run(place)


@pytest.fixture
def third(tmp_path: Path) -> Iterator[Laptop]:
    device = Laptop(tmp_path / "third" / "ws", "third")
    yield device
    device.close()


def test_a_device_knows_a_text_again_that_it_took_out_for_another(desk: Laptop, laptop: Laptop, place: Path) -> None:
    imported(desk, "diary", TEXT, "And more of it.")
    share(place, desk, laptop)
    forget_words(desk, "zanzibar")
    share(place, desk, laptop)
    assert imported(laptop, "copy", TEXT, "And more of it.") == 1
    assert b"zanzibar" not in words_in(laptop)


def test_a_device_knows_a_text_again_of_a_conversation_that_another_deleted(
    desk: Laptop, laptop: Laptop, place: Path
) -> None:
    imported(desk, "diary", TEXT)
    share(place, desk, laptop)
    (diary,) = desk.memory.conversations.recent()
    desk.delete(diary)
    share(place, desk, laptop)
    assert imported(laptop, "copy", TEXT) == 1


@pytest.mark.parametrize("deletes", [False, True])
def test_what_a_device_imports_that_never_had_it_is_forgotten_on_all(
    desk: Laptop, laptop: Laptop, third: Laptop, place: Path, deletes: bool
) -> None:
    imported(desk, "diary", TEXT)
    if deletes:
        desk.delete(desk.memory.conversations.recent()[0])
    else:
        forget_words(desk, "zanzibar")
    share(place, desk, laptop, third)
    assert imported(laptop, "copy", "Before it.", TEXT, "After it.") == 0
    share(place, laptop, desk)
    assert texts(desk, "copy") == ["Before it.", "[forgotten]", "After it."]
    assert b"zanzibar" not in words_in(desk)
    share(place, laptop, third, desk)
    assert "zanzibar" not in words_at(place)
    for device in (desk, laptop, third):
        assert b"zanzibar" not in words_in(device)
        assert state_of(device)["entries"] == state_of(desk)["entries"]
        assert forget.open_jobs(device.memory) == []
        assert check(device.workspace).problems == ()
        assert device.memory.conversations.tombstones.has(ForgottenName("copy", "diary", "b1"))
    assert imported(laptop, "once more", TEXT) == 1
    assert imported(desk, "copy", "Before it.", TEXT) == 1
    assert [device.run(place).segments_written for device in (desk, laptop, third)] == [0, 0, 0], (
        "nothing is sent again"
    )


def test_one_that_waits_for_its_parent_waits_without_its_words(desk: Laptop, laptop: Laptop, place: Path) -> None:
    forgotten = desk.talk(TEXT)
    desk.delete(forgotten)
    laptop.run(place)
    imported(laptop, "copy", " ".join(str(number**5) for number in range(9000)))
    laptop.run(place)
    first = {file.name for file in place.glob("*.segment")}
    imported(laptop, "copy", " ".join(str(number**5) for number in range(9000)), TEXT)
    laptop.run(place)
    desk.run(Hidden(place, first))
    waiting = desk.memory.cold.read(lambda db: list(db.execute("SELECT operation FROM sync_waiting")))
    assert [b"zanzibar" in body for (body,) in waiting] == [False]
    desk.run(place)
    assert texts(desk, "copy")[1] == "[forgotten]"


def test_what_bears_a_later_time_was_said_again_and_stays(desk: Laptop, laptop: Laptop, place: Path) -> None:
    desk.delete(desk.talk(TEXT))
    desk.clock.advance(60)
    later = desk.clock.now()
    assert imported(desk, "own", TEXT, time=later) == 0
    imported(laptop, "copy", TEXT, time=later)
    share(place, laptop, desk)
    assert texts(desk, "own") == texts(desk, "copy") == [TEXT]
    assert imported(desk, "without a time", TEXT, time=None) == 1


def test_what_was_said_on_another_device_stays(desk: Laptop, laptop: Laptop, place: Path) -> None:
    said = laptop.talk("Please go on with the next step.")
    desk.delete(desk.talk("Please go on with the next step."))
    share(place, laptop, desk, laptop)
    for device in (desk, laptop):
        (entry,) = device.memory.conversations.all_entries(device.found(said).seq)
        assert entry.text == "Please go on with the next step."


def test_an_entry_that_a_person_left_is_not_taken_for_it(desk: Laptop, laptop: Laptop, place: Path) -> None:
    """One of two with the same text was forgotten, by its id; a restored backup sends the other one once more."""
    imported(desk, "diary", TEXT, "And more of it.", TEXT)
    share(place, desk, laptop)
    backup = desk.workspace.root.parent / "backup"
    shutil.copytree(desk.workspace.root, backup)
    (diary,) = desk.memory.conversations.recent()
    first, *_ = desk.memory.conversations.all_entries(diary.seq)
    forget.forget(desk.memory, forget.plan(desk.memory, named=first.id))
    share(place, desk, laptop)
    restored = Laptop(backup, "restored")
    share(place, restored, desk, laptop, restored, desk)
    for device in (desk, laptop, restored):
        assert texts(device, "diary") == ["[forgotten]", "And more of it.", TEXT]
    restored.close()
