"""A note whose name was forgotten has another one on every device; the old one comes back from nowhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import memory.sync.segment as segment
from memory.sync.sync import SyncResult
from memory.versions.cause import Author
from tests.memory.sync.devices import Hidden, Laptop, state_of
from tests.memory.sync.test_forgotten_ids import restored
from tests.memory.sync.test_forgotten_names import WORD, forget_there, words_left

NAME = f"memory/{WORD}.md"
TEXT = "# Garden\n\n- beans\n- leeks\n"


@pytest.fixture
def tablet(tmp_path: Path) -> Iterator[Laptop]:
    device = Laptop(tmp_path / "tablet" / "ws", "tablet")
    yield device
    device.close()


def write(device: Laptop, text: str, name: str = NAME) -> None:
    (device.workspace.root / name).parent.mkdir(exist_ok=True)
    (device.workspace.root / name).write_text(text, "utf-8")


def add(device: Laptop, line: str, name: str = NAME) -> None:
    write(device, (device.workspace.root / name).read_text("utf-8") + line, name)


def notes(device: Laptop) -> dict[str, str]:
    device.memory.hot.look()
    return {file.path: file.text for file in device.memory.hot.files()}


def only(device: Laptop) -> tuple[str, str]:
    ((name, text),) = notes(device).items()
    return name, text


def settle(place: Path, *devices: Laptop) -> list[SyncResult]:
    return [device.run(place) for _ in range(2) for device in devices]


def shared_words(place: Path, *devices: Laptop) -> list[str]:
    """Where the word is, but in what a device never sends: its own versions."""
    left = words_left(place, *(device.workspace.root for device in devices))
    return [name for name in left if "/.palimpsest/versions/" not in name]


def test_one_sync_gives_it_the_other_name_on_the_other_device(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, TEXT)
    desk.run(place)
    laptop.run(place)
    assert notes(laptop) == {NAME: TEXT}
    forget_there(desk, place)
    assert words_left(place, desk.workspace.root) == {}
    result = laptop.run(place)
    assert only(laptop) == only(desk)
    assert only(desk)[1] == TEXT
    name = only(laptop)[0]
    assert name.startswith("memory/note-")
    assert result.news == [f"A note was renamed to {name}: another device deleted its old name."]
    assert shared_words(place, laptop) == []
    versions = laptop.memory.versions.store.versions()
    assert [version.author for version in versions if version.path == name] == [Author.SYNC]
    assert [version.path for version in versions].count(NAME) >= 1, "there is a version to go back to"
    add(laptop, "- peas\n", name)
    settle(place, laptop, desk)
    assert only(desk) == only(laptop) == (name, TEXT + "- peas\n")


def test_what_another_device_wrote_under_the_old_name_is_merged(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, TEXT)
    desk.run(place)
    laptop.run(place)
    add(laptop, "- peas\n")
    forget_there(desk, place)
    add(desk, "- carrots\n", only(desk)[0])
    laptop.run(place)
    assert shared_words(place, laptop) == []
    settle(place, desk, laptop)
    assert only(desk) == only(laptop)
    assert all(line in only(desk)[1] for line in ("- beans", "- leeks", "- peas", "- carrots"))
    assert words_left(place, desk.workspace.root) == {}


def test_what_was_there_before_it_heard_is_taken_under_the_new_name(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, TEXT)
    desk.run(place)
    laptop.run(place)
    add(laptop, "- peas\n")
    laptop.run(place)
    forget_there(desk, place)
    desk.run(place)
    assert only(desk)[1] == TEXT + "- peas\n"
    assert words_left(desk.workspace.root) == {}
    settle(place, laptop, desk)
    assert only(desk) == only(laptop)
    assert shared_words(place, desk, laptop) == []


def test_a_note_that_two_devices_made_is_one_under_the_new_name(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, TEXT)
    write(laptop, "# Garden\n\n- peas\n")
    forget_there(desk, place)
    laptop.run(place)
    settle(place, desk, laptop)
    assert only(desk) == only(laptop)
    assert all(line in only(desk)[1] for line in ("- beans", "- peas"))
    assert shared_words(place, desk, laptop) == []


def test_a_restored_backup_does_not_bring_it_back(desk: Laptop, place: Path, tmp_path: Path) -> None:
    write(desk, TEXT)
    desk.run(place)
    copy = restored(desk, tmp_path)
    forget_there(desk, place)
    copy.run(place)
    assert shared_words(place, copy) == []
    desk.run(place)
    assert only(desk) == only(copy)
    assert only(desk)[1] == TEXT
    assert words_left(place, desk.workspace.root) == {}
    copy.close()


def test_a_backup_of_before_the_first_sync_comes_under_the_new_name(desk: Laptop, place: Path, tmp_path: Path) -> None:
    write(desk, TEXT)
    copy = restored(desk, tmp_path)
    desk.run(place)
    forget_there(desk, place)
    settle(place, copy, desk)
    assert only(desk) == only(copy)
    assert shared_words(place, desk, copy) == []
    copy.close()


def test_old_files_do_not_bring_it_back(desk: Laptop, laptop: Laptop, tablet: Laptop, place: Path) -> None:
    write(desk, TEXT)
    desk.run(place)
    old = {file.name: file.read_bytes() for file in place.glob("*.segment")}
    laptop.run(place)
    forget_there(desk, place)
    for name, body in old.items():
        (place / name).write_bytes(body)
    tablet.run(place)
    laptop.run(place)
    assert only(tablet) == only(laptop) == only(desk)
    assert shared_words(laptop.workspace.root, tablet) == []


def test_two_devices_that_forget_it_agree_on_a_name(desk: Laptop, laptop: Laptop, tablet: Laptop, place: Path) -> None:
    write(desk, TEXT)
    settle(place, desk, laptop, tablet)
    add(tablet, "- peas\n")
    forget_there(desk, place)
    forget_there(laptop, place)
    assert only(desk)[0] != only(laptop)[0]
    settle(place, tablet, desk, laptop)
    settle(place, tablet, desk, laptop)
    assert only(desk) == only(laptop) == only(tablet)
    assert only(desk)[1] == TEXT + "- peas\n"
    assert shared_words(place, desk, laptop, tablet) == []


def test_who_gives_a_note_this_name_again_keeps_it(desk: Laptop, laptop: Laptop, tablet: Laptop, place: Path) -> None:
    write(desk, TEXT)
    settle(place, desk, laptop)
    forget_there(desk, place)
    settle(place, laptop)
    write(desk, "# Said again\n")
    settle(place, desk, laptop, tablet)
    name = next(name for name in notes(desk) if name != NAME)
    assert notes(desk) == notes(laptop) == notes(tablet) == {NAME: "# Said again\n", name: TEXT}
    add(tablet, "- more\n")
    settle(place, tablet, desk, laptop)
    assert notes(desk) == notes(laptop) == notes(tablet) == {NAME: "# Said again\n- more\n", name: TEXT}
    forget_there(desk, place)
    settle(place, laptop, tablet, desk)
    settle(place, laptop, tablet, desk)
    assert notes(desk) == notes(laptop) == notes(tablet)
    assert len(notes(desk)) == 1
    assert all(line in only(desk)[1] for line in ("Said again", "- more", "- beans"))


def test_a_note_with_private_text_gets_the_other_name_and_stays(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, TEXT)
    settle(place, desk, laptop)
    private = f"{TEXT}<private>my pin</private>\n"
    write(laptop, private)
    forget_there(desk, place)
    result = laptop.run(place)
    assert only(laptop) == (only(desk)[0], private)
    assert result.held_back == (NAME,)
    settle(place, laptop, desk)
    assert only(desk) == (only(laptop)[0], TEXT)


@pytest.mark.parametrize("number", [1, 2])
def test_it_is_one_note_whichever_file_comes_first(desk: Laptop, laptop: Laptop, place: Path, number: int) -> None:
    write(desk, TEXT)
    settle(place, desk, laptop)
    add(laptop, "- mine\n")
    for count in (1, 2):
        desk.talk(" ".join(str(each**5) for each in range(9000)))
        add(desk, f"- peas {count}\n")
        desk.run(place)
    forget_there(desk, place)
    desk.run(place)
    late = {file.name for file in place.glob(f"*-0000000{number}-*")}
    assert late
    laptop.run(Hidden(place, late))
    settle(place, laptop, desk)
    assert state_of(laptop) == state_of(desk)
    assert all(line in only(desk)[1] for line in ("- mine", "- peas 1", "- peas 2"))
    assert shared_words(place, desk, laptop) == []


def test_a_program_that_knows_no_such_names_leaves_the_segment(
    desk: Laptop, laptop: Laptop, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(desk, TEXT)
    desk.run(place)
    forget_there(desk, place)
    with monkeypatch.context() as patched:
        patched.setattr(segment, "_KNOWN", frozenset({b"PSS1", b"PSS2"}))
        assert "a newer version" in laptop.run(place).problem
    assert notes(laptop) == {}
    laptop.run(place)
    assert only(laptop) == only(desk)
