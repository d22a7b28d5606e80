"""The room that memory takes is measured by kind, and there is a warning before its budget is used up."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from foundation.paths import Workspace
from foundation.sizes import MEGABYTE, free_bytes
from memory.settings import DiskSettings
from memory.upkeep import disk
from memory.upkeep.disk import disk_warning, measure


@pytest.fixture
def filled(workspace: Workspace) -> Workspace:
    files = {"packs/a.pack": 3, "pages/a.png": 2, "cold.db": 1}
    for name, megabytes in files.items():
        path = workspace.state / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(1024) * (1024 * megabytes))
    (workspace.root / "memory" / "笔记").mkdir(parents=True)
    (workspace.root / "memory" / "笔记" / "⛴.md").write_bytes(b"x" * 1000)
    (workspace.state / "packs" / "out").symlink_to("/usr")
    return workspace


def warned(workspace: Workspace, **settings: int) -> str:
    chosen = {"budget_mb": 0, "free_mb": 0, **settings}
    return disk_warning(measure(workspace), DiskSettings(**chosen), advice="Do something.")


def test_each_part_has_its_real_size_and_links_are_not_followed(filled: Workspace) -> None:
    use = measure(filled)
    sizes = {part.name: part.size for part in use.parts}
    link = os.lstat(filled.state / "packs" / "out").st_size
    assert sizes == {
        "packs": 3 * MEGABYTE + link,
        "page cache": 2 * MEGABYTE,
        "database": MEGABYTE,
        "notes": 1000,
    }
    assert use.size == sum(sizes.values())


def test_the_warning_comes_from_nine_tenths_of_the_budget_on(filled: Workspace) -> None:
    assert warned(filled, budget_mb=7) == "", "6 of 7 MB"
    sentence = warned(filled, budget_mb=6)
    assert sentence.startswith("Memory is over its budget: 6.0 MB of 6.0 MB (disk.budget_mb).")
    (filled.state / "pages" / "a.png").write_bytes(b"x" * (MEGABYTE * 3 // 2))
    assert warned(filled, budget_mb=6).startswith("Memory is near its budget: 5.5 MB of 6.0 MB")
    assert warned(filled, budget_mb=0) == ""


def test_it_names_what_takes_the_room_and_what_is_made_again(filled: Workspace) -> None:
    sentence = warned(filled, budget_mb=1)
    assert "packs 3.0 MB, page cache 2.0 MB, database 1.0 MB." in sentence
    assert "2.0 MB of it is regenerated if deleted." in sentence
    assert sentence.endswith("Do something.")


def test_little_free_space_is_a_warning_of_its_own(filled: Workspace) -> None:
    use = measure(filled, lambda _: 10 * MEGABYTE)
    low = disk_warning(use, DiskSettings(budget_mb=0, free_mb=11), advice="")
    assert low.startswith("Only 10.0 MB free on the workspace's disk")
    assert disk_warning(use, DiskSettings(budget_mb=0, free_mb=10), advice="") == ""
    unknown = measure(filled, lambda _: None)
    assert disk_warning(unknown, DiskSettings(budget_mb=0, free_mb=11), advice="") == ""


def test_the_system_says_what_is_free(tmp_path: Path) -> None:
    """What stands for it above is of the same kind: bytes that a user may write, and None where nobody knows."""
    free = free_bytes(tmp_path)
    assert free is not None
    assert 0 < free <= shutil.disk_usage(tmp_path).total
    assert free_bytes(tmp_path / "nowhere") is None


@pytest.mark.skipif(sys.platform != "linux", reason="needs a namespace for a small file system")
def test_a_small_real_disk_that_fills_is_noticed(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from foundation.paths import Workspace
from foundation.sizes import free_bytes
from memory.settings import DiskSettings
from memory.upkeep.disk import disk_warning, measure
root = Path(sys.argv[1])
def said():
    return disk_warning(measure(Workspace(root)), DiskSettings(budget_mb=0, free_mb=4), advice="")[:4]
print(repr(said()))
(root / "ballast").write_bytes(b"x" * 5 * 2**20)
print(repr(said()))
"""
    mount = f"mount -t tmpfs -o size=8m none {tmp_path} && exec {sys.executable} -c '{script}' {tmp_path}"
    ran = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", mount], capture_output=True, text=True, timeout=30, check=False
    )
    if ran.returncode and "unshare" in ran.stderr:
        pytest.skip("no user namespaces here")
    assert ran.stdout.split() == ["''", "'Only'"], ran.stderr


def test_a_folder_with_too_many_files_is_measured_in_part_and_says_so(
    filled: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(20):
        (filled.state / "packs" / f"{n}.pack").write_bytes(b"x" * MEGABYTE)
    monkeypatch.setattr(disk, "MOST_FILES", 10)
    use = measure(filled)
    assert not use.whole
    assert {part.name for part in use.parts} == {"database", "packs"}, "what comes after is not looked at"
    assert "at least " in disk_warning(use, DiskSettings(budget_mb=5, free_mb=0), advice="")
