"""A file with another hard link: what would write into it in place refuses, or writes to a copy in its stead."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from foundation import files as room
from foundation.files import FileLock, UnsafePath

REFUSING: dict[str, Callable[[Path], object]] = {
    "make_private_file": room.make_private_file,
    "open_for_appending": room.open_for_appending,
    "check_store": room.check_store,
}
COPYING: dict[str, Callable[[Path], object]] = {
    "append": lambda path: room.append(path, b" and more"),
    "touch": lambda path: room.touch(path, 7.0),
    "write_atomically": lambda path: room.write_atomically(path, b"mine"),
}
CHANGING_NOTHING: dict[str, Callable[[Path], object]] = {
    "read_bytes": room.read_bytes,
    "sync_file": room.sync_file,
    "lock": lambda path: FileLock(path, timeout=0).acquire(),
    "check_store to read": lambda path: room.check_store(path, owned=False),
}


@pytest.fixture
def linked(tmp_path: Path) -> tuple[Path, Path]:
    """(a name in the workspace, the same file outside)"""
    outside, inside = tmp_path / "outside.txt", tmp_path / "ws" / "state"
    inside.parent.mkdir()
    outside.write_bytes(b"theirs")
    outside.chmod(0o644)
    os.utime(outside, (1000, 1000))
    try:
        os.link(outside, inside)
    except OSError:
        pytest.skip("this file system has no hard links")
    return inside, outside


def untouched(outside: Path) -> bool:
    found = outside.stat()
    mode = stat.S_IMODE(found.st_mode) if os.name == "posix" else 0o644
    return (outside.read_bytes(), mode, found.st_mtime) == (b"theirs", 0o644, 1000)


@pytest.mark.parametrize("name", REFUSING)
def test_what_cannot_be_replaced_is_refused(linked: tuple[Path, Path], name: str) -> None:
    inside, outside = linked
    with pytest.raises(UnsafePath, match="another hard link") as caught:
        REFUSING[name](inside)
    assert caught.value.reason == "hard_link"
    assert "cp -p" in caught.value.hint
    assert untouched(outside)


@pytest.mark.parametrize("name", COPYING)
def test_what_can_be_replaced_is(linked: tuple[Path, Path], name: str) -> None:
    inside, outside = linked
    COPYING[name](inside)
    assert untouched(outside)
    assert not inside.samefile(outside)
    if name == "append":
        assert inside.read_bytes() == b"theirs and more"


@pytest.mark.parametrize("name", CHANGING_NOTHING)
def test_what_changes_nothing_is_let_be(linked: tuple[Path, Path], name: str) -> None:
    inside, outside = linked
    CHANGING_NOTHING[name](inside)
    assert untouched(outside)
    assert inside.samefile(outside)


def test_a_file_of_its_own_is_written_in_place(tmp_path: Path) -> None:
    path = tmp_path / "state"
    room.append(path, b"a")
    before = path.stat().st_ino
    room.append(path, b"b")
    assert (path.read_bytes(), path.stat().st_ino) == (b"ab", before)
