"""Files of a workspace that somebody else may have made: read whole, or left alone with a sentence."""

import os
from pathlib import Path

import pytest

from foundation.files.untrusted import UnreadableFile, read_own_bytes, read_own_text

posix = pytest.mark.skipif(os.name == "nt", reason="pipes and devices in the file system are POSIX")


def test_a_file_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes("\ufeffhé".encode())
    assert read_own_text(path, within=tmp_path) == "hé"


def test_a_link_within_the_workspace_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").symlink_to("a")
    assert read_own_bytes(tmp_path / "b", within=tmp_path) == b"x"


def test_a_link_out_of_the_workspace_is_not_followed_not_even_by_its_folder(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "in-secret"
    inside.mkdir()
    outside.mkdir()
    (outside / "a").write_text("x")
    (inside / "a").symlink_to(outside / "a")
    (inside / "folder").symlink_to(outside)
    for path in (inside / "a", inside / "folder" / "a", inside / ".." / "in-secret" / "a"):
        with pytest.raises(UnreadableFile, match="outside the workspace"):
            read_own_bytes(path, within=inside)
    assert read_own_bytes(inside / "a") == b"x"


def test_a_workspace_that_is_a_link_itself_is_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("x")
    (tmp_path / "link").symlink_to("real")
    assert read_own_bytes(tmp_path / "link" / "a", within=tmp_path / "link") == b"x"


@posix
def test_a_pipe_and_a_device_are_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        with pytest.raises(UnreadableFile, match="pipe or a device"):
            read_own_bytes(tmp_path / name)


def test_what_else_is_no_readable_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "large").write_bytes(b"x" * 11)
    (tmp_path / "binary").write_bytes(b"x\xff")
    for name, said in (
        ("circle", "a link to itself|links"),
        ("large", "larger than 10 bytes"),
        ("binary", "byte 1"),
        ("", "a folder"),
    ):
        with pytest.raises(UnreadableFile, match=said):
            read_own_text(tmp_path / name, most=10)
    with pytest.raises(FileNotFoundError):
        read_own_text(tmp_path / "nothing")
