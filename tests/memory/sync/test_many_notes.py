"""Many notes at once: the work for each does not grow with their number, and a run that was cut off makes no edits."""

from pathlib import Path
from typing import Any

import pytest

import memory.hot.hot_memory as hot_memory
from foundation.files import atomic
from memory.cold.sql import fetch, run
from memory.versions.cause import Author
from tests.memory.sync.devices import Laptop

COUNT = 60


def write_notes(device: Laptop, line: str) -> dict[str, str]:
    folder = device.workspace.memory_dir
    folder.mkdir(exist_ok=True)
    texts = {f"n{number}.md": f"# Note {number}\n\n- {line} {number}\n" for number in range(COUNT)}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return texts


def notes_of(device: Laptop) -> dict[str, str]:
    return {path.name: path.read_text() for path in device.workspace.memory_dir.iterdir()}


def own_versions(device: Laptop) -> int:
    return device.memory.cold.read(lambda db: fetch(db, "SELECT count(*) FROM sync_notes WHERE own = 1"))[0][0]


class Count:
    """How often a function is called, which does what it did."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, target: Any, name: str) -> None:
        self.calls = 0
        self._done = getattr(target, name)
        monkeypatch.setattr(target, name, self)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.calls += 1
        return self._done(*arguments, **named)


def test_each_file_is_looked_at_a_few_times_and_written_in_one_transaction_with_others(
    desk: Laptop, laptop: Laptop, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for line in ("first", "second"):
        texts = write_notes(desk, line)
        desk.run(place)
        looks = Count(monkeypatch, hot_memory, "snapshot_file")
        writes = Count(monkeypatch, laptop.memory.cold, "write")
        syncs = Count(monkeypatch, atomic, "sync_handle")
        assert len(laptop.run(place).notes) == COUNT
        assert notes_of(laptop) == texts
        assert looks.calls <= COUNT * 4
        assert writes.calls < 20
        assert syncs.calls <= COUNT * 3 + 20, "a note, its version, and at most a folder of its own for the version"
        monkeypatch.undo()


def test_each_note_is_a_version_from_its_device(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write_notes(desk, "first")
    desk.run(place)
    laptop.run(place)
    versions = laptop.memory.versions.store.versions()
    assert {(each.author, each.reason) for each in versions if each.path != "MEMORY.md"} == {(Author.SYNC, "from desk")}
    assert len({each.number for each in versions}) == len(versions)
    assert laptop.memory.versions.store.check() == []


def test_what_a_run_wrote_that_was_cut_off_before_it_was_noted_is_no_edit(
    desk: Laptop, laptop: Laptop, place: Path
) -> None:
    texts = write_notes(desk, "first")
    desk.run(place)
    laptop.run(place)
    before = own_versions(laptop)
    laptop.memory.cold.write(lambda db: run(db, "DELETE FROM sync_merged WHERE path LIKE 'memory/%'"))
    laptop.run(place)
    assert own_versions(laptop) == before
    assert notes_of(laptop) == texts


def test_one_note_that_cannot_be_written_keeps_none_back(desk: Laptop, laptop: Laptop, place: Path) -> None:
    texts = write_notes(desk, "first")
    desk.run(place)
    laptop.workspace.memory_dir.mkdir(exist_ok=True)
    (laptop.workspace.memory_dir / "n7.md").mkdir()
    laptop.run(place)
    (laptop.workspace.memory_dir / "n7.md").rmdir()
    assert notes_of(laptop) == {name: text for name, text in texts.items() if name != "n7.md"}
    laptop.run(place)
    assert notes_of(laptop) == texts
