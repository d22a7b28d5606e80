"""A reminder comes where a backup was made and is old, and nowhere else."""

from datetime import timedelta

from foundation.clock import to_ms
from foundation.paths import Workspace
from memory.backup.reminder import LastBackup, last_backup, overdue, record_backup
from tests.fakes import FakeClock


def test_a_backup_is_overdue_after_the_days_of_the_setting(workspace: Workspace, clock: FakeClock) -> None:
    workspace.state.mkdir()
    assert overdue(workspace, clock.now(), 14) == ""
    record_backup(workspace, LastBackup(place="/mnt/备份", time_ms=to_ms(clock.now()), snapshot="x"))
    assert overdue(workspace, clock.now() + timedelta(days=13, hours=23), 14) == ""
    sentence = overdue(workspace, clock.now() + timedelta(days=14), 14)
    assert "14 days old" in sentence
    assert "backup /mnt/备份" in sentence or "backup '/mnt/备份'" in sentence
    assert overdue(workspace, clock.now() + timedelta(days=900), 0) == ""


def test_a_note_that_cannot_be_read_reminds_of_nothing(workspace: Workspace, clock: FakeClock) -> None:
    workspace.state.mkdir()
    for body in (b"", b"{", b"[]", b'{"place": 1}', b"x" * 20_000):
        (workspace.state / "backup.json").write_bytes(body)
        assert last_backup(workspace) is None
        assert overdue(workspace, clock.now(), 1) == ""
