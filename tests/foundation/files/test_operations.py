"""Every operation on a file, with a link in each component of its path, and with what is no file at its end."""

import errno
import os
import socket
import stat
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from foundation import files as room
from foundation.files import (
    FileLock,
    LockTimeout,
    UnsafePath,
    child,
    directory,
    folders,
    regular_files,
    resolve_path,
    resolve_within,
)
from foundation.files.refusals import is_link

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a right there; the checks have their own")


def _write_beside(path: Path) -> None:
    room.write_temporary(path, b"x")


OPERATIONS: dict[str, Callable[[Path], object]] = {
    "read_bytes": room.read_bytes,
    "read_text": room.read_text,
    "write_atomically": lambda path: room.write_atomically(path, b"x"),
    "write_temporary": _write_beside,
    "append": lambda path: room.append(path, b"x"),
    "touch": room.touch,
    "make_private_file": room.make_private_file,
    "sync_file": room.sync_file,
    "open_for_reading": room.open_for_reading,
    "open_for_appending": room.open_for_appending,
    "check_store": room.check_store,
    "lock": lambda path: FileLock(path, timeout=0).acquire(),
}
"""Operations on a file that is there."""
ON_NAMES: dict[str, Callable[[Path], object]] = {
    **OPERATIONS,
    "status": room.status,
    "remove": room.remove,
    "open_new": lambda path: room.open_new(path.with_name("new")),
    "replace from": lambda path: room.replace(path, path.with_name("b")),
    "hard_link": lambda path: room.hard_link(path, path.with_name("b")),
    "exchange": lambda path: room.exchange(path, path),
    "make_folder": lambda path: room.make_folder(path.with_name("new") / "newer"),
    "make_private_folder": lambda path: room.make_private_folder(path.with_name("new")),
    "scan": lambda path: room.scan(path.parent),
    "list_names": lambda path: room.list_names(path.parent),
    "sync_folder": lambda path: room.sync_folder(path.parent),
    "remove_tree": lambda path: room.remove_tree(path.parent),
}
"""Those, and operations on names and folders."""


