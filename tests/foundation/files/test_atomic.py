"""Files are written whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from foundation.files import NotUtf8, UnsafePath, atomic, make_private_folder, read_text, sync_folder, write_atomically
from foundation.privacy import as_given, clear

posix_only = pytest.mark.skipif(os.name == "nt", reason="modes and links are POSIX's")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_text_and_bytes_are_written_to_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    write_atomically(path, clear("eins\r\nzwei\n你好"))
    assert path.read_bytes() == "eins\r\nzwei\n你好".encode()
    write_atomically(path, b"\x00\r\n\xff")
    assert path.read_bytes() == b"\x00\r\n\xff"


def test_a_lone_surrogate_is_written_as_its_escape(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", as_given("a\udc80b"))
    assert (tmp_path / "a").read_bytes() == b"a\\udc80b"


def test_no_temporary_file_is_left_even_if_the_write_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    write_atomically(path, b"old")

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "sync_handle", fails)
        with pytest.raises(OSError, match="No space"):
            write_atomically(path, b"new")
    assert [file.name for file in tmp_path.iterdir()] == ["a"]
    assert path.read_bytes() == b"old"


@posix_only
def test_a_file_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_atomically(path, b"new")
    assert mode(path) == 0o640


@posix_only
def test_a_new_file_is_its_owners_alone_in_whatever_folder(tmp_path: Path) -> None:
    private, open_ = tmp_path / "private", tmp_path / "open"
    make_private_folder(private)
    open_.mkdir(mode=0o755)
    open_.chmod(0o755)
    write_atomically(private / "a", b"x")
    write_atomically(open_ / "a", b"x")
    assert (mode(private), mode(private / "a"), mode(open_), mode(open_ / "a")) == (0o700, 0o600, 0o755, 0o600)


@posix_only
def test_a_private_folder_that_was_open_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    make_private_folder(folder)
    assert mode(folder) == 0o700


@posix_only
def test_a_link_is_refused_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "there" / "a")
    with pytest.raises(UnsafePath, match="is a link"):
        write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "a").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "there"]


def test_the_file_is_synced_before_it_takes_its_name_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    sync, replace, folder = atomic.sync_handle, atomic.replace, atomic.sync_folder
    monkeypatch.setattr(atomic, "sync_handle", lambda handle: (done.append("file"), sync(handle)))
    monkeypatch.setattr(atomic, "replace", lambda a, b: (done.append("rename"), replace(a, b)))
    monkeypatch.setattr(atomic, "sync_folder", lambda path: (done.append("folder"), None))
    write_atomically(tmp_path / "a", b"x")
    assert done == ["file", "rename", "folder"]
    folder(tmp_path)


def test_text_is_read_with_its_line_ends_and_its_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("\ufeffa\r\nb".encode())
    assert read_text(tmp_path / "a") == "\ufeffa\r\nb"
    sync_folder(tmp_path)


def test_a_file_that_is_not_utf8_is_named_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\ntw\xe9\n")
    with pytest.raises(NotUtf8) as error:
        read_text(tmp_path / "a")
    assert "line 2" in error.value.message and str(tmp_path / "a") in error.value.message
