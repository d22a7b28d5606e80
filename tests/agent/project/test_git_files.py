"""What git has changed comes first of the files offered; no program that a repository names is run for it."""

import os
import shutil
import stat
import subprocess
import time
from pathlib import Path

import pytest

from agent.project.git_files import GitFiles, GitNames
from tests.agent.services.test_project_files import found, made

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
AUTHOR = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "core.fsmonitor=false")


def git(root: Path, *arguments: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *AUTHOR, *arguments], cwd=root, env=environment, check=True, capture_output=True)


def names(root: Path, prefix: str = "") -> GitNames:
    return GitFiles([(root, prefix)]).names(20)


def repository(root: Path) -> None:
    """Files that are unchanged, changed, changed and staged, and new."""
    for name in ("kiln_old.py", "kiln_changed_锅.py", "kiln_staged.py"):
        (root / name).write_text("before\n", encoding="utf-8")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "first")
    (root / "kiln_changed_锅.py").write_text("after, and longer\n", encoding="utf-8")
    (root / "kiln_staged.py").write_text("after, and staged\n", encoding="utf-8")
    git(root, "add", "kiln_staged.py")
    (root / "kiln_new.py").write_text("new\n", encoding="utf-8")


def test_changed_staged_and_new_files_are_changed(tmp_path: Path) -> None:
    repository(tmp_path)
    known = names(tmp_path)
    assert known.changed == {"kiln_changed_锅.py", "kiln_staged.py", "kiln_new.py"}
    assert known.tracked == {"kiln_changed_锅.py", "kiln_staged.py", "kiln_old.py"}


def test_packed_branches_worktrees_and_folders_within_are_read(tmp_path: Path) -> None:
    (tmp_path / "main").mkdir()
    repository(tmp_path / "main")
    git(tmp_path / "main", "pack-refs", "--all")
    assert "kiln_staged.py" in names(tmp_path / "main").changed
    git(tmp_path / "main", "worktree", "add", "--quiet", str(tmp_path / "other"))
    (tmp_path / "other" / "kiln_old.py").write_text("after, and longer\n", encoding="utf-8")
    assert names(tmp_path / "other", "../other/").changed == {"../other/kiln_old.py"}
    (tmp_path / "main" / "deep").mkdir()
    (tmp_path / "main" / "deep" / "new.py").write_text("", encoding="utf-8")
    assert names(tmp_path / "main" / "deep").changed == {"new.py"}


def test_changed_files_come_first_then_tracked_ones_then_the_rest(tmp_path: Path) -> None:
    repository(tmp_path)
    files = made(tmp_path, "kiln.py")
    (tmp_path / ".git" / "info" / "exclude").write_text("kiln.py\n", encoding="utf-8")
    found(files, "kiln")
    deadline = time.monotonic() + 20
    while not files.is_settled:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    changed = ["kiln_new.py", "kiln_staged.py", "kiln_changed_锅.py"]
    assert files.search("kiln", 9) == [*changed, "kiln_old.py", "kiln.py"]
    assert files.changed(2) == ["kiln_changed_锅.py", "kiln_new.py"]


def test_a_folder_without_a_repository_and_a_damaged_one_have_no_names(tmp_path: Path) -> None:
    assert names(tmp_path) == GitNames()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").write_bytes(b"no index")
    assert names(tmp_path) == GitNames()


def test_where_git_is_not_installed_there_are_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path)
    monkeypatch.setenv("PATH", "")
    assert names(tmp_path) == GitNames()


def test_no_program_that_a_repository_names_is_run_and_its_index_stays(tmp_path: Path) -> None:
    root, trace = tmp_path / "theirs", tmp_path / "was-run"
    root.mkdir()
    repository(root)
    program = tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\necho run >> {trace}\ncat\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    hook = root / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    shutil.copy(program, hook)
    (root / ".gitattributes").write_text("*.py filter=theirs diff=theirs\n", encoding="utf-8")
    for name, value in (
        ("core.fsmonitor", str(program)),
        ("filter.theirs.clean", str(program)),
        ("filter.theirs.process", str(program)),
        ("diff.theirs.textconv", str(program)),
        ("diff.external", str(program)),
    ):
        git(root, "config", name, value)
    before = (root / ".git" / "index").read_bytes()
    os.utime(root / "kiln_old.py")  # its contents must be compared
    assert "kiln_changed_锅.py" in names(root).changed
    assert not trace.exists()
    assert (root / ".git" / "index").read_bytes() == before
    subprocess.run(["git", "status"], cwd=root, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)}, check=False)
    assert trace.exists()  # the control: git by itself runs them


def test_git_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "git").write_text("#!/bin/sh\nexec sleep 30\n", encoding="utf-8")
    (programs / "git").chmod(0o700)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("agent.project.git_files.LIMIT_S", 0.2)
    began = time.monotonic()
    assert names(tmp_path) == GitNames()
    assert time.monotonic() - began < 10
