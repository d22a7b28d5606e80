"""A backup holds the whole workspace, costs little the second time, and comes back to the byte."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec import structs

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.backup.backup import BackupResult, back_up
from memory.backup.choice import choose_snapshot
from memory.backup.database import copy_database
from memory.backup.errors import (
    BackupDamaged,
    BackupInUse,
    BackupUnreachable,
    NewerBackup,
    NotABackup,
    UnusableFolder,
    WorkspaceBusy,
)
from memory.backup.place import LocalPlace, open_place
from memory.backup.restore import RestoreResult, restore
from memory.backup.snapshot import SUFFIX, digest_of, encode_snapshot, snapshot_ids
from memory.backup.verify import check_backup
from memory.check import check
from memory.errors import Damaged
from memory.memory import Memory
from memory.settings import ArchiveSettings
from memory.versions.objects import checked
from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import archived, talk
from tests.paths import ROOT

SETTINGS = ArchiveSettings(parity=0)
NOT_SAVED = ("pages", "postings", "cold.db-writers", "backup", "backup.json")


@pytest.fixture
def filled(tmp_path: Path, clock: FakeClock) -> Iterator[Memory]:
    """An open workspace with an archive, notes in Chinese, and skills."""
    root = tmp_path / "workspace"
    memory, _ = archived(root, clock)
    (root / "MEMORY.md").write_text("# Notes\n\n- 锅炉在五月保养 🐋\n", encoding="utf-8")
    (root / "memory").mkdir(exist_ok=True)
    (root / "memory" / "空.md").write_text("- 二\n", encoding="utf-8")
    (root / "skills" / "brief").mkdir(parents=True)
    (root / "skills" / "brief" / "SKILL.md").write_text("Be brief.\n", encoding="utf-8")
    (root / "skills" / "brief" / "run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (root / "skills" / "brief" / "run.sh").chmod(0o755)
    memory.hot.refresh()
    memory.mirrors.renew()
    yield memory
    memory.close()


@pytest.fixture
def place(tmp_path: Path) -> LocalPlace:
    return LocalPlace(tmp_path / "backup")


Save = Callable[..., BackupResult]


@pytest.fixture
def save(filled: Memory, place: LocalPlace, clock: FakeClock) -> Save:
    def save(**more: object) -> BackupResult:
        clock.advance(60)
        return back_up(filled.workspace, place, clock, device="desk", program="0.0", **more)  # type: ignore[arg-type] -- keywords of the test

    return save


def restored(place: LocalPlace, target: Path, at: str | None = None) -> RestoreResult:
    return restore(place, choose_snapshot(place, at), target, settings=SETTINGS)


def contents(root: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and mode of each file that a backup has, but for the database."""
    found: dict[str, tuple[bytes, int]] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        own = name.removeprefix(".palimpsest/")
        if (
            path.is_file()
            and not name.endswith(".lock")
            and own.split("/")[0] not in NOT_SAVED
            and "cold.db" not in own
        ):
            found[name] = path.read_bytes(), path.stat().st_mode & 0o777
    return found


def flip(path: Path, at: int) -> None:
    body = bytearray(path.read_bytes())
    body[at] ^= 1
    path.write_bytes(body)


def test_what_is_restored_is_the_workspace_to_the_byte(
    filled: Memory, save: Save, place: LocalPlace, tmp_path: Path
) -> None:
    before = contents(filled.workspace.root)
    assert len(before) > 10
    save()
    result = restored(place, tmp_path / "again")
    assert contents(tmp_path / "again") == before
    assert result.report.problems == ()
    assert result.report.pages == len(filled.vault.pages()) > 0
    again = Memory.open(Workspace(tmp_path / "again"), read_only=False)
    try:
        assert again.statistics().entries == filled.statistics().entries
    finally:
        again.close()


def test_caches_locks_and_logs_are_not_saved(filled: Memory, save: Save) -> None:
    state = filled.workspace.state
    for name in ("pages/p.png", "postings/x", "vectors/a/x", "prompt-caches/x", "pack-cache/x", "log.txt", "x.lock"):
        (state / name).parent.mkdir(parents=True, exist_ok=True)
        (state / name).write_bytes(b"made again")
    (state / "drafts").mkdir(exist_ok=True)
    (state / "drafts" / "a.md").write_text("not sent yet")
    names = {file.path for file in save().snapshot.files}
    assert ".palimpsest/drafts/a.md" in names
    assert ".palimpsest/cold.db" in names
    assert not [name for name in names if any(part in name for part in ("png", "/x", "log", "lock", "-wal", "backup"))]


def test_the_second_backup_costs_what_changed(filled: Memory, save: Save, place: LocalPlace) -> None:
    first = save()
    unchanged = save()
    assert (unchanged.new_pieces, unchanged.new_bytes) == (0, 0)
    with (filled.workspace.root / "MEMORY.md").open("a", encoding="utf-8") as file:
        file.write("- 三\n")
    assert save().new_pieces == 1
    assert first.new_pieces > 10
    assert len(snapshot_ids(place)) == 3


