"""Locations that hold many files, and links to folders: nothing is followed, and nothing stops."""

from pathlib import Path

import pytest

from memory.sync.names import name_of
from tests.memory.sync.devices import Laptop, state_of
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


@pytest.mark.parametrize("count", [200, pytest.param(20_000, marks=pytest.mark.soak)])
@pytest.mark.timeout(120)
def test_many_foreign_files_stop_nothing(desk: Laptop, laptop: Laptop, place: Path, count: int) -> None:
    desk.talk("Where to?")
    desk.run(place)
    for number in range(count // 2):
        (place / f"photo {number}.jpg").write_bytes(b"x")
        (place / str(name_of(DEVICE, number + 1, b"%d" % number))).write_bytes(b"torn")
    result = laptop.run(place)
    assert result.taken.entries == 1
    assert len(result.unread) == count // 2
    assert len(list(place.glob("*.jpg"))) == count // 2
