"""Kills backups at every operation at the place, then at random moments: `python kill_backup.py FOLDER KILLS SEED`.

Each backup is a fork of this process. After each kill every snapshot is read whole, and the newest is restored; what
was made before must be there still. Prints how many were killed.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from foundation.clock import SystemClock
from foundation.paths import Workspace
from memory.archive.repair import check  # noqa: F401 -- loaded once, before the forks
from memory.backup.backup import back_up
from memory.backup.choice import choose_snapshot
from memory.backup.place import LocalPlace
from memory.backup.restore import restore
from memory.backup.snapshot import snapshot_ids
from memory.backup.verify import check_backup
from memory.settings import ArchiveSettings

SETTINGS = ArchiveSettings(parity=0)


class FusedPlace(LocalPlace):
    """Ends the process by SIGKILL before its operation number `fuse`, or in the middle of that write."""

    def __init__(self, folder: Path, fuse: int) -> None:
        super().__init__(folder)
        self._fuse = fuse

    def write(self, name: str, data: bytes, *, sync: bool = False) -> None:
        self._burn()
        super().write(name, data, sync=sync)

    def sync(self, names: Iterable[str]) -> None:
        self._burn()
        super().sync(names)
        self._burn()

    def delete(self, name: str) -> None:
        self._burn()
        super().delete(name)

    def _burn(self) -> None:
        self._fuse -= 1
        if self._fuse == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class FusedReads(LocalPlace):
    """Ends the process by SIGKILL at its read number `fuse`."""

    def __init__(self, folder: Path, fuse: int) -> None:
        super().__init__(folder)
        self._fuse = fuse

    def read(self, name: str) -> bytes:
        self._fuse -= 1
        if self._fuse == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().read(name)


def was_killed(work: Callable[[], object], after: float = 0) -> bool:
    """Runs the work in a fork, which is killed after so many seconds; False where it had ended by then."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    if after:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def look(place: LocalPlace, folder: Path, before: list[str], keep: int) -> None:
    """Raises AssertionError where a snapshot was lost, is not whole, or the newest does not come back."""
    names = [path.name for path in place.folder.glob("*.snapshot")]
    ids = sorted(name.removesuffix(".snapshot") for name in names)
    assert ids[-keep:] == sorted({*ids, *before})[-keep:], f"lost: {before} became {ids}"
    if not ids:
        return
    assert check_backup(place).problems == ()
    report = restore(place, choose_snapshot(place, None), folder / "again", settings=SETTINGS).report
    assert report.problems == (), report
    shutil.rmtree(folder / "again")


def main(folder: Path, kills: int, seed: int) -> None:
    chance, landed = random.Random(seed), {"at an operation": 0, "at a moment": 0}
    place = LocalPlace(folder / "backup")
    workspace = Workspace(folder / "workspace")

    def backup(fuse: int = 0) -> None:
        back_up(workspace, FusedPlace(place.folder, fuse), SystemClock(), device="d", program="0", keep=3)

    def attempt(fuse: int, after: float) -> bool:
        note = workspace.root / "MEMORY.md"
        note.write_text(f"- {chance.random()}\n" * 5000)
        (workspace.root / "memory" / f"{chance.randrange(4)}.md").write_bytes(chance.randbytes(3 * 2**20))
        before = [path.stem for path in place.folder.glob("*.snapshot")]
        killed = was_killed(lambda: backup(fuse), after)
        look(place, folder, before, 3)
        return killed

    fuse = 1
    while fuse <= kills and attempt(fuse, 0):
        landed["at an operation"] += 1
        fuse += 1
    began = time.monotonic()
    assert not attempt(0, 0)
    duration = time.monotonic() - began
    for _ in range(kills):
        landed["at a moment"] += attempt(0, chance.uniform(0.001, duration / 3))  # it was looked at for most of it
    backup()
    look(place, folder, snapshot_ids(place), 3)
    assert check_backup(place).unneeded == 0
    assert not list(place.folder.glob(".*.tmp"))
    snapshot, target = choose_snapshot(place, None), folder / "again"
    for fuse in range(1, min(kills, len(snapshot.pieces))):
        assert was_killed(
            lambda fuse=fuse: restore(FusedReads(place.folder, fuse), snapshot, target, settings=SETTINGS)
        )
        assert not target.exists()
    assert restore(place, snapshot, target, settings=SETTINGS).report.problems == ()
    assert not list(folder.glob(".again*"))
    print(json.dumps(landed))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
