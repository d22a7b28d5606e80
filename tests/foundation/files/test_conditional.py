"""A change that was made stays made, whatever happens to its folder afterwards."""

import sys
from pathlib import Path

import pytest

from foundation.files.conditional import FileSwap


@pytest.mark.skipif(sys.platform == "win32", reason="Windows moves no folder that holds an open file")
@pytest.mark.parametrize("becomes", ["nothing", "a file"])
def test_a_folder_that_is_moved_after_the_change_is_no_error(tmp_path: Path, becomes: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"old")
    swap = FileSwap(folder / "a.txt", b"old", b"new", beside=folder / ".a.beside")
    swap.stage()
    swap.make()
    folder.rename(tmp_path / "moved")
    if becomes == "a file":
        folder.write_bytes(b"")
    outgoing = swap.finish()
    assert outgoing
    outgoing.close()
    assert (tmp_path / "moved" / "a.txt").read_bytes() == b"new"
