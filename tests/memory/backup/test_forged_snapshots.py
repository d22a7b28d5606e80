"""A snapshot is input of whoever can write to the place: what no backup makes is left out and named."""

import hashlib
import itertools
import os
import subprocess
from pathlib import Path

import pytest
from msgspec import structs

from memory.backup.errors import BackupDamaged, BackupDiskFull, UnusableFolder
from memory.backup.place import LocalPlace
from memory.backup.retention import readable_snapshots
from memory.backup.snapshot import SUFFIX, SavedFile, Snapshot, digest_of, encode_snapshot
from memory.backup.verify import check_backup
from memory.memory import Memory
from tests.memory.backup.conftest import Save, restored

_HIDDEN = (".git", ".GIT", "\u200c.git", ".g\u200cit", ".hg", ".vscode", ".claude", ".direnv", ".git.", ".obsidian")
_RUN_BY_THEMSELVES = (".envrc", ".mcp.json", ".mise.toml", ".pre-commit-config.yaml", ".gdbinit", ".editorconfig")
_ODD = ("a\nb.md", "a\x1b[2J.md", "a\u202eb.md", "..", ".", "", "a\u2028.md")
_FOLDERS = ("memory", "skills/s", "conversations", ".palimpsest/versions", "memory/archive", "skills/s/scripts")


def hostile_paths() -> list[str]:
    hidden = (f"{folder}/{name}/config" for folder, name in itertools.product(_FOLDERS, _HIDDEN))
    single = (f"{folder}/{name}" for folder, name in itertools.product(_FOLDERS, (*_RUN_BY_THEMSELVES, *_ODD)))
    notes = [folder for folder in _FOLDERS if not folder.startswith(".")]
    heads = (f"{folder}/x/{name}" for folder, name in itertools.product(notes, ("HEAD", "head", "Head.", "HE\u200cAD")))
    state = (f".palimpsest/versions/{name}" for name in ("refs/heads/main", "commondir", "REFS/x"))
    mirrors = ("conversations/objects/x", "conversations/Makefile", "conversations/run.sh", "conversations/a/b.md")
    return [*hidden, *single, *heads, *state, *mirrors]


def forged_with(place: LocalPlace, real: Snapshot, *more: SavedFile) -> Snapshot:
    """Writes a snapshot of the real files and these."""
    files = (*real.files, *more)
    forged = structs.replace(real, files=files, digest=digest_of(files), time_ms=real.time_ms + 1)
    place.write(forged.id + SUFFIX, encode_snapshot(forged))
    return forged


def note_of(snapshot: Snapshot) -> SavedFile:
    return next(file for file in snapshot.files if file.path == "MEMORY.md")


def test_what_no_backup_makes_is_left_out_and_named_and_the_rest_is_restored(
    save: Save, place: LocalPlace, tmp_path: Path
) -> None:
    real = save().snapshot
    paths = hostile_paths()
    forged = forged_with(place, real, *(structs.replace(note_of(real), path=path) for path in paths))
    problems = check_backup(place).problems
    assert {path for problem in problems for path in problem.files} == {*paths}
    result = restored(place, tmp_path / "again", forged.id)
    assert [file.path for file in result.left_out] == paths
    assert result.files == len(real.files)
    assert result.report.problems == ()
    assert not any(part in {".git", "HEAD"} for path in (tmp_path / "again").rglob("*") for part in path.parts)


@pytest.mark.parametrize("folder", ["conversations", "memory", "skills", "skills/s", ".palimpsest/versions"])
@pytest.mark.parametrize("name", [".git/", ""], ids=["git", "bare"])
def test_git_runs_nothing_in_a_restored_folder(
    filled: Memory, save: Save, place: LocalPlace, tmp_path: Path, folder: str, name: str
) -> None:
    """A repository in a snapshot, also a bare one, would name a program that `git status` runs."""
    planted = tmp_path / "planted"
    subprocess.run(["git", "init", "-q", str(planted)], check=True)
    marker, git = tmp_path / "ran", planted / ".git"
    with (git / "config").open("a") as config:
        config.write(f'[core]\n\tfsmonitor = "touch {marker}; :"\n\tworktree = {tmp_path / "again"}\n')
    notes = filled.workspace.memory_dir
    bodies = [path for path in sorted(git.rglob("*")) if path.is_file() and path.stat().st_size]
    for at, path in enumerate(bodies):
        (notes / f"body{at}.md").write_bytes(path.read_bytes())
    real = save().snapshot
    known = {file.path: file for file in real.files}
    files = [
        structs.replace(known[f"memory/body{at}.md"], path=f"{folder}/{name}{path.relative_to(git).as_posix()}")
        for at, path in enumerate(bodies)
    ]
    empty = structs.replace(files[0], size=0, pieces=(), sha256=hashlib.sha256(b"").hexdigest())
    files += [structs.replace(empty, path=f"{folder}/{name}{sub}/.keep") for sub in ("objects", "refs/heads")]
    files += [structs.replace(empty, path=f"{folder}/{name}{sub}/keep.md") for sub in ("objects", "refs/heads")]
    forged = forged_with(place, real, *files)
    result = restored(place, tmp_path / "again", forged.id)
    assert result.left_out
    where = tmp_path / "again" / folder
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path)}
    if where.exists():
        subprocess.run(["git", "status"], cwd=where, env=environment, capture_output=True, check=False)
    assert not marker.exists()


