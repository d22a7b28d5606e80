"""Wrong clocks, long absence, restored backups, segments of other versions, and what must not leave."""

import os
import shutil
from pathlib import Path

import pytest

from foundation.privacy import clear
from memory.backup.errors import BackupUnreachable
from memory.backup.place import LocalPlace
from memory.errors import ReadOnly
from memory.sync.names import name_of, parse_name
from memory.sync.place import SYNC, open_sync_place
from memory.sync.status import location_status
from tests.memory.archive.pack_servers import s3_server, ssh_server
from tests.memory.sync.devices import Laptop, state_of


def sync(place: Path, *devices: Laptop) -> None:
    for _ in range(2):
        for device in devices:
            device.run(place)


def test_a_clock_that_is_hours_behind_does_not_lose_the_later_title(tmp_path: Path, place: Path) -> None:
    ahead, behind = Laptop(tmp_path / "a" / "ws", "ahead", skew_s=9 * 3600), Laptop(tmp_path / "b" / "ws", "behind")
    trip = ahead.talk("Where is the tent?", title="First")
    sync(place, ahead, behind)
    behind.memory.conversations.rename(behind.found(trip).seq, clear("Later, and knowing of the first"))
    sync(place, behind, ahead)
    assert ahead.found(trip).title == "Later, and knowing of the first"
    ahead.close()
    behind.close()


