"""A workspace with something of each kind, and a place for its backups."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory.backup.backup import BackupResult, back_up
from memory.backup.choice import choose_snapshot
from memory.backup.place import LocalPlace
from memory.backup.restore import RestoreResult, restore
from memory.memory import Memory
from memory.settings import ArchiveSettings
from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import archived

SETTINGS = ArchiveSettings(parity=0)

Save = Callable[..., BackupResult]


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


@pytest.fixture
def save(filled: Memory, place: LocalPlace, clock: FakeClock) -> Save:
    def save(keep: int = 0) -> BackupResult:
        clock.advance(60)
        return back_up(filled.workspace, place, clock, device="desk", program="0.0", keep=keep)

    return save


def restored(place: LocalPlace, target: Path, at: str | None = None) -> RestoreResult:
    return restore(place, choose_snapshot(place, at), target, settings=SETTINGS)


def flip(path: Path, at: int) -> None:
    body = bytearray(path.read_bytes())
    body[at] ^= 1
    path.write_bytes(body)
