"""What a command does to files of the project is taken back, whatever the command was."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.checkpoints.change import CheckpointKind
from tests.agent.checkpoints.conftest import ProjectWithTools, secured_project

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the lines are of a POSIX shell")


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[ProjectWithTools]:
    made = secured_project(tmp_path)
    made.write("notes.txt", b"mine\n")
    made.write("src/a.py", b"a = 1\n")
    made.write("src/deep/b.py", b"b = 1\n")
    made.write("t/c", b"\0\1\2" * 100)
    yield made
    made.checkpoints.close()


@pytest.mark.parametrize(
    "line",
    [
        "mv notes.txt {tmp}/",
        "find t -type f -exec mv {{}} {tmp}/ \\;",
        "mkdir x; echo new > x/a.py; cp x/a.py src/",
        "rm -rf src t notes.txt",
        "rm -rf * ; mkdir notes.txt; touch notes.txt/x src",
        "printf 'x' > notes.txt",
        "printf 'yours' | dd of=notes.txt conv=notrunc",
        "truncate -s 0 src/a.py",
        "sort -o notes.txt src/a.py",
        "ln -sf src/a.py notes.txt.tmp; mv -f notes.txt.tmp notes.txt; rm -r t",
        "mv src lib; mv lib/a.py lib/z.py; echo 2 >> lib/z.py",
        "cp -p src/a.py keep; printf 'b = 2\\n' > src/a.py; touch -r keep src/a.py; rm keep",
        "chmod 400 notes.txt; chmod -R go-rwx src",
        "python3 -c 'import shutil; shutil.rmtree(\"src\")'",
    ],
)
def test_a_command_is_taken_back_and_made_again(secured: ProjectWithTools, line: str, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    before = secured.files(), modes(secured)
    [made] = secured.command(line.format(tmp=away))
    after = secured.files()
    assert made.kind is CheckpointKind.COMMAND
    restored = secured.undo()
    if "ln -sf" in line:  # a link is left where it is, and the file's content is stored beside
        assert {path.name: path.read_bytes() for _, path in restored.kept} == {"notes.txt": b"mine\n"}
        return
    assert restored.plan.conflicts == ()
    assert (secured.files(), modes(secured)) == before
    secured.redo()
    assert secured.files() == after


def modes(project: ProjectWithTools) -> dict[str, int]:
    return {name: (project.folder / name).stat().st_mode & 0o777 for name in project.files()}


def test_what_a_command_does_not_touch_is_in_no_checkpoint(secured: ProjectWithTools) -> None:
    assert secured.command("ls; cat notes.txt; touch notes.txt") == ()
    [made] = secured.command("echo 2 >> src/a.py; echo new > src/new/x || (mkdir src/new; echo new > src/new/x)")
    assert sorted(file.path for file in made.files) == ["src/a.py", "src/new/x"]
    secured.undo()
    assert "src/new" not in secured.folders()


def test_edits_of_the_person_between_two_commands_are_not_the_commands(secured: ProjectWithTools) -> None:
    secured.command("echo 2 >> src/a.py")
    secured.write("notes.txt", b"edited\n")
    secured.write("new.txt", b"of the person\n")
    secured.turn(2)
    [made] = secured.command("rm notes.txt")
    assert [file.path for file in made.files] == ["notes.txt"]
    secured.undo()
    assert secured.files()["notes.txt"] == b"edited\n"
    assert secured.files()["src/a.py"] == b"a = 1\n2\n"


def test_each_file_is_read_once_as_long_as_it_stays_the_same(secured: ProjectWithTools) -> None:
    age(secured)
    secured.command("true")
    [contents] = (secured.state / "secured").rglob("*.contents")
    size = contents.stat().st_size
    secured.command("true")
    assert contents.stat().st_size == size
    secured.command("echo 2 >> src/a.py")
    assert size < contents.stat().st_size < size + 100


def age(project: ProjectWithTools) -> None:
    """Waits until a change of any of the files shows in its times."""
    import time

    time.sleep(0.1)
    assert project.files()


def test_a_file_that_changed_an_instant_ago_is_read_again(
    secured: ProjectWithTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second change within the grain of the clock shows in no time."""
    monkeypatch.setattr("agent.checkpoints.snapshot._GRAIN_NS", 10**12)
    secured.command("true")
    [contents] = (secured.state / "secured").rglob("*.contents")
    size = contents.stat().st_size
    secured.command("true")
    assert contents.stat().st_size > size


def test_ignored_files_are_left_out_but_for_keys(secured: ProjectWithTools) -> None:
    secured.write(".gitignore", b"build/\n*.log\n.env\n")
    secured.write("build/out.o", b"1")
    secured.write("x.log", b"1")
    secured.write(".env", b"KEY=1\n")
    [made] = secured.command("rm -rf build x.log .env")
    assert [file.path for file in made.files] == [".env"]


def test_with_the_setting_ignored_files_are_secured_too(tmp_path: Path) -> None:
    project = secured_project(tmp_path, ignored=True)
    project.write(".gitignore", b"build/\n")
    project.write("build/out.o", b"1")
    project.command("rm -rf build")
    project.undo()
    assert project.files()["build/out.o"] == b"1"


@pytest.mark.parametrize(
    "line", ["rm .gitignore", "echo > .gitignore", "echo '*.o' >> .gitignore; echo '*.py' >> .gitignore"]
)
def test_files_that_other_rules_leave_out_or_show_are_neither_made_nor_deleted(
    secured: ProjectWithTools, line: str
) -> None:
    secured.write(".gitignore", b"build/\n")
    secured.write("build/out.bin", b"1")
    before = secured.files()
    age(secured)
    [made] = secured.command(line)
    assert [file.path for file in made.files] == [".gitignore"]
    secured.undo()
    assert secured.files() == before