def test_of_two_titles_only_the_one_that_holds_is_kept(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Hello", title="Trip")
    sync(place, desk, laptop)
    desk.memory.conversations.rename(trip.seq, clear("Here"))
    laptop.memory.conversations.rename(laptop.found(trip).seq, clear("There"))
    sync(place, desk, laptop)
    for device in (desk, laptop):
        rows = device.memory.cold.read(lambda db: list(db.execute("SELECT value FROM sync_values WHERE field = ''")))
        assert [row[0] for row in rows] == [desk.found(trip).title.encode()]


def test_a_year_offline(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Where is the tent?")
    sync(place, desk, laptop)
    for day in range(14):
        desk.clock.advance(26 * 86400)
        desk.say(desk.talk(f"Day {day}."), "And more. " * 50)
        desk.run(place)
    laptop.clock.advance(365 * 86400)
    laptop.say(laptop.found(trip), "Still in the cellar?")
    sync(place, laptop, desk)
    assert state_of(laptop) == state_of(desk)
    assert len(state_of(desk)["entries"]) == 30
    assert len(list(place.glob("*.segment"))) == 2, "a day of little talk makes no file of its own"


def test_a_segment_of_a_newer_version_is_refused_and_left(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("Hello")
    desk.run(place)
    (file,) = place.glob("*.segment")
    newer = b"PSS4" + file.read_bytes()[4:]
    there = parse_name(file.name)
    assert there is not None
    foreign = place / str(name_of("d_000000000000", 1, newer))
    foreign.write_bytes(newer)
    result = laptop.run(place)
    assert [each.message for each in result.unread] == [
        f"{foreign.name}: written by a newer version of Palimpsest. It was not read, and nothing was changed."
    ]
    assert state_of(laptop) == state_of(desk), "others are read"
    assert laptop.found(trip)
    assert foreign.read_bytes() == newer


def test_a_store_of_a_newer_version_is_not_synced(desk: Laptop, place: Path) -> None:
    desk.run(place)
    before = {file.name: file.read_bytes() for file in place.iterdir()}
    desk.close()
    desk.workspace = type(desk.workspace)(desk.workspace.root)
    desk.memory = type(desk.memory).open(desk.workspace, desk.clock, read_only=True)
    desk.sync = type(desk.sync)(desk.memory, None)
    with pytest.raises(ReadOnly):
        desk.run(place)
    assert {file.name: file.read_bytes() for file in place.iterdir()} == before


def test_a_workspace_that_a_backup_brought_back_loses_nothing(tmp_path: Path, desk: Laptop, place: Path) -> None:
    desk.talk("Before the backup.")
    desk.run(place)
    desk.close()
    shutil.copytree(desk.workspace.root, tmp_path / "copy" / "ws")
    desk.open()
    desk.talk("After the backup. " + " ".join(str(number**3) for number in range(9000)))
    desk.run(place)
    copy = Laptop(tmp_path / "copy" / "ws", "desk")
    copy.talk("Said in the restored one.")
    sync(place, copy, desk)
    assert state_of(copy) == state_of(desk)
    assert len(state_of(desk)["entries"]) == 3
    copy.close()


def test_a_lost_segment_is_written_again(desk: Laptop, laptop: Laptop, place: Path) -> None:
    desk.talk("Where is the tent?")
    desk.run(place)
    for file in place.glob("*.segment"):
        file.unlink()
    assert desk.run(place).segments_written == 1
    laptop.run(place)
    assert state_of(laptop) == state_of(desk)


def test_nothing_private_and_no_secret_leaves(desk: Laptop, place: Path) -> None:
    trip = desk.talk("My <private>diagnosis</private> and AKIAQ3EGRIDTESTING7X.", title="<private>Arzt</private>")
    desk.memory.conversations.label(trip.seq, clear("<private>geheim</private>"))
    desk.run(place)
    stored = b"".join(operation for file in place.glob("*.segment") for operation in [repr(decoded(file)).encode()])
    assert b"My [private] and [secret" in stored
    for word in (b"diagnosis", b"AKIAQ3", b"Arzt", b"geheim"):
        assert word not in stored


def decoded(file: Path) -> object:
    from memory.sync.segment import decode_segment

    name = parse_name(file.name)
    assert name is not None
    return decode_segment(name, file.read_bytes())


def test_what_another_device_did_not_clear_is_cleared_here(
    desk: Laptop, laptop: Laptop, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trip = desk.talk("Hello")
    monkeypatch.setattr("memory.sync.outbox.fitting_text", lambda _: b"The key is AKIAQ3EGRIDTESTING7X.")
    desk.run(place)
    laptop.run(place)
    (entry,) = laptop.memory.conversations.all_entries(laptop.found(trip).seq)
    assert "AKIA" not in (entry.text or "")


def test_a_folder_with_other_files_is_refused(desk: Laptop, place: Path) -> None:
    place.mkdir()
    (place / "holiday.jpg").write_bytes(b"x")
    with pytest.raises(Exception, match="contains other files"):
        desk.run(LocalPlace(place, SYNC))


@pytest.mark.parametrize("is_mount_point", [False, True])
def test_a_disk_that_is_not_mounted_is_no_new_location(desk: Laptop, place: Path, is_mount_point: bool) -> None:
    desk.talk("Where is the tent?")
    desk.run(place)
    place.rename(place.parent / "in the drawer")
    if is_mount_point:
        place.mkdir()
    with pytest.raises(BackupUnreachable, match="does not exist") as error:
        desk.run(place)
    assert "Is the disk mounted?" in error.value.hint
    assert [file.name for file in place.parent.glob("shared/*")] == []
    desk.sync.renew_recipients()
    with pytest.raises(BackupUnreachable):
        desk.sync.renew(LocalPlace(place, SYNC))
    assert list(place.parent.glob("shared/*")) == []
    with pytest.raises(BackupUnreachable):
        location_status(desk.memory, LocalPlace(place, SYNC))
    if is_mount_point:
        place.rmdir()
    (place.parent / "in the drawer").rename(place)
    assert desk.run(place).segments_written == 1, "what was to be written anew, and now is"


@pytest.mark.soak
@pytest.mark.timeout(90)
def test_s3_and_ssh_carry_it(desk: Laptop, laptop: Laptop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.talk("锅炉 🐋")
    with s3_server(monkeypatch, "shared"):
        for device in (desk, laptop):
            device.run(open_sync_place("s3://shared/mine", tmp_path))
    assert state_of(laptop) == state_of(desk)
    laptop.talk("And back.")
    with ssh_server(tmp_path / "home", monkeypatch) as server:
        for device in (laptop, desk):
            device.run(open_sync_place(f"ssh://someone@127.0.0.1:{server.port}/shared", tmp_path))
    assert state_of(laptop) == state_of(desk)


def test_the_empty_folder_of_a_disk_that_is_not_mounted_is_not_written_to(desk: Laptop, place: Path) -> None:
    desk.talk("Hello")
    desk.run(place)
    place.rename(place.with_name("unmounted"))
    place.mkdir()  # where the disk is mounted
    desk.talk("Said meanwhile")
    for act in (desk.sync.run, desk.sync.renew):
        with pytest.raises(BackupUnreachable):
            act(LocalPlace(place, SYNC))
    assert list(place.iterdir()) == []


def test_what_has_the_name_of_a_segment_and_is_no_file_is_named_and_skipped(
    desk: Laptop, laptop: Laptop, place: Path
) -> None:
    desk.talk("Hello")
    desk.run(place)
    names = [str(name_of("d_000000000000", number, b"x")) for number in (1, 2, 3)]
    (place / names[0]).mkdir()
    os.mkfifo(place / names[1])
    (place / names[2]).symlink_to("/etc/hostname")
    result = laptop.run(place)
    assert result.taken.entries == 1
    assert sorted(each.name for each in result.unread) == sorted(names)
    assert all("It was skipped." in each.message for each in result.unread)
    assert (place / names[0]).is_dir()
