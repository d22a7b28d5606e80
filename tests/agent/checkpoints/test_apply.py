"""A change of files is made as a whole, and what the files held is kept."""

import os
import stat
from pathlib import Path

import pytest

from agent.checkpoints.change import FileChange, NotChanged
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.journal import Begun, Ended
from foundation.clock import SystemClock
from foundation.files import UnsafePath
from foundation.files.conditional import UnexpectedContent


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder.resolve()


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    made = Checkpoints(tmp_path.resolve() / ".palimpsest" / "checkpoints", SystemClock())
    made.begin_turn("c_1", "e_1")
    return made


def change(project: Path, path: str, expected: bytes | None, new: bytes | None, mode: int | None = None) -> FileChange:
    return FileChange(folder=project, path=path, expected=expected, new=new, mode=mode)


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_files_are_made_changed_and_deleted_in_one_change(project: Path, checkpoints: Checkpoints) -> None:
    (project / "a.py").write_bytes(b"a = 1\n")
    (project / "b.py").write_bytes(b"b = 1\n")
    record = checkpoints.apply(
        [
            change(project, "a.py", b"a = 1\n", b"a = 2\n"),
            change(project, "b.py", b"b = 1\n", None),
            change(project, "new/folder/c.py", None, b"c = 1\n"),
        ],
        "e_2",
        label="apply_patch",
    )
    assert names(project) == ["a.py", "new", "new/folder", "new/folder/c.py"]
    assert (project / "a.py").read_bytes() == b"a = 2\n"
    assert [checkpoints.blobs.get(file.before) for file in record.files if file.before] == [b"a = 1\n", b"b = 1\n"]
    assert record.files[2].folders == ("new", "new/folder")
    assert (record.conversation, record.message, record.entry) == ("c_1", "e_1", "e_2")
    assert checkpoints.journal.lines() == (Begun(record), Ended(record.id))


def test_nothing_is_changed_where_one_file_is_not_as_expected(project: Path, checkpoints: Checkpoints) -> None:
    (project / "a.py").write_bytes(b"a = 1\n")
    (project / "b.py").write_bytes(b"changed by hand\n")
    with pytest.raises(UnexpectedContent, match=r"b\.py has changed since it was read"):
        checkpoints.apply(
            [change(project, "a.py", b"a = 1\n", b"a = 2\n"), change(project, "b.py", b"b = 1\n", b"b = 2\n")], "e_2"
        )
    assert (project / "a.py").read_bytes() == b"a = 1\n"
    assert (project / "b.py").read_bytes() == b"changed by hand\n"
    assert checkpoints.journal.lines() == ()


def test_what_was_changed_is_put_back_where_a_later_file_cannot_be(project: Path, checkpoints: Checkpoints) -> None:
    (project / "a.py").write_bytes(b"a = 1\n")
    (project / "file").write_bytes(b"no folder\n")
    with pytest.raises(NotChanged):
        checkpoints.apply(
            [
                change(project, "a.py", b"a = 1\n", b"a = 2\n"),
                change(project, "x/new.py", None, b"new\n"),
                change(project, "file/below.py", None, b"new\n"),
            ],
            "e_2",
        )
    assert names(project) == ["a.py", "file"]
    assert (project / "a.py").read_bytes() == b"a = 1\n"
    assert checkpoints.journal.lines()[-1] == Ended(checkpoints.journal.lines()[0].record.id, changed=())  # type: ignore[union-attr]  # the first line is a beginning


@pytest.mark.skipif(os.name == "nt", reason="permission bits")
def test_modes_are_kept_and_new_files_get_the_usual_ones(project: Path, checkpoints: Checkpoints) -> None:
    script = project / "run.sh"
    script.write_bytes(b"echo 1\n")
    script.chmod(0o751)
    umask = os.umask(0o022)
    try:
        checkpoints.apply(
            [
                change(project, "run.sh", b"echo 1\n", b"echo 2\n"),
                change(project, "n/new.txt", None, b"x"),
                change(project, "tool.sh", None, b"echo 3\n", 0o755),
            ],
            "e_2",
        )
    finally:
        os.umask(umask)
    modes = {name: stat.S_IMODE((project / name).stat().st_mode) for name in ("run.sh", "n", "n/new.txt", "tool.sh")}
    assert modes == {"run.sh": 0o751, "n": 0o755, "n/new.txt": 0o644, "tool.sh": 0o755}


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_a_link_is_never_followed_or_replaced(project: Path, tmp_path: Path, checkpoints: Checkpoints) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_bytes(b"a = 1\n")
    (project / "a.py").symlink_to(outside / "a.py")
    (project / "folder").symlink_to(outside)
    for path, expected in (("a.py", b"a = 1\n"), ("folder/a.py", b"a = 1\n"), ("folder/new.py", None)):
        with pytest.raises(UnsafePath):
            checkpoints.apply([change(project, path, expected, b"owned\n")], "e_2")
    assert (outside / "a.py").read_bytes() == b"a = 1\n"
    assert names(outside) == ["a.py"]


@pytest.mark.parametrize("path", ["", "../a", "/etc/passwd", "a/../../b", "a\0b"])
def test_a_path_stays_below_its_folder(project: Path, checkpoints: Checkpoints, path: str) -> None:
    with pytest.raises(NotChanged):
        checkpoints.apply([change(project, path, None, b"x")], "e_2")


@pytest.mark.skipif(os.name == "nt", reason="permission bits")
def test_what_is_kept_is_for_its_owner_alone(project: Path, checkpoints: Checkpoints) -> None:
    umask = os.umask(0)
    try:
        checkpoints.apply([change(project, "a.py", None, b"secret\n")], "e_2")
    finally:
        os.umask(umask)
    for path in (checkpoints.folder, *checkpoints.folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