def test_a_small_change_of_a_large_database_costs_a_few_pieces(
    filled: Memory, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.backup.backup.DATABASE_PIECE", 16_384)
    for n in range(5):
        talk(filled, 20, f"conversation {n}")
    large = save()
    database = next(file for file in large.snapshot.files if file.path.endswith("cold.db"))
    assert len(database.pieces) > 12
    talk(filled, 1)
    assert save().new_pieces < len(database.pieces) * 0.8


def test_each_snapshot_comes_back_as_it_was(filled: Memory, save: Save, place: LocalPlace, tmp_path: Path) -> None:
    note = filled.workspace.memory_md
    made: list[tuple[str, str]] = []
    for n in range(3):
        note.write_text(f"- {n}\n")
        made.append((save().snapshot.id, note.read_text()))
    for n, (name, text) in enumerate(made):
        restored(place, tmp_path / f"again{n}", name)
        assert (tmp_path / f"again{n}" / "MEMORY.md").read_text() == text


def test_a_snapshot_is_chosen_by_its_id_or_the_time(save: Save, place: LocalPlace, clock: FakeClock) -> None:
    first = save().snapshot
    clock.advance(2 * 86_400)
    second = save().snapshot
    assert choose_snapshot(place, None) == second
    assert choose_snapshot(place, first.id[:18]) == first
    assert choose_snapshot(place, f"{first.time.astimezone():%Y-%m-%d}") == first
    assert choose_snapshot(place, f"{second.time.astimezone():%Y-%m-%d %H:%M}") == second
    for wrong in ("1999-01-01", "yesterday"):
        with pytest.raises(Exception, match=wrong):
            choose_snapshot(place, wrong)


def test_only_the_newest_snapshots_are_kept_and_their_pieces(
    filled: Memory, save: Save, place: LocalPlace, tmp_path: Path
) -> None:
    note = filled.workspace.memory_md
    for n in range(4):
        note.write_text(f"- {n}\n" * 1000)
        result = save(keep=2)
    assert (result.removed.snapshots, result.removed.pieces) == (1, 1)
    assert len(snapshot_ids(place)) == 2
    assert check_backup(place).unneeded == 0
    assert restored(place, tmp_path / "again").report.problems == ()


def test_other_workspaces_at_the_place_keep_theirs(
    filled: Memory, save: Save, place: LocalPlace, clock: FakeClock
) -> None:
    save()
    back_up(filled.workspace, place, clock, device="laptop", program="0.0", keep=1)
    save(keep=1)
    assert len(snapshot_ids(place)) == 2


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
    assert result.left_out == ("MEMORY.md",)
    assert result.files == len(snapshot.files) - 1
    assert not (tmp_path / "again" / "MEMORY.md").exists()


def test_unreadable_snapshots_keep_all_pieces(filled: Memory, save: Save, place: LocalPlace) -> None:
    save()
    old = next(place.folder.glob("*.snapshot"))
    flip(old, 50)
    filled.workspace.memory_md.write_text("- other\n")
    assert save(keep=1).removed.pieces == 0


@pytest.mark.parametrize(
    "path", ["../outside.md", "/outside.md", "memory/../../outside.md", "memory//x", "./x", "memory/.", "C:x", "", "a/"]
)
def test_a_forged_snapshot_leads_nowhere_outside(save: Save, place: LocalPlace, tmp_path: Path, path: str) -> None:
    real = save().snapshot
    note = next(file for file in real.files if file.path == "MEMORY.md")
    files = (structs.replace(note, path=path),)
    forged = structs.replace(real, files=files, digest=digest_of(files), time_ms=real.time_ms + 1)
    place.write(forged.id + SUFFIX, encode_snapshot(forged))
    with pytest.raises(BackupDamaged, match=forged.id):
        restored(place, tmp_path / "again")
    assert not (tmp_path / "outside.md").exists()


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


def test_folders_that_will_not_do_are_refused(save: Save, place: LocalPlace, filled: Memory, tmp_path: Path) -> None:
    root = filled.workspace.root
    with pytest.raises(UnusableFolder, match="inside"):
        open_place("deeper/backup", root, [root])
    with pytest.raises(UnusableFolder, match="inside"):
        open_place(str(tmp_path / "linked" / "backup"), root, [root, tmp_path / "linked"])
    with pytest.raises(UnusableFolder, match="no place"):
        open_place("ftp://host/x", tmp_path)
    with pytest.raises(NotABackup, match="other files"):
        back_up(filled.workspace, LocalPlace(root.parent), SystemClock(), device="d", program="0")
    with pytest.raises(BackupUnreachable, match="no folder"):
        back_up(filled.workspace, LocalPlace(tmp_path / "usb" / "backup"), SystemClock(), device="d", program="0")
    with pytest.raises(NotABackup):
        snapshot_ids(LocalPlace(tmp_path))
    save()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(UnusableFolder, match="already"):
        restored(place, tmp_path / "full")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    assert restored(place, tmp_path / "empty").report.problems == ()


def test_two_backups_at_once_are_refused(filled: Memory, save: Save, place: LocalPlace, clock: FakeClock) -> None:
    save()
    with place.locked(), pytest.raises(BackupInUse):
        back_up(filled.workspace, LocalPlace(place.folder), clock, device="d", program="0")


def test_links_are_named_and_not_followed(filled: Memory, save: Save, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("elsewhere")
    (filled.workspace.root / "memory" / "link.md").symlink_to(tmp_path / "secret.txt")
    result = save()
    assert result.skipped == ("memory/link.md",)
    assert "memory/link.md" not in {file.path for file in result.snapshot.files}


WRITER = """
import sys
from pathlib import Path
from foundation.paths import Workspace
from memory.memory import Memory
from tests.memory.archive.intact_workspace import talk
memory = Memory.open(Workspace(Path(sys.argv[1])), read_only=False)
print("open", flush=True)
n = 0
while True:
    n += 1
    said = talk(memory, 6, f"busy {n}")
    if n % 3 == 0:
        memory.vault.archive_entries(said, label=f"busy {n}")
    memory.mirrors.renew()
"""


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_backups_are_consistent_while_another_process_writes(filled: Memory, place: LocalPlace, tmp_path: Path) -> None:
    script = [sys.executable, "-c", WRITER, str(filled.workspace.root)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
        try:
            assert writer.stdout is not None and writer.stdout.readline() == "open\n"
            made = []
            for _ in range(6):
                made.append(back_up(filled.workspace, place, SystemClock(), device="d", program="0").snapshot)
                time.sleep(0.3)
            assert writer.poll() is None
        finally:
            writer.kill()
    assert len({snapshot.digest for snapshot in made}) >= 3, "nothing was written meanwhile"
    for n, snapshot in enumerate(made):
        assert restored(place, tmp_path / f"again{n}", snapshot.id).report.problems == ()


def test_a_copy_of_the_database_is_of_one_moment(
    filled: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the steps of the copy another connection writes: none of it is in the copy, nor does it begin anew."""
    monkeypatch.setattr("memory.backup.database._STEP", 10)
    talk(filled, 60, "old")
    entries, steps = filled.statistics().entries, list[int]()

    def write() -> None:
        steps.append(1)
        assert len(steps) < 50, "each write began it anew"
        talk(filled, 2, "new")

    (tmp_path / "copy" / ".palimpsest").mkdir(parents=True)
    copy_database(filled.workspace, tmp_path / "copy" / ".palimpsest" / "cold.db", on_step=write)
    again = Memory.open(Workspace(tmp_path / "copy"), read_only=False)
    try:
        assert len(steps) > 1
        assert again.statistics().entries == entries
        assert [problem for problem in again.cold.check() if "page" not in problem.message] == []
    finally:
        again.close()


def test_a_pack_that_goes_meanwhile_is_noticed(
    filled: Memory, place: LocalPlace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A pack is replaced after the database was copied: the backup is made again, with the database of then."""
    from memory.backup import backup as module

    real, attempts = module.copy_database, list[Path]()

    def copied(workspace: Workspace, target: Path, while_locked: Callable[[], None]) -> None:
        real(workspace, target, while_locked)
        attempts.append(target)
        if len(attempts) < least:
            (filled.workspace.packs / f"gone{len(attempts)}.pages").unlink()
            (filled.workspace.packs / f"gone{len(attempts) + 1}.pages").write_bytes(b"x")

    monkeypatch.setattr(module, "copy_database", copied)
    (filled.workspace.packs / "gone1.pages").write_bytes(b"x")
    least = 2
    back_up(filled.workspace, place, SystemClock(), device="d", program="0")
    assert len(attempts) == 2
    least = 9
    (filled.workspace.packs / f"gone{len(attempts) + 1}.pages").write_bytes(b"x")
    with pytest.raises(WorkspaceBusy):
        back_up(filled.workspace, place, SystemClock(), device="d", program="0")
    assert len(snapshot_ids(place)) == 1


def test_the_check_of_a_restored_workspace_finds_what_was_damaged_before(
    filled: Memory, save: Save, place: LocalPlace, tmp_path: Path
) -> None:
    pack = min(filled.workspace.packs.glob("*.pages"))
    flip(pack, pack.stat().st_size // 2)
    filled.close()
    assert check(filled.workspace, SETTINGS).problems
    save()
    assert restored(place, tmp_path / "again").report.problems != ()


def test_text_that_looks_like_markup_and_odd_names_survive(
    filled: Memory, save: Save, place: LocalPlace, tmp_path: Path
) -> None:
    odd = ["[bold]x.md", "a b.md", "二 🐋.md", "back\\slash.md", "...md"]
    for name in odd:
        (filled.workspace.root / "memory" / name).write_text(as_given(name))
    save()
    restored(place, tmp_path / "again")
    assert [name for name in odd if not (tmp_path / "again" / "memory" / name).is_file()] == []
