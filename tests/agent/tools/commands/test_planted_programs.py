"""What a sandboxed command leaves for others to run: hooks and settings of git, and programs that run outside."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent.tools.commands.git_folders import danger
from agent.tools.commands.sandbox import SandboxKind
from tests.agent.tools.commands.conftest import Confined, run

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these sandboxes are Linux's"),
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]


PLANTED = {
    "a folder of hooks that was missing": "rm -rf .git/hooks; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
    "a copy of the git folder": "mv .git old; cp -r old .git; echo x > .git/hooks/pre-commit",
    "a link to a copy": "cp -r .git copy; mv .git old; ln -s copy .git; echo x > copy/hooks/pre-commit",
    "a copy of a submodule's": "cd .git/modules/group; mv sub old; cp -r old sub; echo x > sub/hooks/pre-commit",
    "a copy of all submodules'": "cd .git; mv modules old; cp -r old modules; echo x > modules/group/sub/config",
    "a submodule's settings": "echo x > .git/modules/group/sub/config",
    "settings elsewhere": "mkdir evil; echo '[core]' > evil/config; echo ../evil > .git/commondir",
    "a worktree's settings elsewhere": "echo /tmp > .git/worktrees/tree/commondir",
}


@pytest.mark.parametrize("how", PLANTED)
def test_no_program_is_planted_in_a_git_folder(confined: Confined, kind: SandboxKind, project: Path, how: str) -> None:
    if kind is SandboxKind.LANDLOCK:
        pytest.skip("Landlock alone protects no hooks, and says so")
    folders = (".git", ".git/modules/group/sub", ".git/worktrees/tree")
    for folder in folders:
        (project / folder / "hooks").mkdir(parents=True)
        (project / folder / "HEAD").write_text("ref: refs/heads/main\n")
        (project / folder / "config").write_text("[core]\n")
    (project / ".git/worktrees/tree/commondir").write_text("../..\n")
    if "missing" in how:
        (project / ".git/hooks").rmdir()
    before = _programs(project, folders)
    run(confined(), PLANTED[how])
    assert _programs(project, folders) == before


def _programs(project: Path, folders: tuple[str, ...]) -> dict[str, list[str]]:
    """The files by which git runs programs, with what they hold."""
    names = ("config", "commondir", "config.worktree")
    return {
        folder: [
            *(str(path) for path in (project / folder / "hooks").glob("*")),
            *((project / folder / name).read_text() for name in names if (project / folder / name).exists()),
        ]
        for folder in folders
    }


@pytest.fixture
def mounting(kind: SandboxKind) -> None:
    if kind is SandboxKind.LANDLOCK:
        pytest.skip("Landlock alone makes nothing in the project read-only, and says so")


REPLACED = {
    "written": "echo x > {path}",
    "removed": "rm -f {path}; echo x > {path}",
    "renamed over": "echo x > new; mv -f new {path}",
    "with its folder": "mv tools old; mkdir -p tools/deep; echo x > {path}",
    "with the folder above it": "cd tools; mv deep old; cp -r old deep; cd ..; echo x > {path}",
    "unmounted": "umount {path} tools/deep tools; echo x > {path}",
}


@pytest.mark.usefixtures("mounting")
@pytest.mark.parametrize("how", REPLACED)
def test_a_program_that_runs_outside_cannot_be_replaced(confined: Confined, project: Path, how: str) -> None:
    program = project / "tools/deep/check.sh"
    program.parent.mkdir(parents=True)
    program.write_text("true\n")
    run(confined(programs=(program, project / "missing.sh")), REPLACED[how].format(path="tools/deep/check.sh"))
    assert program.read_text() == "true\n"
    run(confined(), "echo x > tools/deep/check.sh")
    assert program.read_text() == "x\n", "the control"


HOOKS = {
    "of husky": (".husky/pre-commit", "echo x > .husky/pre-commit; echo x > .husky/post-merge; mv .husky old"),
    "of a folder in the settings": (
        "ci/hooks/pre-commit",
        "echo x > ci/hooks/pre-commit; mv ci old; mkdir -p ci/hooks",
    ),
    "of a nested repository": (
        "a/b/.git/hooks/pre-commit",
        "rm -rf a/b/.git/hooks; echo x > a/b/.git/hooks/pre-commit",
    ),
    "of a folder with it": ("a/b/.git/hooks/pre-commit", "mv a old; cp -r old a; echo x > a/b/.git/hooks/pre-commit"),
    "of a nested one's settings": ("a/b/.git/config", "echo x > a/b/.git/config"),
}


@pytest.mark.usefixtures("mounting")
@pytest.mark.parametrize("how", HOOKS)
def test_hooks_of_git_wherever_they_are_cannot_be_changed(confined: Confined, project: Path, how: str) -> None:
    for folder in (project, project / "a/b"):
        subprocess.run(["git", "init", "-q", folder], check=True)
    subprocess.run(["git", "-C", project, "config", "core.hooksPath", "ci/hooks"], check=True)
    name, attack = HOOKS[how]
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text("true\n")
    run(confined(), attack)
    assert (project / name).read_text() == "true\n"
    assert not (project / name).with_name("post-merge").exists()
    run(confined(), "echo x > other && mv other again")
    assert (project / "again").read_text() == "x\n"


@pytest.mark.usefixtures("mounting")
def test_a_folder_of_hooks_that_the_settings_name_is_made_before_a_command_can(
    confined: Confined, project: Path
) -> None:
    subprocess.run(["git", "init", "-q", project], check=True)
    subprocess.run(["git", "-C", project, "config", "core.hooksPath", "ci"], check=True)
    run(confined(), "mkdir ci; echo x > ci/pre-commit")
    assert list((project / "ci").iterdir()) == []


MADE = {
    "with a hook": "git init -q {at} && echo 'touch pwned' > {at}/.git/hooks/pre-commit",
    "with a monitor": "git init -q {at} && git -C {at} config core.fsmonitor 'touch pwned'",
    "with an alias": "git init -q {at} && git -C {at} config alias.st '!touch pwned'",
    "with an included file": "git init -q {at} && echo '[include] path = ../x' >> {at}/.git/config",
    "with a setting in an odd form": "git init -q {at} && printf '[CORE]\\n\\tSSHcommand = x' >> {at}/.git/config",
    "with a setting on two lines": "git init -q {at} && printf '[core]\\n\\tbare = \\\\\\n false' >> {at}/.git/config",
    "with a remote that is a command": "git init -q {at} && git -C {at} remote add o 'ext::touch pwned'",
    "with a tree elsewhere": "git init -q {at} && git -C {at} config core.worktree /",
    "with settings elsewhere": "git init -q {at} && git init -q e && echo ../../e/.git > {at}/.git/commondir",
    "behind a file": "git init -q e && mv e/.git e/g && git -C e --git-dir=g config core.pager x; "
    "mkdir -p {at}; echo gitdir: $PWD/e/g > {at}/.git",
    "with a pipe": "git init -q {at} && rm {at}/.git/config && mkfifo {at}/.git/config",
    "behind a link": "git init -q e && mkdir -p {at} && ln -s $PWD/e/.git {at}/.git",
}


@pytest.mark.parametrize("at", [".", pytest.param("a/b", marks=pytest.mark.soak)])
@pytest.mark.parametrize("how", MADE)
def test_a_repository_that_a_command_makes_is_set_aside_where_it_runs_programs(
    confined: Confined, project: Path, how: str, at: str
) -> None:
    told = run(confined(), MADE[how].format(at=at))
    assert not (project / at / ".git").exists()
    assert (project / at / ".git.made-by-a-command").exists()
    assert "was created by a command and" in told


def test_a_repository_as_git_makes_it_stays(confined: Confined, project: Path) -> None:
    commands = confined()
    made = (
        "git init -q . && git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m a"
        " && git clone -q . copy && git worktree add -q tree"
        " && git -c protocol.file.allow=always submodule add -q $PWD/copy sub"
    )
    told = run(commands, made)
    assert told.startswith("[exit 0 ")
    assert "was created by a command and" not in told
    assert {str(path.parent.relative_to(project)) for path in project.rglob(".git")} == {".", "copy", "tree", "sub"}
    assert run(commands, "git -C tree status --short && git -C sub log --format=%s").endswith("]\na\n")


def test_repositories_of_before_and_those_made_outside_stay(confined: Confined, project: Path) -> None:
    def is_mine(name: str) -> bool:
        return (project / name / ".git/hooks/pre-commit").exists()

    def make(name: str) -> None:
        subprocess.run(["git", "init", "-q", project / name], check=True)
        (project / name / ".git/hooks/pre-commit").write_text("mine\n")

    commands = confined()
    make("before")
    assert "made by" not in run(commands, "true")
    make("between")
    assert "made by" not in run(commands, "true")
    assert is_mine("before") and is_mine("between")


def test_what_a_background_command_makes_is_judged_when_it_ends(confined: Confined, project: Path) -> None:
    commands = confined()
    handle = commands.start("git init -q . && git config core.fsmonitor x && sleep 30")
    until = 100
    while not (project / ".git/config").exists() or "fsmonitor" not in (project / ".git/config").read_text():
        run(commands, "sleep 0.05")
        until -= 1
        if not until or (project / ".git.made-by-a-command").exists():
            break
    commands.stop(handle)
    assert not (project / ".git").exists()


@pytest.mark.parametrize("text", ["", "x", "gitdir: /", "gitdir: ..", "gitdir: \0", "gitdir: missing"])
def test_a_file_that_leads_nowhere_runs_nothing_or_is_set_aside(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert danger(tmp_path) in {"", "cannot be read"}
