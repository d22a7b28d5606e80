"""A backup holds the whole workspace, costs little the second time, and comes back to the byte."""

import re
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.backup.backup import back_up
from memory.backup.choice import choose_snapshot
from memory.backup.database import copy_database
from memory.backup.errors import (
    BackupInUse,
    BackupUnreachable,
    NotABackup,
    UnusableFolder,
    WorkspaceBusy,
)
from memory.backup.place import LocalPlace, open_place
from memory.backup.snapshot import snapshot_ids
from memory.backup.verify import check_backup
from memory.check import check
from memory.memory import Memory
from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import talk
from tests.memory.backup.conftest import SETTINGS, Save, flip, restored
from tests.paths import ROOT

NOT_SAVED = ("pages", "postings", "cold.db-writers", "backup", "backup.json")


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


def test_a_snapshot_of_a_clock_that_was_ahead_never_costs_the_one_just_made(
    filled: Memory, save: Save, place: LocalPlace, clock: FakeClock, tmp_path: Path
) -> None:
    note, now = filled.workspace.memory_md, clock.moment
    note.write_text("- the word quagga\n")
    clock.advance(400 * 86_400)
    ahead = save().snapshot.id
    clock.moment = now
    past = save().snapshot.id
    note.write_text("- nothing\n")
    result = save(keep=2)
    assert snapshot_ids(place) == [past, result.snapshot.id], "the one from the future goes first"
    assert result.dated_later == (ahead,)
    clock.advance(400 * 86_400)
    ahead = save().snapshot.id
    clock.moment = now + timedelta(hours=1)
    result = save(keep=1)
    assert (snapshot_ids(place), result.dated_later) == ([result.snapshot.id], (ahead,))
    assert restored(place, tmp_path / "again").report.problems == ()
    assert (tmp_path / "again" / "MEMORY.md").read_text() == "- nothing\n"
    assert save(keep=1).dated_later == ()
    assert check_backup(place).unneeded == 0


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


def test_folders_that_will_not_do_are_refused(save: Save, place: LocalPlace, filled: Memory, tmp_path: Path) -> None:
    root = filled.workspace.root
    with pytest.raises(UnusableFolder, match="inside"):
        open_place("deeper/backup", root, [root])
    with pytest.raises(UnusableFolder, match="inside"):
        open_place(str(tmp_path / "linked" / "backup"), root, [root, tmp_path / "linked"])
    with pytest.raises(UnusableFolder, match="not a valid location"):
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


@pytest.mark.parametrize("existing", [False, True])
def test_nothing_is_restored_into_a_workspace_or_into_the_backup(
    filled: Memory, save: Save, place: LocalPlace, tmp_path: Path, *, existing: bool
) -> None:
    save()
    root = filled.workspace.root
    (tmp_path / "link").symlink_to(root)
    (root / "deep").mkdir()
    targets = {
        root / "inside": f"is inside the workspace {root}",
        root / "deep" / "inside": f"is inside the workspace {root}",
        tmp_path / "link" / "through": f"{root / 'through'} is inside the workspace {root}",
        place.folder / "x": f"is inside the backup {place.folder}",
    }
    for target, sentence in targets.items():
        if existing:
            target.mkdir()
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(UnusableFolder, match=re.escape(sentence)) as error:
            restored(place, target)
        assert "elsewhere" in error.value.hint
        assert sorted(tmp_path.rglob("*")) == before
        if existing:
            target.rmdir()
    assert restored(place, root.with_name(f"{root.name}-again")).report.problems == (), "beside it"


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
    odd = ["[bold]x.md", "a b.md", "二 🐋.md", "back\\slash.md"]
    for name in odd:
        (filled.workspace.root / "memory" / name).write_text(as_given(name))
    save()
    restored(place, tmp_path / "again")
    assert [name for name in odd if not (tmp_path / "again" / "memory" / name).is_file()] == []