def test_a_repository_and_hidden_files_are_named_as_not_saved(filled: Memory, save: Save) -> None:
    skills = filled.workspace.skills
    (skills / "brief" / ".git").mkdir()
    (skills / "brief" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (skills / "brief" / ".envrc").write_text("true\n")
    assert save().skipped == ("skills/brief/.envrc", "skills/brief/.git")


def test_the_check_compares_what_a_restore_compares(filled: Memory, save: Save, place: LocalPlace) -> None:
    filled.workspace.memory_md.write_text("- a note\n")
    real = save().snapshot
    note = note_of(real)
    for changed in (structs.replace(note, sha256="0" * 64), structs.replace(note, size=note.size - 1)):
        files = tuple(changed if file is note else file for file in real.files)
        forged = structs.replace(real, files=files, digest=digest_of(files), time_ms=real.time_ms + 1)
        place.write(forged.id + SUFFIX, encode_snapshot(forged))
        (problem,) = check_backup(place).problems
        assert (problem.snapshots, problem.files) == ((forged.id,), ("MEMORY.md",))
        place.delete(forged.id + SUFFIX)


def test_a_snapshot_that_does_not_fit_on_the_disk_is_not_begun(
    filled: Memory, save: Save, place: LocalPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.workspace.memory_dir.joinpath("big.md").write_text("x" * 2**20)
    real = save().snapshot
    big = next(file for file in real.files if file.path == "memory/big.md")
    many = 10_000  # pieces of a megabyte
    bomb = structs.replace(big, path="memory/bomb.md", size=many * 2**20, pieces=big.pieces * many)
    forged = forged_with(place, real, bomb)
    monkeypatch.setattr("memory.backup.restore.free_bytes", lambda _: 5_000 * 2**20)
    with pytest.raises(BackupDiskFull, match=r"10,0\d\d\.\d MB|9\.8 GB"):
        restored(place, tmp_path / "again", forged.id)
    assert not list(tmp_path.glob(".again*"))


def test_a_file_is_written_no_further_than_its_size(
    filled: Memory, save: Save, place: LocalPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.workspace.memory_dir.joinpath("big.md").write_text("x" * 2**20)
    real = save().snapshot
    big = next(file for file in real.files if file.path == "memory/big.md")
    forged = forged_with(place, real, structs.replace(big, path="memory/bomb.md", pieces=big.pieces * 1_000))
    read = list[str]()
    whole = LocalPlace.read

    def count(self: LocalPlace, name: str) -> bytes:
        read.append(name)
        return whole(self, name)

    monkeypatch.setattr(LocalPlace, "read", count)
    with pytest.raises(BackupDamaged, match=r"memory/bomb\.md"):
        restored(place, tmp_path / "again", forged.id)
    assert read.count(big.pieces[0] + ".piece") < 5


def test_a_folder_of_the_user_beside_the_target_stays(save: Save, place: LocalPlace, tmp_path: Path) -> None:
    save()
    mine = tmp_path / ".again.restoring"
    mine.mkdir()
    (mine / "mine.txt").write_text("mine")
    with pytest.raises(UnusableFolder, match="was not changed"):
        restored(place, tmp_path / "again")
    assert (mine / "mine.txt").read_text() == "mine"
    (mine / "mine.txt").rename(mine / ".palimpsest-restoring")  # as a restore that was killed leaves it
    assert restored(place, tmp_path / "again").report.problems == ()
    assert not mine.exists()
    assert not (tmp_path / "again" / ".palimpsest-restoring").exists()


def test_a_huge_file_hides_no_good_snapshot(save: Save, place: LocalPlace, tmp_path: Path) -> None:
    good = save().snapshot.id
    huge = place.folder / "20200101T000000000Z-00000000.snapshot"
    with huge.open("wb") as file:
        file.truncate(50 * 2**30)  # sparse
    snapshots, unreadable = readable_snapshots(place)
    assert ([each.id for each in snapshots], len(unreadable)) == ([good], 1)
    assert "too large" in unreadable[0].title or "larger than" in unreadable[0].message
    assert [huge.name in problem.message for problem in check_backup(place).problems] == [True]
    assert restored(place, tmp_path / "again").report.problems == ()
    assert save().snapshot.id