def test_a_file_that_is_overwritten_and_ignored_at_once_is_restored(secured: ProjectWithTools) -> None:
    before = secured.files()
    [made] = secured.command("echo '*' > .gitignore; echo x > notes.txt; rm src/a.py")
    assert sorted(file.path for file in made.files) == ["notes.txt", "src/a.py"]
    secured.undo()
    assert {name: body for name, body in secured.files().items() if name != ".gitignore"} == before


def test_a_file_that_is_too_large_is_named_before_and_when_it_is_overwritten(tmp_path: Path) -> None:
    project = secured_project(tmp_path, file_bytes=1_000)
    project.write("big.bin", b"x" * 1_001)
    named: list[str] = []
    running = project.checkpoints.before_command("e_1", report=named.append)
    assert len(named) == 1 and "big.bin (1.0 kB)" in named[0]
    project.checkpoints.after_command(running)
    assert len(project.checkpoints.take_notices()) == 1
    project.checkpoints.after_command(project.checkpoints.before_command("e_1", report=named.append))
    assert len(named) == 1
    assert project.command("printf yy | dd of=big.bin conv=notrunc") == ()
    [notice] = project.checkpoints.take_notices()
    assert "changed or removed files that /undo does not cover" in notice and "big.bin" in notice


@pytest.mark.parametrize("line", ["rm big.bin", "mv big.bin other", "cp big.bin x && echo >> x && mv x big.bin"])
def test_a_file_that_is_too_large_is_there_again_after_it_was_removed(tmp_path: Path, line: str) -> None:
    project = secured_project(tmp_path, file_bytes=1_000)
    project.write("big.bin", b"x" * 1_001)
    project.command(line)
    project.undo()
    assert project.files()["big.bin"] == b"x" * 1_001
    project.write("big.bin", b"small")
    project.command("rm -f other")
    project.command("true")
    assert list((project.state / "secured").rglob("links/*")) == []


GIT = "git -c user.name=a -c user.email=a@b"
MADE = f"git init -q . && git add -A && {GIT} commit -qm x && git tag v1"


@pytest.mark.parametrize(
    "line", ["rm -rf .git", "find . -delete", "mv .git {tmp}", "rm -rf .git/objects/*", "rm .git/HEAD"]
)
def test_a_repository_that_a_command_destroys_is_restored(secured: ProjectWithTools, line: str, tmp_path: Path) -> None:
    secured.command(MADE)
    secured.turn(2)
    assert secured.command(line.format(tmp=tmp_path / "away"))
    secured.undo()
    for check in ("git fsck --strict", "git show v1:notes.txt", "git diff --quiet HEAD"):
        assert (
            subprocess.run(["bash", "-c", check], cwd=secured.folder, check=False, capture_output=True).returncode == 0
        )


@pytest.mark.parametrize(
    "line", [f"echo 2 >> notes.txt; {GIT} commit -qam y", "git gc -q", "git tag -d v1", "git pack-refs --all"]
)
def test_what_version_control_does_to_its_own_files_is_not_undone(secured: ProjectWithTools, line: str) -> None:
    secured.command(MADE)
    secured.turn(2)
    made = secured.command(line)
    assert [file.path for record in made for file in record.files if file.path.startswith(".git/")] == []


def test_a_small_file_that_a_command_makes_too_large_is_kept(tmp_path: Path) -> None:
    project = secured_project(tmp_path, file_bytes=1_000)
    project.write("small.txt", b"mine\n")
    project.command("head -c 5000 /dev/zero >> small.txt")
    project.undo()
    assert project.files() == {"small.txt": b"mine\n"}


def test_what_a_killed_session_left_is_taken_back(secured: ProjectWithTools) -> None:
    before = secured.files()
    running = secured.checkpoints.before_command("e_3", seconds=60)
    assert running is not None
    import shutil

    shutil.rmtree(secured.folder / "src")
    running.lock.release()
    again = ProjectWithTools(secured.folder, secured.state, coverage=secured.coverage)
    [notice] = again.checkpoints.take_notices()
    assert "A command was cut off with its session" in notice
    again.undo()
    assert again.files() == before


def test_two_sessions_of_a_project_secure_for_each_other(secured: ProjectWithTools) -> None:
    other = ProjectWithTools(secured.folder, secured.state, coverage=secured.coverage)
    running = secured.checkpoints.before_command("e_1", seconds=60)
    (secured.folder / "notes.txt").write_bytes(b"lost?\n")
    assert other.command("echo 2 >> src/a.py")
    (secured.folder / "notes.txt").unlink()
    secured.checkpoints.after_command(running)
    [made] = secured.checkpoints.take_made("e_1")
    bodies = {file.path: secured.checkpoints.blobs.get(file.before) for file in made.files}
    assert bodies["notes.txt"] == b"mine\n"


@pytest.mark.parametrize("damage", ["contents", "snapshot", "all"])
def test_a_damaged_store_is_made_again_before_the_command(secured: ProjectWithTools, damage: str) -> None:
    age(secured)
    secured.command("true")
    for path in (secured.state / "secured").rglob("*.*"):
        if damage in {path.suffix[1:], "all"}:
            path.write_bytes(b"") if damage != "all" else path.unlink()
    before = secured.files()
    secured.command("rm -rf src")
    secured.undo()
    assert secured.files() == before


def test_where_files_cannot_be_secured_that_is_raised(secured: ProjectWithTools) -> None:
    (secured.state / "secured").parent.mkdir(parents=True, exist_ok=True)
    (secured.state / "secured").write_bytes(b"")
    with pytest.raises(OSError):
        secured.checkpoints.before_command("e_1")
