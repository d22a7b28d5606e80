"""The text beside an archive: named by its label, with nothing private in the name."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from foundation.paths import Workspace
from foundation.privacy import Cleared, as_given
from memory.archive.write import sidecar
from memory.archive.write.sidecar import file_stem, keep_text
from memory.memory import Memory
from tests.fakes import FakeClock


def test_a_private_label_does_not_become_a_file_name(tmp_path: Path) -> None:
    path = keep_text(tmp_path, "l <private>ZORKLABEL</private>", Cleared("words"))
    assert path.name == "l [private].md"


def test_a_label_that_begins_to_be_private_and_never_ends_is_private_to_its_end() -> None:
    assert file_stem("<private>ZORKFILE") == "[private]"


def test_a_label_is_a_name_that_every_system_takes() -> None:
    assert file_stem('a/b:c*"d"') == "a-b-c-d"
    assert file_stem("CON") == "CON-"


# ── a label has one file ──


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Iterator[Memory]:
    memory = Memory.open(Workspace(tmp_path / "workspace"), clock, read_only=False)
    yield memory
    memory.close()


def archive(memory: Memory, label: str, text: str) -> Path:
    memory.vault.archive_text(as_given(text), label=label, mode="tiny")
    return memory.vault.keep_text(label, as_given(text))


def kept(memory: Memory) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted(memory.workspace.kept_texts.iterdir())}


TEXT = "The valve by the stairs drips.\n" * 60


def test_a_file_that_is_archived_again_and_again_is_kept_once(memory: Memory) -> None:
    for edit in ("one", "two", "three"):
        assert archive(memory, "notes", TEXT + edit).name == "notes.md"
    assert kept(memory) == {"notes.md": TEXT + "three"}
    assert [memory.vault.archives()[n].label for n in range(3)] == ["notes"] * 3
    for archived, edit in zip(memory.vault.archives(), ("three", "two", "one"), strict=True):
        pages = memory.vault.pages(archived.seq)
        assert "".join(memory.vault.read_page(page.id).text for page in pages) == TEXT + edit


def test_a_text_that_was_edited_stays(memory: Memory) -> None:
    archive(memory, "notes", TEXT).write_text("mine", "utf-8")
    assert archive(memory, "notes", TEXT + "two").name == "notes-2.md"
    assert archive(memory, "notes", TEXT + "three").name == "notes-2.md"
    assert kept(memory) == {"notes.md": "mine", "notes-2.md": TEXT + "three"}


def test_a_text_of_another_label_stays(memory: Memory) -> None:
    archive(memory, "a/b", TEXT + "one")
    assert archive(memory, "a-b", TEXT + "two").name == "a-b-2.md"
    assert kept(memory) == {"a-b.md": TEXT + "one", "a-b-2.md": TEXT + "two"}


def test_files_that_an_older_version_numbered_are_removed_where_pages_hold_them(memory: Memory) -> None:
    for edit in ("one", "two"):
        archive(memory, "notes", TEXT + edit)
    folder = memory.workspace.kept_texts
    (folder / "notes.md").write_text(TEXT + "one", "utf-8")
    (folder / "notes-2.md").write_text(TEXT + "two", "utf-8")
    (folder / "notes-3.md").write_text(TEXT + "one, edited", "utf-8")
    (folder / "notes-4.md").write_bytes(b"\xff\xfe")
    (folder / "notes and more.md").write_text(TEXT + "one", "utf-8")
    assert archive(memory, "notes", TEXT + "two").name == "notes-2.md"
    assert sorted(path.name for path in folder.iterdir()) == [
        "notes and more.md",
        "notes-2.md",
        "notes-3.md",
        "notes-4.md",
    ]


def test_a_copy_stays_where_a_page_of_it_is_damaged(memory: Memory) -> None:
    archive(memory, "notes", TEXT + "one")
    for path in memory.workspace.packs.glob("*.pages"):
        body = bytearray(path.read_bytes())
        body[60] ^= 1
        path.write_bytes(body)
    archive(memory, "notes", TEXT * 2)
    assert kept(memory) == {"notes.md": TEXT + "one", "notes-2.md": TEXT * 2}


def test_an_edit_of_the_very_instant_is_put_back(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(memory, "notes", TEXT + "one")
    move = sidecar.replace

    def edited_first(source: Path, target: Path) -> None:
        path.write_text("mine", "utf-8")
        move(source, target)

    monkeypatch.setattr(sidecar, "replace", edited_first)
    archive(memory, "notes", TEXT + "two")
    assert kept(memory) == {"notes.md": "mine", "notes-2.md": TEXT + "two"}


def test_a_removal_that_was_cut_short_is_completed_or_undone(memory: Memory) -> None:
    archive(memory, "notes", TEXT + "one").rename(memory.workspace.kept_texts / ".notes.md.0123456789ab.aside")
    (memory.workspace.kept_texts / ".notes.md.ba9876543210.aside").write_text("mine", "utf-8")
    archive(memory, "notes", TEXT + "two")
    assert kept(memory) == {"notes.md": "mine", "notes-2.md": TEXT + "two"}
