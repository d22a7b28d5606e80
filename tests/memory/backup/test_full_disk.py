"""A disk that fills up or refuses: the error says so, no snapshot is made, and the earlier ones are whole."""

import errno
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from foundation.clock import SystemClock
from foundation.paths import Workspace
from memory.backup import place as place_module
from memory.backup.backup import BackupResult, back_up
from memory.backup.choice import choose_snapshot
from memory.backup.errors import BackupDiskFull, BackupUnreachable
from memory.backup.place import LocalPlace
from memory.backup.restore import restore
from memory.backup.snapshot import snapshot_ids
from memory.backup.verify import check_backup
from memory.settings import ArchiveSettings
from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import archived

SETTINGS = ArchiveSettings(parity=0)


@pytest.fixture
def saved(tmp_path: Path, clock: FakeClock) -> Workspace:
    memory, _ = archived(tmp_path / "workspace", clock)
    memory.close()
    return memory.workspace


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("only root may mount a small file system")
    yield folder
    subprocess.run(["umount", folder], check=True)


def save(workspace: Workspace, place: LocalPlace) -> BackupResult:
    return back_up(workspace, place, SystemClock(), device="d", program="0")


def grow(workspace: Workspace, size: int = 3 * 2**20) -> None:
    (workspace.root / "memory").mkdir(exist_ok=True)
    (workspace.root / "memory" / "large.md").write_bytes(random.randbytes(size))


def test_a_full_disk_leaves_no_snapshot_and_gives_its_space_back(saved: Workspace, small_disk: Path) -> None:
    place = LocalPlace(small_disk / "backup")
    save(saved, place)
    before = {path.name for path in place.folder.iterdir()}
    grow(saved)
    with pytest.raises(BackupDiskFull, match="earlier ones are whole"):
        save(saved, place)
    assert {path.name for path in place.folder.iterdir()} == before
    assert check_backup(place).problems == ()
    (saved.root / "memory" / "large.md").unlink()
    save(saved, place)
    assert len(snapshot_ids(place)) == 2


def test_a_restore_to_a_full_disk_leaves_nothing(saved: Workspace, tmp_path: Path, small_disk: Path) -> None:
    place = LocalPlace(tmp_path / "backup")
    grow(saved)
    save(saved, place)
    with pytest.raises(BackupDiskFull, match=str(small_disk)):
        restore(place, choose_snapshot(place, None), small_disk / "again", settings=SETTINGS)
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "kind"), [(errno.ENOSPC, BackupDiskFull), (errno.EDQUOT, BackupDiskFull), (errno.EIO, BackupUnreachable)]
)
def test_a_failure_at_every_write_leaves_earlier_snapshots_alone(
    saved: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, kind: type[Exception]
) -> None:
    place = LocalPlace(tmp_path / "backup")
    first = save(saved, place).snapshot.id
    real, failing = place_module.write_atomically, 0
    for failing in range(3):
        (saved.root / "MEMORY.md").write_text(f"- new {failing}\n")
        (saved.root / "AGENTS.md").write_text(f"- new, too {failing}\n")
        calls = iter(range(100))

        def write(path: Path, data: bytes, *, sync: bool, failing: int = failing, calls: Iterator[int] = calls) -> None:
            if next(calls) == failing:
                raise OSError(code, "refused")
            real(path, data, sync=sync)

        monkeypatch.setattr(place_module, "write_atomically", write)
        with pytest.raises(kind):
            save(saved, place)
        assert snapshot_ids(place) == [first]
        assert check_backup(place).problems == ()
    monkeypatch.setattr(place_module, "write_atomically", real)
    save(saved, place)
    assert check_backup(place).problems == ()


def test_a_snapshot_whose_name_may_not_last_goes_with_its_pieces(
    saved: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = LocalPlace(tmp_path / "backup")
    first = save(saved, place).snapshot.id
    (saved.root / "MEMORY.md").write_text("- new\n")
    real = place_module.write_atomically

    def write(path: Path, data: bytes, *, sync: bool) -> None:
        real(path, data, sync=sync)
        if path.suffix == ".snapshot":  # the folder's sync, after the file has its name
            raise OSError(errno.ENOSPC, "refused")

    monkeypatch.setattr(place_module, "write_atomically", write)
    with pytest.raises(BackupDiskFull):
        save(saved, place)
    assert snapshot_ids(place) == [first]
    assert check_backup(place).problems == ()
