"""A disk that fills up or refuses: the error says so, no snapshot is made, and the earlier ones are intact."""

import errno
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from foundation.clock import SystemClock
from foundation.files import make_private_folder
from foundation.paths import Workspace
from memory.backup import place as place_module
from memory.backup.backup import BackupResult, back_up
from memory.backup.choice import choose_snapshot
from memory.backup.errors import BackupDiskFull, BackupUnreachable
from memory.backup.place import LocalPlace
from memory.backup.restore import restore
from memory.backup.snapshot import snapshot_ids
from memory.backup.verify import check_backup
from memory.errors import StoreFull
from memory.settings import ArchiveSettings
from memory.sync.names import name_of
from memory.sync.place import SYNC
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
    with pytest.raises(BackupDiskFull, match="earlier ones are intact"):
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
    with pytest.raises(BackupDiskFull, match=f"No space is left in {small_disk} for the restored files") as error:
        restore(place, choose_snapshot(place, None), small_disk / "again", settings=SETTINGS)
    assert list(small_disk.iterdir()) == []
    assert "Nothing was restored" in error.value.message
    assert "snapshot" not in error.value.message + error.value.hint, "nothing was being saved"
    assert "--keep" not in error.value.hint
    assert error.value.exit_status == StoreFull.exit_status


def test_a_full_disk_of_the_workspace_is_named_as_that(
    small_disk: Path, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, _ = archived(tmp_path / "workspace", clock)
    memory.close()
    shutil.copytree(memory.workspace.root, small_disk / "workspace")
    workspace, place = Workspace(small_disk / "workspace"), LocalPlace(tmp_path / "backup")
    first = save(workspace, place).snapshot.id
    before = {path.name for path in place.folder.iterdir()}
    fill(small_disk)
    assert workspace.database.stat().st_size > 65_536
    with pytest.raises(BackupDiskFull, match=f"No space is left in {workspace.state} for the temporary copy") as error:
        save(workspace, place)
    assert error.value.title == "The disk of the workspace is full"
    assert "on the disk of the workspace" in error.value.hint
    assert "--keep" not in error.value.hint
    assert {path.name for path in place.folder.iterdir()} == before
    assert snapshot_ids(place) == [first]
    (small_disk / "filler").unlink()
    refused = OSError(errno.ENOSPC, "refused")
    monkeypatch.setattr("memory.backup.backup.make_private_folder", raising(refused, workspace.state / "backup"))
    with pytest.raises(BackupDiskFull, match="No space is left in"):
        save(workspace, place)


def raising(error: OSError, at: Path) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        if path == at:
            raise error
        make_private_folder(path)

    return make


def fill(disk: Path) -> None:
    """Leaves 64 kB: enough for what SQLite keeps beside a database, too little for a copy of it."""
    with (disk / "filler").open("wb", buffering=0) as file:
        with suppress(OSError):
            while True:
                file.write(bytes(4096))
        file.truncate(file.tell() - 65_536)


def test_a_full_location_of_sync_is_no_backup(small_disk: Path) -> None:
    place = LocalPlace(small_disk / "shared", SYNC)
    place.make()
    with pytest.raises(BackupDiskFull, match=f"No space is left at {place.folder}") as error:
        place.write(str(name_of(f"d_{'0' * 12}", 1, b"x")), bytes(3 * 2**20))
    assert "snapshot" not in error.value.message + error.value.hint
    assert "--keep" not in error.value.hint


def test_a_place_that_is_read_only_is_named_as_that(saved: Workspace, small_disk: Path) -> None:
    place = LocalPlace(small_disk / "backup")
    save(saved, place)
    before = {path.name: path.read_bytes() for path in place.folder.iterdir()}
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for folder in (place.folder, small_disk / "new"):
        with pytest.raises(BackupUnreachable, match=f"Nothing can be written in {folder}: Read-only file") as error:
            save(saved, LocalPlace(folder))
        assert error.value.title == "The backup cannot be written to"
        assert "another location" in error.value.hint
    assert {path.name: path.read_bytes() for path in place.folder.iterdir()} == before
    assert check_backup(place).problems == (), "it can be read"


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
