"""What is damaged or forged at the place is named, and never restored as good."""

import shutil
from pathlib import Path

import pytest
from msgspec import structs

from memory.backup.errors import (
    BackupDamaged,
    NewerBackup,
)
from memory.backup.place import LocalPlace
from memory.backup.restore import restore
from memory.backup.snapshot import SUFFIX, SavedFile, Snapshot, digest_of, encode_snapshot
from memory.backup.verify import check_backup
from memory.errors import Damaged
from memory.memory import Memory
from memory.versions.objects import checked
from tests.memory.backup.conftest import SETTINGS, Save, flip, restored


def test_every_flipped_bit_is_named_and_nothing_damaged_is_restored(
    save: Save, place: LocalPlace, tmp_path: Path
) -> None:
    save()
    assert check_backup(place).problems == ()
    for path in sorted(place.folder.glob("*.piece"))[:12] + sorted(place.folder.glob("*.snapshot")):
        good = path.read_bytes()
        for at in (0, 5, 21, len(good) // 2, len(good) - 1):
            flip(path, at)
            (problem,) = check_backup(place).problems
            assert path.name in problem.message
            with pytest.raises((Damaged, NewerBackup), match=path.stem):
                restored(place, tmp_path / "again")
            assert not (tmp_path / "again").exists(), (path.name, at)
            path.write_bytes(good)
    assert not list(tmp_path.glob(".again*"))


def test_a_sound_piece_under_the_name_of_another_is_named(save: Save, place: LocalPlace, tmp_path: Path) -> None:
    save()
    one, other, *_ = sorted(place.folder.glob("*.piece"), key=lambda path: path.stat().st_size)
    other.write_bytes(one.read_bytes())
    (problem,) = check_backup(place).problems
    assert other.name in problem.message
    with pytest.raises(BackupDamaged, match=other.stem):
        restored(place, tmp_path / "again")


def test_a_missing_piece_is_named_and_the_next_backup_stores_it_again(save: Save, place: LocalPlace) -> None:
    save()
    lost = min(place.folder.glob("*.piece"))
    lost.unlink()
    (problem,) = check_backup(place).problems
    assert lost.name in problem.message
    assert problem.files
    assert save().new_pieces == 1
    assert check_backup(place).problems == ()


def test_all_else_is_restored_where_that_is_asked_for(
    filled: Memory, save: Save, place: LocalPlace, tmp_path: Path
) -> None:
    snapshot = save().snapshot
    note = next(file for file in snapshot.files if file.path == "MEMORY.md")
    flip(place.folder / f"{note.pieces[0]}.piece", 30)
    with pytest.raises(BackupDamaged, match=r"MEMORY\.md"):
        restored(place, tmp_path / "again")
    result = restore(place, snapshot, tmp_path / "again", settings=SETTINGS, skip_damaged=True)
    assert [file.path for file in result.left_out] == ["MEMORY.md"]
    assert result.files == len(snapshot.files) - 1
    assert not (tmp_path / "again" / "MEMORY.md").exists()


def test_unreadable_snapshots_keep_all_pieces(filled: Memory, save: Save, place: LocalPlace) -> None:
    save()
    old = next(place.folder.glob("*.snapshot"))
    flip(old, 50)
    filled.workspace.memory_md.write_text("- other\n")
    assert save(keep=1).removed.pieces == 0


def forge(real: Snapshot, *files: SavedFile) -> Snapshot:
    return structs.replace(real, files=files, digest=digest_of(files), time_ms=real.time_ms + 1)


def refused(place: LocalPlace, forged: Snapshot, target: Path) -> str:
    """The sentence with which a forged snapshot is refused: by the check, and by a restore, which leaves nothing."""
    place.write(forged.id + SUFFIX, encode_snapshot(forged))
    with pytest.raises(BackupDamaged, match=forged.id) as caught:
        restored(place, target, forged.id)
    why = caught.value.message.partition("forged: ")[2]
    assert f"{forged.id}: {why}" in [problem.message for problem in check_backup(place).problems]
    assert place.name in caught.value.message
    assert "backup list" in caught.value.hint
    assert not target.exists()
    assert not list(target.parent.glob(".again*"))
    return caught.value.message


@pytest.mark.parametrize(
    "path",
    [
        *("../outside.md", "/outside.md", "memory/../../outside.md", "memory//x", "./x", "memory/.", "C:x", "", "a/"),
        *(".git/hooks/post-checkout", ".mcp.json", "run.sh", "memory", ".palimpsest", "MEMORY.md/x", "memory.MD"),
        *(".palimpsest/cold.db-wal", ".palimpsest/Cold.db-journal"),
        *("memory/" + "d/" * 3_000 + "x.md", "memory/" + "x" * 5_000),
    ],
)
def test_a_forged_snapshot_writes_nothing_where_no_backup_does(
    save: Save, place: LocalPlace, tmp_path: Path, path: str
) -> None:
    real = save().snapshot
    note = next(file for file in real.files if file.path == "MEMORY.md")
    message = refused(place, forge(real, structs.replace(note, path=path)), tmp_path / "again")
    assert "is damaged or forged: it has a file at " in message
    assert len(message) < 400
    assert not (tmp_path / "outside.md").exists()


def test_a_forged_size_twice_the_same_path_a_file_below_a_file_and_a_foreign_piece_are_refused(
    filled: Memory, save: Save, place: LocalPlace, tmp_path: Path
) -> None:
    filled.workspace.memory_md.write_text("- a note\n")
    real = save().snapshot
    note = next(file for file in real.files if file.path == "MEMORY.md")
    other, below = structs.replace(note, path="memory/a"), structs.replace(note, path="memory/a/b.md")
    outside = structs.replace(note, pieces=("../../outside",))
    for files, words in (
        ((structs.replace(note, size=2**62),), "the size of 'MEMORY.md', 4,611,686,018,427,387,904 bytes, is not"),
        ((structs.replace(note, size=-1),), "the size of 'MEMORY.md', -1 bytes, is not"),
        ((structs.replace(note, mtime_ns=10**30),), "the time of 'MEMORY.md' is none that a file has"),
        ((outside,), "names a piece that no backup has"),
    ):
        message = refused(place, forge(real, *files), tmp_path / "again")
        assert "is damaged or forged: " in message
        assert words in message
        (place.folder / (forge(real, *files).id + SUFFIX)).unlink()
    for files, words in (
        ((note, note), "two files at 'MEMORY.md', or"),
        ((other, below), "two files at 'memory/a/b.md', or one below another file"),
    ):
        forged = forge(real, *files)
        place.write(forged.id + SUFFIX, encode_snapshot(forged))
        result = restored(place, tmp_path / "again", forged.id)
        assert (result.files, len(result.left_out)) == (1, 1)
        assert words in result.left_out[0].why
        shutil.rmtree(tmp_path / "again")
        (place.folder / (forged.id + SUFFIX)).unlink()


def test_a_size_that_its_pieces_do_not_have_is_found_when_they_are_restored(
    filled: Memory, save: Save, place: LocalPlace, tmp_path: Path
) -> None:
    filled.workspace.memory_md.write_text("- a note\n")
    real = save().snapshot
    note = next(file for file in real.files if file.path == "MEMORY.md")
    forged = forge(real, structs.replace(note, size=note.size + 1))
    place.write(forged.id + SUFFIX, encode_snapshot(forged))
    with pytest.raises(BackupDamaged, match=r"MEMORY\.md cannot be restored"):
        restored(place, tmp_path / "again", forged.id)
    assert not (tmp_path / "again").exists()


def test_a_path_that_no_restore_takes_is_not_saved_and_named(
    filled: Memory, save: Save, place: LocalPlace, tmp_path: Path
) -> None:
    deepest = filled.workspace.memory_dir.joinpath(*["d"] * 62)
    (deepest / "e").mkdir(parents=True)
    (deepest / "kept.md").write_text("- kept\n")
    (deepest / "e" / "too deep.md").write_text("- not saved\n")
    result = save()
    assert result.skipped == ("memory/" + "d/" * 62 + "e/too deep.md",)
    assert restored(place, tmp_path / "again").report.problems == ()
    assert (tmp_path / "again" / "memory" / deepest.relative_to(filled.workspace.memory_dir) / "kept.md").exists()


def test_a_torn_piece_of_a_backup_that_was_cut_short_is_not_believed(
    filled: Memory, save: Save, place: LocalPlace
) -> None:
    filled.workspace.memory_md.write_text("- torn\n" * 100)
    first = save()
    note = next(file for file in first.snapshot.files if file.path == "MEMORY.md")
    torn = place.folder / f"{note.pieces[0]}.piece"
    (place.folder / f"{first.snapshot.id}.snapshot").unlink()
    torn.write_bytes(bytes(torn.stat().st_size))
    save()
    assert check_backup(place).problems == ()


def test_a_newer_format_is_refused_and_left(save: Save, place: LocalPlace, tmp_path: Path) -> None:
    name = save().snapshot.id
    (place.folder / (name + SUFFIX)).write_bytes(checked(b"PBS2", b"what nobody knows"))
    with pytest.raises(NewerBackup, match=name):
        restored(place, tmp_path / "again")
    assert [name in problem.message for problem in check_backup(place).problems] == [True]
