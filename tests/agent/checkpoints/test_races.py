"""Other programs at the same moment, full disks, and folders that cannot be written."""

import os
import random
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agent.checkpoints.change import NotChanged
from foundation.errors import PalimpsestError
from foundation.files.conditional import FileSwap, UnexpectedContent
from tests.agent.checkpoints.conftest import ProjectWithTools
from tests.memory.cold.test_processes import MOUNT, small_disk
from tests.paths import ROOT

posix = pytest.mark.skipif(os.name == "nt", reason="permission bits and descriptors")


def tokens(folder: Path) -> set[bytes]:
    """The person's tokens in every file below the folder."""
    return {
        token for path in folder.rglob("*") if path.is_file() for token in re.findall(rb"mine\d+", path.read_bytes())
    }


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_what_a_person_saves_while_tools_write_is_never_lost(project: ProjectWithTools) -> None:
    """An editor saves by renaming; each text that it wrote is in the file, or kept beside."""
    place = project.folder / "a"
    place.write_bytes(b"start\n")
    written: set[bytes] = set()
    done = threading.Event()

    def save_again_and_again() -> None:
        chance = random.Random(1)
        for number in range(100):
            token = b"mine%d" % number
            body = place.read_bytes() + token + b"\n"
            beside = project.folder / f"save{number}"
            beside.write_bytes(body)
            beside.replace(place)
            written.add(token)
            done.wait(chance.uniform(0, 0.04) if number % 5 else 0.25)
        done.set()

    person = threading.Thread(target=save_again_and_again)
    person.start()
    made = refused = 0
    while not done.is_set():
        body = place.read_bytes()
        try:
            project.checkpoints.apply([project.change_from("a", body, body + b"tool\n")], "e_2")
            made += 1
        except UnexpectedContent:
            refused += 1
    person.join()
    kept = tokens(project.folder) | tokens(project.state / "conflicts")
    assert written - kept == set()
    assert made
    assert refused, "the tool and the person never met"
    assert [path.name for path in project.folder.iterdir()] == ["a"]


@posix
def test_what_is_written_into_a_file_that_was_just_replaced_is_kept(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    with (project.folder / "a").open("r+b") as editor:
        project.tool(a=b"2\n")
        editor.write(b"mine\n")
    [notice] = project.checkpoints.take_notices()
    place = Path(notice.rpartition(" is ")[2].rstrip("."))
    assert place.read_bytes() == b"mine\n"
    assert project.checkpoints.take_notices() == ()


def test_an_edit_that_comes_between_is_put_back(project: ProjectWithTools, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person saves b after it was looked at and before it is exchanged: a, which was changed, is put back."""
    project.write("a", b"1\n")
    project.write("b", b"1\n")
    stage = FileSwap.stage

    def stage_and_edit(self: FileSwap) -> None:
        stage(self)
        project.write("b", b"mine\n")

    monkeypatch.setattr(FileSwap, "stage", stage_and_edit)
    with pytest.raises(UnexpectedContent):
        project.tool(a=b"2\n", b=b"2\n")
    assert project.files() == {"a": b"1\n", "b": b"mine\n"}
    assert project.checkpoints.history("c_1").records == ()


def test_an_edit_after_the_change_stays_where_the_change_is_taken_back(
    project: ProjectWithTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    """a was changed, the person saves a, then b fails: the person's a stays, and undo knows that a was changed."""
    project.write("a", b"1\n")
    project.write("b", b"1\n")
    make = FileSwap.make

    def make_and_edit(self: FileSwap) -> None:
        make(self)
        project.write("a", b"mine\n")
        project.write("b", b"mine\n")

    monkeypatch.setattr(FileSwap, "make", make_and_edit)
    with pytest.raises(UnexpectedContent):
        project.tool(a=b"2\n", b=b"2\n")
    assert project.files() == {"a": b"mine\n", "b": b"mine\n"}
    [record] = project.checkpoints.history("c_1").records
    assert [file.path for file in record.files] == ["a"]


@posix
@pytest.mark.skipif(os.name != "nt" and os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_leaves_all_as_it_was(project: ProjectWithTools) -> None:
    project.write("a", b"1\n")
    project.write("locked/b", b"1\n")
    (project.folder / "locked").chmod(0o500)
    try:
        with pytest.raises(NotChanged, match="Permission denied"):
            project.tool(a=b"2\n", locked__b=b"2\n")
        assert project.files() == {"a": b"1\n", "locked/b": b"1\n"}
    finally:
        (project.folder / "locked").chmod(0o700)


@posix
def test_a_file_that_its_owner_may_not_write_is_changed_and_stays_read_only(project: ProjectWithTools) -> None:
    """As an editor does that renames: the folder decides."""
    project.write("a", b"1\n")
    (project.folder / "a").chmod(0o444)
    project.tool(a=b"2\n")
    assert ((project.folder / "a").stat().st_mode & 0o777, project.files()) == (0o444, {"a": b"2\n"})
    project.undo()
    assert ((project.folder / "a").stat().st_mode & 0o777, project.files()) == (0o444, {"a": b"1\n"})


FILL = """
import os, sys
from pathlib import Path
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.change import NotChanged
from foundation.clock import SystemClock
from tests.agent.checkpoints.conftest import ProjectWithTools
disk = Path(sys.argv[1])
(disk / "project").mkdir()
tools = ProjectWithTools(disk / "project", disk / "state" if sys.argv[2] == "same" else Path(sys.argv[2]))
names = [f"f{n}" for n in range(4)]
tools.tool(**{name: os.urandom(60_000) for name in names})
while True:
    tools.turn(len(names))
    before = tools.files()
    try:
        tools.tool(**{name: os.urandom(120_000) for name in names}, extra=os.urandom(300_000))
    except NotChanged as error:
        message = error.message
        break
    names += [f"g{len(names)}"]
assert tools.files() == before, "half of a change is left"
print(message)
(disk / "ballast").unlink()
tools.undo()
print("undone")
"""


@small_disk
@pytest.mark.timeout(30)
@pytest.mark.parametrize("state", ["same", "other"])
def test_a_full_disk_leaves_each_file_as_it_was_and_undo_works_when_there_is_room(tmp_path: Path, state: str) -> None:
    script = [sys.executable, "-c", FILL, str(tmp_path / "disk"), state if state == "same" else str(tmp_path / "state")]
    shell = ["unshare", "-Urm", "sh", "-c", MOUNT, "sh", str(tmp_path / "disk"), *script]
    done = subprocess.run(shell, check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    message, undone = done.stdout.splitlines()
    assert "the disk is full" in message
    assert str(tmp_path / "disk") in message
    assert undone == "undone"


def test_the_same_file_twice_in_a_change_is_refused(project: ProjectWithTools) -> None:
    with pytest.raises(PalimpsestError, match="once"):
        project.checkpoints.apply([project.change("a", b"1"), project.change("a", b"2")], "e_2")
