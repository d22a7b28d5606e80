"""Paths of backups and of locations of sync stay, though they hold the words; the job ends, and names them."""

from pathlib import Path

import pytest

from foundation.clock import SystemClock
from foundation.paths import Workspace
from memory.forget.scan import ScanResult
from memory.forget.used_paths import PathsInUse
from memory.forgotten.fingerprints import Fingerprints
from memory.memory import Memory
from tests.agent.conftest import Run
from tests.memory.forget.bytes_of import places_of

pytestmark = pytest.mark.timeout(60)

CONFIGURATION = {
    ".palimpsest/backup.json",
    ".palimpsest/cold.db",
    ".palimpsest/config.yaml",
    ".palimpsest/forgotten/locations.json",
    ".palimpsest/sync.json",
}


def test_words_in_the_paths_of_a_backup_and_a_location_end_the_job(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "zqanna" / "sync").mkdir(parents=True)
    run("remember", "zqanna likes tea")
    run("-p", "Hello zqanna.")
    assert run("sync", "add", str(tmp_path / "zqanna" / "sync"), "--no-encrypt").status == 0
    assert run("sync", "now").status == 0
    assert run("backup", str(tmp_path / "zqanna" / "bk")).status == 0
    done = run("forget", "zqanna", "--yes")
    assert done.status == 0, done.err
    assert ".palimpsest/config.yaml contains it and is your own file: edit it yourself." in done.out
    assert "Also in the path of " in done.out
    assert "sync remove` stops using" in done.out
    assert set(places_of(root, ["zqanna"])) <= CONFIGURATION
    assert run("sync", "now").status == 0
    assert run("backup", str(tmp_path / "zqanna" / "bk")).status == 0
    assert run("forget").status == 0


def test_a_name_in_the_path_of_the_workspace_is_forgotten(bare: Run, tmp_path: Path) -> None:
    root = tmp_path / "zqanna" / "ws"
    assert bare("init", str(root)).status == 0
    assert bare("--workspace", str(root), "-p", "Hello zqanna.").status == 0
    assert bare("--workspace", str(root), "knowledge", "add", str(root / "SOUL.md")).status == 0
    done = bare("--workspace", str(root), "forget", "zqanna", "--yes")
    assert done.status == 0, done.err
    assert places_of(root, ["zqanna"]) == {}


def test_the_words_beside_such_a_path_are_found(workspace: Workspace) -> None:
    memory = Memory.open(workspace, SystemClock())
    prints = Fingerprints.of([b"zqanna"], memory.cold.secret)
    memory.close()
    used = PathsInUse(("/home/zqanna/sync",), prints)
    assert not used.beside(b'x\0/home/zqanna/sync"y')
    assert used.beside(b"x\0/home/zqanna/sync\0/home/zqanna/other")
    cut = b"/home/zqanna/s"
    assert used.beside(cut)
    assert not used.beside(cut, end=8)
    assert not used.beside(b"zqanna/sync", start=8)


@pytest.mark.parametrize("place", ["MEMORY.md", ".palimpsest/cold.db"])
def test_nobody_is_sent_to_delete_a_part_of_the_store(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    run("-p", "It is zqvorn.")
    monkeypatch.setattr("memory.forget.job.scan_workspace", lambda _: ScanResult(1, 1, (place,)))
    assert run("forget", "zqvorn", "--yes").status == 75
    ended = run("forget")
    assert (ended.status, place in ended.err, "delete it" in ended.err) == (1, True, False)


def test_the_name_of_a_device_is_taken_out_here_and_at_the_location(run: Run, root: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    run("-p", "Hello.")
    assert run("sync", "add", str(place), "--no-encrypt", "--name", "zqanna-laptop").status == 0
    assert run("sync", "now").status == 0
    assert places_of(place, ["zqanna"])
    done = run("forget", "zqanna", "--yes")
    assert done.status == 0, done.err
    assert places_of(root, ["zqanna"]) == {}
    assert places_of(place, ["zqanna"]) == {}
    assert run("sync", "now").status == 0
