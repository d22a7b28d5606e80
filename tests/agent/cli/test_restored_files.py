"""Files that were removed by hand, or whose bytes are no text: they are in the log, and a restore brings them back."""

from pathlib import Path

import pytest

from agent.services.version_restore import change_by_restoring
from foundation.clock import SystemClock
from foundation.files import list_files
from foundation.files.conditional import FileSwap
from foundation.paths import Workspace
from memory.memory import Memory
from memory.versions.cause import Author, caused_by
from tests.agent.conftest import Run

FILES = ("MEMORY.md", "memory/people.md", "SOUL.md")
NO_TEXT = (b"caf\xe9\n", b"\x00\xff\xfe\x00binary")


def written(run: Run, root: Path, name: str) -> tuple[bytes, int]:
    """The bytes of the file, which has a version, and the number of that."""
    path = root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"- What {name} says. 🐋\n", encoding="utf-8")
    return path.read_bytes(), rows(run, name)[0]["number"]


def rows(run: Run, name: str) -> list[dict[str, object]]:
    return run("memory", "log", name, "--json").json["versions"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_removed_by_hand_is_in_the_log_and_comes_back(run: Run, root: Path, name: str) -> None:
    body, number = written(run, root, name)
    (root / name).unlink()
    removed = rows(run, name)[0]
    assert (removed["author"], removed["reason"], removed["sha256"]) == ("user", "by hand", None)
    assert len(rows(run, name)) == len(rows(run, name)), "one look more makes no version more"
    assert f"-- What {name} says." in run("memory", "diff", str(removed["number"])).out
    done = run("memory", "restore", str(number))
    assert (done.status, f"{name} is restored to version {number}" in done.out) == (0, True), done.out
    assert (root / name).read_bytes() == body
    assert "did not exist" in run("memory", "restore", str(removed["number"])).err


@pytest.mark.parametrize("name", FILES)
def test_a_restore_at_once_after_the_removal_says_that_it_restored(run: Run, root: Path, name: str) -> None:
    body, number = written(run, root, name)
    (root / name).unlink()
    done = run("memory", "restore", str(number), "--json").json
    assert (done["changed"], (root / name).read_bytes()) == (True, body)
    assert run("memory", "restore", str(number), "--json").json["changed"] is False
    assert "already has that text" in run("memory", "restore", str(number)).out


def test_an_empty_version_of_a_removed_file_is_restored_as_an_empty_file(run: Run, root: Path) -> None:
    path = root / "memory" / "people.md"
    _, _ = written(run, root, "memory/people.md")
    path.write_bytes(b"")
    number = rows(run, "memory/people.md")[0]["number"]
    path.unlink()
    assert run("memory", "restore", str(number), "--json").json["changed"] is True
    assert path.read_bytes() == b""


def test_a_folder_that_is_away_is_no_removal(run: Run, root: Path, tmp_path: Path) -> None:
    _, number = written(run, root, "memory/people.md")
    (root / "memory").rename(tmp_path / "disk")
    (root / "memory").symlink_to(root / "disk")
    assert rows(run, "memory/people.md")[0]["number"] == number
    (root / "memory").unlink()
    assert rows(run, "memory/people.md")[0]["sha256"] is None


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", NO_TEXT, ids=("latin1", "binary"))
def test_a_file_without_text_is_named_kept_and_restored(run: Run, root: Path, name: str, damage: bytes) -> None:
    body, number = written(run, root, name)
    (root / name).write_bytes(damage)
    log = run("memory", "log", name)
    assert (
        f"{name} is no longer valid UTF-8, so no versions of it are saved" in log.err
        and f"restore {number}`" in log.err
    )
    assert run("memory", "log", name, "--json").json["no_text"] == [name]
    done = run("memory", "restore", str(number), "--json").json
    assert (done["changed"], Path(done["kept"]).read_bytes()) == (True, damage)
    assert (root / name).read_bytes() == body
    assert run("memory", "log", name).err == ""
    assert not [path for folder in (root, root / "memory") for path in list_files(folder, ".*.swap")]
    (root / name).write_bytes(damage)
    said = run("memory", "restore", str(number)).out
    assert "It was not valid UTF-8;" in said and said.count(f"version {number}") == 1


def test_bytes_without_text_survive_upkeep_of_copies_and_a_check(run: Run, root: Path) -> None:
    _, number = written(run, root, "MEMORY.md")
    (root / "MEMORY.md").write_bytes(NO_TEXT[0])
    kept = Path(run("memory", "restore", str(number), "--json").json["kept"])
    memory = Memory.open(Workspace(root), SystemClock())
    assert memory.versions.drop_copies(100) == 0
    memory.close()
    assert run("check", "--repair").status == 0
    assert kept.read_bytes() == NO_TEXT[0]


def test_the_screen_shows_what_a_restore_over_bytes_brings(workspace: Workspace) -> None:
    memory = Memory.open(workspace, SystemClock())
    workspace.memory_md.write_text("- one\n", encoding="utf-8")
    memory.hot.look()
    version = memory.versions.store.newest("MEMORY.md")
    assert version and change_by_restoring(memory, version) == ""
    workspace.memory_md.write_bytes(NO_TEXT[0])
    assert "+- one" in change_by_restoring(memory, version)
    memory.close()


def test_an_undo_leaves_bytes_without_text_as_they_are(workspace: Workspace) -> None:
    memory = Memory.open(workspace, SystemClock())
    for text in ("- one\n", "- one\n- two\n"):
        with caused_by(Author.MODEL, "tool remember in c_1"):
            memory.hot.edit("MEMORY.md", lambda _, text=text: text)
    workspace.memory_md.write_bytes(NO_TEXT[0])
    first, last = memory.versions.store.versions("MEMORY.md")
    with pytest.raises(Exception, match="not valid UTF-8"):
        memory.restorer.restore(first, undone=last)
    assert workspace.memory_md.read_bytes() == NO_TEXT[0]
    memory.close()


def test_a_write_beside_the_restore_is_not_lost(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program writes between the look at the bytes and their exchange."""
    memory = Memory.open(workspace, SystemClock())
    workspace.memory_md.write_text("- one\n", encoding="utf-8")
    memory.hot.look()
    version = memory.versions.store.newest("MEMORY.md")
    workspace.memory_md.write_bytes(NO_TEXT[0])

    def write_first(swap: FileSwap) -> None:
        workspace.memory_md.write_bytes(NO_TEXT[1])
        real(swap)

    real = FileSwap.make
    monkeypatch.setattr(FileSwap, "make", write_first)
    assert version
    with pytest.raises(OSError, match="has changed since it was read"):
        memory.restorer.restore(version)
    assert workspace.memory_md.read_bytes() == NO_TEXT[1]
    assert not list(list_files(workspace.root, ".MEMORY*"))
    memory.close()
