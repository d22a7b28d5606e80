"""A backup behind fsspec: in memory, on a real S3 server and a real SSH server on loopback."""

from pathlib import Path
from typing import Any

import pytest

from foundation.clock import SystemClock
from foundation.names import BACKUP_FILE
from foundation.paths import Workspace
from memory.archive.packs.remote import RemoteStorage
from memory.backup.backup import BackupResult, back_up
from memory.backup.choice import choose_snapshot
from memory.backup.errors import BackupUnreachable
from memory.backup.place import BackupPlace, LocalPlace, RemotePlace, open_place
from memory.backup.restore import restore
from memory.backup.snapshot import snapshot_ids
from memory.backup.verify import check_backup
from memory.settings import ArchiveSettings
from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import archived
from tests.memory.archive.pack_servers import s3_server, ssh_server

SETTINGS = ArchiveSettings(parity=0)


class FakeRemote(RemoteStorage):
    """fsspec's file system in memory, empty, which can stop answering after a number of uploads."""

    def __init__(self) -> None:
        from fsspec.implementations.memory import MemoryFileSystem

        MemoryFileSystem.store.clear()  # one for the process
        super().__init__("memory://backups", "/backups", BACKUP_FILE)
        self.uploads_left = -1
        self.uploaded: list[str] = []

    def _connect(self) -> Any:
        from fsspec.implementations.memory import MemoryFileSystem

        class FreshFileSystem(MemoryFileSystem):
            """As fsspec's own takes `refresh` nowhere."""

            def info(self, path: str, **_: Any) -> Any:
                return super().info(path)

        return FreshFileSystem(skip_instance_cache=True)

    def _end(self, connection: Any) -> None:
        """Nothing to close."""

    def _get(self, fs: Any, path: str, start: int, end: int) -> bytes:
        return fs.cat_file(path, start=start, end=end)

    def upload(self, fs: Any, path: str, data: bytes) -> None:
        if self.uploads_left == 0:
            raise ConnectionResetError("the line is dead")
        self.uploads_left -= 1
        self.uploaded.append(path)
        fs.pipe_file(path, data)


@pytest.fixture
def saved(tmp_path: Path, clock: FakeClock) -> Workspace:
    memory, _ = archived(tmp_path / "workspace", clock)
    memory.close()
    return memory.workspace


def save(workspace: Workspace, place: BackupPlace, keep: int = 0) -> BackupResult:
    return back_up(workspace, place, SystemClock(), device="d", program="0", keep=keep)


def round_trip(workspace: Workspace, place: BackupPlace, tmp_path: Path) -> None:
    first = save(workspace, place)
    (workspace.root / "MEMORY.md").write_text("- 二 🐋\n", encoding="utf-8")
    second = save(workspace, place)
    assert (first.new_pieces > 5, second.new_pieces) == (True, 1)
    assert check_backup(place).problems == ()
    result = restore(place, choose_snapshot(place, None), tmp_path / "again", settings=SETTINGS)
    assert result.report.problems == ()
    assert (tmp_path / "again" / "MEMORY.md").read_text("utf-8") == "- 二 🐋\n"
    save(workspace, place, keep=1)
    assert len(snapshot_ids(place)) == 1
    assert check_backup(place).unneeded == 0


def test_a_file_system_of_fsspec_holds_a_backup(saved: Workspace, tmp_path: Path) -> None:
    round_trip(saved, RemotePlace(FakeRemote()), tmp_path)


def test_a_backup_that_lost_its_line_goes_on_with_what_was_sent(saved: Workspace) -> None:
    storage = FakeRemote()
    place = RemotePlace(storage)
    storage.uploads_left = 4
    with pytest.raises(BackupUnreachable, match="the line is dead"):
        save(saved, place)
    sent, storage.uploads_left, storage.uploaded = set(storage.uploaded), -1, []
    save(saved, place)
    assert len(sent) == 4
    assert not sent & set(storage.uploaded)
    assert check_backup(place).problems == ()


@pytest.mark.slow
@pytest.mark.timeout(90)
def test_s3_holds_a_backup_and_a_copy_of_it_is_one(
    saved: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with s3_server(monkeypatch, "backups") as client:
        round_trip(saved, open_place("s3://backups/mine", tmp_path), tmp_path)
        copy = LocalPlace(tmp_path / "copy")
        copy.folder.mkdir()
        for item in client.list_objects_v2(Bucket="backups")["Contents"]:
            body = client.get_object(Bucket="backups", Key=item["Key"])["Body"].read()
            (copy.folder / Path(item["Key"]).name).write_bytes(body)
    assert check_backup(copy).problems == ()
    assert restore(copy, choose_snapshot(copy, None), tmp_path / "copied", settings=SETTINGS).report.problems == ()


@pytest.mark.slow
@pytest.mark.timeout(90)
def test_a_host_over_ssh_holds_a_backup(saved: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ssh_server(tmp_path / "home", monkeypatch) as server:
        address = f"ssh://someone@127.0.0.1:{server.port}/backups"
        round_trip(saved, open_place(address, tmp_path), tmp_path)


def test_a_place_that_does_not_answer_is_not_called_damaged(
    saved: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = FakeRemote()

    def refused() -> Any:
        raise ConnectionRefusedError("nobody listens")

    monkeypatch.setattr(storage, "_connect", refused)
    place = RemotePlace(storage)
    for work in (lambda: save(saved, place), lambda: check_backup(place), lambda: choose_snapshot(place, None)):
        with pytest.raises(BackupUnreachable, match="nobody listens"):
            work()
