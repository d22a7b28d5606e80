"""The chat syncs after turns, where that was switched on; being offline is no error."""

from pathlib import Path

from agent.background.sync_job import SyncJob
from agent.background.upkeep_news import UpkeepNews
from agent.services.foreign_deletion import ForeignDeletions
from memory.backup.place import LocalPlace
from memory.settings import SyncSettings
from memory.sync.place import SYNC
from tests.memory.sync.devices import Laptop, state_of


def job(device: Laptop, place: Path, *, background: bool = True, minutes: int = 10) -> SyncJob:
    settings = SyncSettings(locations=[str(place)], background=background, minutes=minutes)
    news = UpkeepNews(device.workspace)
    environment = {"PALIMPSEST_CONFIG_DIR": str(place.parent / "config")}
    made = SyncJob(device.memory, settings, environment, device.clock, news)
    made.deletions = ForeignDeletions(device.memory)
    return made


def test_it_syncs_at_most_every_so_many_minutes(tmp_path: Path) -> None:
    place = tmp_path / "shared"
    desk, laptop = Laptop(tmp_path / "a" / "ws", "desk"), Laptop(tmp_path / "b" / "ws", "laptop")
    LocalPlace(place, SYNC).make()
    here, there = job(desk, place), job(laptop, place)
    desk.talk("Hello")
    for each in (here, there):
        assert each.due()
        result = each.step(lambda: False)
        assert (result.more, result.error) == (False, "")
        assert not each.due()
    assert state_of(laptop) == state_of(desk)
    desk.clock.advance(601)
    assert here.due()
    desk.close()
    laptop.close()


def test_it_is_off_before_it_is_switched_on(tmp_path: Path) -> None:
    desk = Laptop(tmp_path / "a" / "ws", "desk")
    assert not job(desk, tmp_path / "shared", background=False).due()
    desk.close()


def test_a_location_that_is_not_there_stops_nothing(tmp_path: Path) -> None:
    desk = Laptop(tmp_path / "a" / "ws", "desk")
    offline = job(desk, tmp_path / "not mounted" / "usb")
    assert offline.due()
    assert offline.step(lambda: False).error == ""
    assert not offline.due()
    desk.close()


def test_a_turn_interrupts_it_and_it_goes_on(tmp_path: Path) -> None:
    place = tmp_path / "shared"
    desk, laptop = Laptop(tmp_path / "a" / "ws", "desk"), Laptop(tmp_path / "b" / "ws", "laptop")
    desk.talk("Hello")
    desk.run(place)
    there = job(laptop, place)
    assert there.due()
    assert there.step(lambda: True).more
    assert there.due()
    assert not there.step(lambda: False).more
    assert state_of(laptop) == state_of(desk)
    desk.close()
    laptop.close()


def test_the_chat_says_once_who_is_new_and_which_notes_they_changed(tmp_path: Path) -> None:
    place = tmp_path / "shared"
    desk, laptop = Laptop(tmp_path / "a" / "ws", "desk"), Laptop(tmp_path / "b" / "ws", "laptop")
    (desk.workspace.root / "MEMORY.md").write_text("- 锅炉 🐋\n")
    written = desk.run(place)
    there = job(laptop, place)
    news = UpkeepNews(laptop.workspace)
    assert there.due()
    there.step(lambda: False)
    assert news.take() == (
        f"New device at {place}: desk ({written.device.id}).",
        "MEMORY.md was changed by desk.",
    )
    desk.talk("Hello")
    desk.run(place)
    laptop.clock.advance(601)
    assert there.due()
    there.step(lambda: False)
    assert UpkeepNews(laptop.workspace).take() == ()
    desk.close()
    laptop.close()