@pytest.fixture(params=["system call", "walk"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Folders opened by the system's own call, where it has one, and component by component."""
    if request.param == "walk":
        monkeypatch.setattr(folders, "system_opener", lambda: None)
    elif sys.platform == "linux" and folders.system_opener() is None:
        pytest.skip("this kernel, or a sandbox, has no openat2")
    return request.param


def tree(tmp_path: Path) -> Path:
    """`a/b/c/file` below `tmp_path`."""
    path = tmp_path / "a" / "b" / "c" / "file"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"old")
    return path


def listing(folder: Path) -> list[tuple[str, bytes]]:
    return sorted((str(path), path.read_bytes() if path.is_file() else b"") for path in folder.rglob("*"))


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("name", ON_NAMES)
def test_a_link_to_a_folder_anywhere_in_the_path_is_refused(tmp_path: Path, way: str, name: str, depth: int) -> None:
    path = tree(tmp_path)
    folder = path.parents[depth - 1]
    moved = tmp_path / "elsewhere"
    folder.rename(moved)
    folder.symlink_to(moved)
    before = listing(moved)
    with pytest.raises(UnsafePath) as refused:
        ON_NAMES[name](path)
    assert str(folder) in refused.value.message
    assert listing(moved) == before


@pytest.mark.parametrize("form", ["absolute", "relative", "dangling", "circle"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_link_in_the_files_place_is_refused(tmp_path: Path, way: str, name: str, form: str) -> None:
    path = tree(tmp_path)
    outside = tmp_path / "outside"
    if form != "dangling":
        outside.write_bytes(b"theirs")
    path.unlink()
    path.symlink_to({"relative": "../../../outside", "circle": "file"}.get(form, str(outside)))
    with pytest.raises(UnsafePath, match="is a link"):
        OPERATIONS[name](path)
    assert outside.exists() == (form != "dangling")
    assert not outside.exists() or outside.read_bytes() == b"theirs"
    assert [one.name for one in path.parent.iterdir()] == ["file"]


def test_removing_or_replacing_a_link_leaves_what_it_leads_to(tmp_path: Path, way: str) -> None:
    path = tree(tmp_path)
    link = path.with_name("link")
    link.symlink_to(path)
    room.remove(link)
    link.symlink_to(path)
    path.with_name("new").write_bytes(b"new")
    room.replace(path.with_name("new"), link)
    assert (path.read_bytes(), link.read_bytes(), link.is_symlink()) == (b"old", b"new", False)


def test_a_tree_is_removed_with_the_links_in_it_and_not_what_they_lead_to(tmp_path: Path, way: str) -> None:
    path = tree(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "theirs").write_bytes(b"theirs")
    (path.parent / "link").symlink_to(outside)
    room.remove_tree(tmp_path / "a")
    assert listing(tmp_path) == [(str(outside), b""), (str(outside / "theirs"), b"theirs")]


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / "special"
    with socket.socket(socket.AF_UNIX) as listening:
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "socket":
            listening.bind(str(path))
        elif name in {"write_atomically", "write_temporary", "replace from"} or os.geteuid():
            pytest.skip("these replace what is there; making a device needs root")
        else:
            try:
                os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
            except PermissionError:
                pytest.skip("a sandbox makes no devices")
        if name in {"write_atomically", "write_temporary"}:
            OPERATIONS[name](path)  # a file of its own is put in its place, and nothing is written into it
            return
        with pytest.raises(UnsafePath, match="pipe, a device or a socket"):
            OPERATIONS[name](path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("name", ["append", "touch", "make_private_file", "open_for_appending", "check_store", "lock"])
def test_another_users_file_is_not_written_to(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"theirs")
    os.chown(path, 4321, -1)
    with pytest.raises(UnsafePath, match="another user") as refused:
        OPERATIONS[name](path)
    assert refused.value.errno == errno.EPERM
    assert path.read_bytes() == b"theirs"


def test_a_folder_swapped_for_a_link_while_it_is_open_is_not_followed(tmp_path: Path, way: str) -> None:
    path = tree(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    with folders.locate(path.with_name("new")) as (handle, name):
        path.parent.rename(tmp_path / "moved")
        path.parent.symlink_to(outside)
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=handle))
    assert list(outside.iterdir()) == []
    assert (tmp_path / "moved" / "new").exists()


def test_a_folder_that_turns_into_a_link_and_back_never_lets_a_write_out(tmp_path: Path, way: str) -> None:
    path = tree(tmp_path)
    outside, spare, over = tmp_path / "outside", tmp_path / "spare", threading.Event()
    outside.mkdir()
    spare.symlink_to(outside)

    def swap() -> None:
        while not over.is_set():
            room.exchange(path.parent, spare)

    swapping = threading.Thread(target=swap)
    swapping.start()
    refused = 0
    for _ in range(300):
        try:
            room.write_atomically(path, b"new", sync=False)
        except (UnsafePath, FileNotFoundError, NotADirectoryError):
            refused += 1
    over.set()
    swapping.join()
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("path", ["/tmp/../etc/passwd", "/tmp/a\0b"])
def test_a_path_that_leads_upwards_or_holds_a_nul_is_refused(path: str) -> None:
    with pytest.raises(UnsafePath):
        room.read_bytes(Path(path))


@pytest.mark.parametrize("name", ["", ".", "..", "../a", "a/b", "/etc/passwd", "a\0"])
def test_a_name_that_is_no_plain_component_is_no_child(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnsafePath):
        child(tmp_path, name)
    assert child(tmp_path, "a.md") == tmp_path / "a.md"


def test_a_path_that_a_person_names_may_go_through_links_and_one_in_a_workspace_only_within(tmp_path: Path) -> None:
    path = tree(tmp_path)
    (tmp_path / "link").symlink_to(path.parent)
    assert resolve_path(tmp_path / "link" / "file") == path
    assert resolve_within(tmp_path / "link" / "file", tmp_path) == path
    with pytest.raises(UnsafePath, match="a place outside"):
        resolve_within(tmp_path / "link" / "file", tmp_path / "elsewhere")
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(UnsafePath, match="a link to itself"):
        resolve_path(tmp_path / "circle")


def test_a_lock_is_held_once_and_its_file_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_bytes(b"words")
    one, other = FileLock(path, timeout=0), FileLock(path, timeout=0.05)
    with one, one, pytest.raises(LockTimeout):
        other.acquire()
    assert not one.is_locked
    with other:
        assert other.is_locked
    assert path.read_bytes() == b"words"


def test_new_files_and_folders_are_their_owners_alone(tmp_path: Path) -> None:
    room.make_folder(tmp_path / "a" / "b")
    room.write_atomically(tmp_path / "a" / "file", b"x")
    room.append(tmp_path / "a" / "log", b"x")
    with FileLock(tmp_path / "a" / "lock"):
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a").iterdir()}
    assert modes == {"b": 0o700, "file": 0o600, "log": 0o600, "lock": 0o600}


def test_what_windows_looks_at_instead_of_descriptors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tree(tmp_path)
    for module in (folders, regular_files, directory):
        monkeypatch.setattr(module, "WINDOWS", True)
    assert room.read_bytes(path) == b"old"
    assert room.list_files(path.parent) == [path]
    path.parent.rename(tmp_path / "moved")
    path.parent.symlink_to(tmp_path / "moved")
    for operation in (room.read_bytes, room.remove, lambda path: room.scan(path.parent)):
        with pytest.raises(UnsafePath):
            operation(path)


@pytest.mark.parametrize(("tag", "link"), [(0xA000000C, True), (0xA0000003, True), (0x9000001A, False)])
def test_a_junction_is_a_link_and_a_file_kept_in_a_cloud_is_none(tag: int, link: bool) -> None:
    class FakeStatus:
        st_mode = stat.S_IFDIR
        st_reparse_tag = tag

    assert is_link(FakeStatus()) is link


def test_the_top_of_a_disk_is_a_folder() -> None:
    top = Path(Path.cwd().anchor)
    assert room.is_folder(top)
    assert not room.is_file(top)
    with pytest.raises(UnsafePath):
        room.remove(top)
