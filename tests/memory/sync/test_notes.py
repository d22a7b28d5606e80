"""Notes on two devices: each edit arrives, edits of both are merged, and of one line both are kept and shown."""

from pathlib import Path

import pytest

import memory.sync.outbox as outbox
from foundation.terminal_text import visible_line
from memory.sync.note_store import version_id
from memory.sync.operation import NoteOperation
from memory.versions.cause import Author
from tests.memory.sync.devices import Hidden, Laptop
from tests.memory.sync.test_hostile_segments import put
from tests.memory.sync.test_segment import DEVICE


def write(device: Laptop, text: str, name: str = "MEMORY.md") -> None:
    path = device.workspace.root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def text(device: Laptop, name: str = "MEMORY.md") -> str:
    return (device.workspace.root / name).read_text("utf-8")


def sync(place: Path, *devices: Laptop) -> None:
    for _ in range(2):
        for device in devices:
            device.run(place)


def test_a_note_arrives_and_its_version_names_the_device(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, "# Trip\n- 锅炉 🐋\n", "memory/trip.md")
    sync(place, desk, laptop)
    assert text(laptop, "memory/trip.md") == "# Trip\n- 锅炉 🐋\n"
    (version,) = laptop.memory.versions.store.versions("memory/trip.md")
    assert (version.author, version.reason) == (Author.SYNC, "from desk")


def test_edits_of_different_lines_are_merged(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, "- one\n- two\n- three\n")
    sync(place, desk, laptop)
    write(desk, "- one, here\n- two\n- three\n")
    write(laptop, "- one\n- two\n- three, there\n")
    sync(place, desk, laptop)
    assert text(desk) == text(laptop) == "- one, here\n- two\n- three, there\n"


def test_two_edits_of_one_line_are_both_kept_and_shown(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, "- the code is 1\n")
    sync(place, desk, laptop)
    write(desk, "- the code is 2\n")
    desk.run(place)
    laptop.clock.advance(60)
    write(laptop, "- the code is 3\n")
    sync(place, laptop, desk)
    assert text(desk) == text(laptop)
    assert text(desk).startswith("- the code is 2\n")
    assert "# Kept from two edits of the same lines\n- the code is 3\n" in text(desk)


def test_a_version_that_arrives_after_those_made_of_it_is_what_they_are_merged_by(
    desk: Laptop, laptop: Laptop, tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its device showed the lines of both before, and went on doing so, unlike the others."""
    monkeypatch.setattr(outbox, "OPEN_BYTES", 1)  # so that each version is in a segment of its own
    write(desk, "- one\n- two\n- three\n")
    desk.run(place)
    first = {file.name for file in place.iterdir()}
    laptop.run(place)
    write(laptop, "- one\n- two\n- three, there\n")
    laptop.run(place)
    write(desk, "- one, here\n- two\n- three\n")
    desk.run(place)
    phone = Laptop(tmp_path / "phone" / "ws", "phone")
    phone.run(Hidden(place, first))
    assert {"- one", "- one, here"} < set(text(phone).splitlines())
    sync(place, phone, desk, laptop)
    assert text(phone) == text(desk) == text(laptop) == "- one, here\n- two\n- three, there\n"
    phone.close()


def test_what_one_removed_after_a_merge_does_not_come_back_with_what_another_added(
    desk: Laptop, laptop: Laptop, place: Path
) -> None:
    """Both edits were made from a text of two versions, and are merged by it, not by one of the two."""
    write(desk, "- one\n- two\n- three\n- four\n")
    sync(place, desk, laptop)
    write(desk, "- one, here\n- two\n- three\n- four\n")
    write(laptop, "- one\n- two\n- three\n- four, there\n")
    sync(place, desk, laptop)
    assert text(desk) == text(laptop) == "- one, here\n- two\n- three\n- four, there\n"
    write(desk, "- two\n- three\n- four, there\n")
    write(laptop, "- one, here\n- two\n- three\n")
    sync(place, desk, laptop)
    assert text(desk) == text(laptop) == "- two\n- three\n"


def test_lines_that_both_added_both_stay(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, "- here\n")
    write(laptop, "- there\n")
    sync(place, desk, laptop)
    assert text(desk) == text(laptop)
    assert sorted(text(desk).splitlines()) == ["- here", "- there"]


def test_a_file_with_private_text_or_a_secret_stays_where_it_is(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, "- <private>the diagnosis</private>\n")
    write(desk, "- AKIAQ3EGRIDTESTING7X is the key\n- password: Xk29!fjqLm2\n", "memory/keys.md")
    result = desk.run(place)
    assert result.held_back == ("MEMORY.md", "memory/keys.md")
    laptop.run(place)
    write(laptop, "- mine\n")
    sync(place, laptop, desk)
    assert text(desk) == "- <private>the diagnosis</private>\n"
    assert text(laptop) == "- mine\n"


def test_an_edit_on_top_of_a_conflict_settles_it(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, "- the code is 1\n")
    sync(place, desk, laptop)
    write(desk, "- the code is 2\n")
    write(laptop, "- the code is 3\n")
    sync(place, desk, laptop)
    write(desk, "- the code is 4\n")
    sync(place, desk, laptop)
    assert text(desk) == text(laptop) == "- the code is 4\n"


def test_a_deleted_note_is_emptied_there_unless_it_was_edited(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, "- one\n", "memory/a.md")
    write(desk, "- two\n", "memory/b.md")
    sync(place, desk, laptop)
    for name in ("a", "b"):
        (desk.workspace.root / "memory" / f"{name}.md").unlink()
    write(laptop, "- two\n- and more\n", "memory/b.md")
    sync(place, desk, laptop)
    assert text(laptop, "memory/a.md") == ""
    assert "- and more\n" in text(laptop, "memory/b.md")
    assert text(desk, "memory/b.md") == text(laptop, "memory/b.md")


@pytest.mark.parametrize("name", ["\u202egnp.evil.md", "a\x1b[2Jb.md", "a\nb.md", "a\u2066b.md"])
def test_a_note_whose_name_hides_something_goes_nowhere(desk: Laptop, laptop: Laptop, place: Path, name: str) -> None:
    folder = desk.workspace.root / "memory"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("- words\n")
    (folder / "锅炉 🐋.md").write_text("- words\n")
    desk.run(place)
    laptop.run(place)
    assert [file.name for file in (laptop.workspace.root / "memory").glob("*.md")] == ["锅炉 🐋.md"]
    version = NoteOperation(
        id=version_id(f"memory/{name}", (), b"- evil\n", 1, DEVICE),
        path=f"memory/{name}",
        parents=(),
        text=b"- evil\n",
        clock=1,
        device=DEVICE,
    )
    put(place, version)
    (unread,) = laptop.run(place).unread
    assert "characters that are not shown" in unread.message
    assert visible_line(unread.message) == unread.message
    assert len(list((laptop.workspace.root / "memory").glob("*.md"))) == 1
