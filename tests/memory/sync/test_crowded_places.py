"""Locations that hold many files, and links to folders: nothing is followed, and nothing stops."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from memory.backup.place import LocalPlace
from memory.settings import SyncSettings
from memory.sync.names import name_of
from memory.sync.place import SYNC
from memory.sync.renewal import LocationAccess, renew_locations
from memory.sync.status import location_status
from tests.memory.sync.devices import Laptop, state_of
from tests.memory.sync.test_forgotten import forget_words
from tests.memory.sync.test_segment import DEVICE


def test_links_to_folders_are_neither_followed_nor_stop_it(
    desk: Laptop, laptop: Laptop, place: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    desk.talk("Where to?")
    desk.run(place)
    (place / "photos").symlink_to(outside)
    (place / "circle").symlink_to(place)
    (place / "nowhere").symlink_to(tmp_path / "missing")
    segment = str(name_of(DEVICE, 1, b"x"))
    (place / segment).symlink_to(outside)
    (place / ".hidden.tmp").symlink_to(outside)
    for device in (laptop, desk):
        result = device.run(place)
        assert [each.name for each in result.unread] == [segment]
    assert state_of(desk) == state_of(laptop)
    assert sorted(path.name for path in outside.iterdir()) == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == "secret"


def test_a_copy_that_another_program_made_is_named_until_it_is_deleted(
    desk: Laptop, laptop: Laptop, place: Path
) -> None:
    desk.talk("Keep this.", "The zanzibar canary sings.")
    desk.run(place)
    laptop.run(place)
    (file,) = place.glob("*.segment")
    copies = [f"{file.stem} (conflicted copy).segment", f"{file.stem}.sync-conflict-20261127-101112-ABCDEFG.segment"]
    for name in (*copies, f".syncthing.{file.name}.tmp"):
        (place / name).write_bytes(file.read_bytes())
    (place / "photo.jpg").write_bytes(b"x")
    forget_words(desk, "zanzibar")
    left = renew_locations(desk.memory, LocationAccess(SyncSettings(locations=[str(place)]), {}))
    assert [each.reason.split(" a copy made by another program")[0] for each in left] == copies
    assert file.name not in {path.name for path in place.iterdir()}, "what this device wrote is written anew"
    for device in (desk, laptop):
        unread = device.run(place).unread
        assert [each.name for each in unread] == copies
        assert all("delete it" in each.message for each in unread)
        problems = location_status(device.memory, LocalPlace(place, SYNC)).problems
        assert [each.name for each in problems] == copies
    assert all((place / name).exists() for name in copies), "nobody knows who made it"
    for name in copies:
        (place / name).unlink()
    assert desk.run(place).unread == ()


def transactions_of(device: Laptop, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Something for each transaction that it writes from now on."""
    made: list[object] = []
    write = device.memory.cold.write

    def counted(work: Callable[[apsw.Connection], object]) -> object:
        made.append(work)
        return write(work)

    monkeypatch.setattr(device.memory.cold, "write", counted)
    return made


@pytest.mark.parametrize("count", [200, pytest.param(20_000, marks=pytest.mark.soak)])
@pytest.mark.timeout(120)
def test_many_foreign_files_stop_nothing(
    desk: Laptop, laptop: Laptop, place: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    desk.talk("Where to?")
    desk.run(place)
    for number in range(count // 2):
        (place / f"photo {number}.jpg").write_bytes(b"x")
        (place / str(name_of(DEVICE, number + 1, b"%d" % number))).write_bytes(b"torn")
    transactions = transactions_of(laptop, monkeypatch)
    result = laptop.run(place)
    assert result.taken.entries == 1
    assert len(transactions) < 30 + count // 500, "many are noted in one"
    assert len(result.unread) == count // 2
    assert len(list(place.glob("*.jpg"))) == count // 2
    transactions.clear()
    assert len(laptop.run(place).unread) == count // 2
    assert len(transactions) < 20, "what is noted is not noted again"
