"""Files that editors, agents, shells and CI run or obey by themselves: no command leaves one new or changed."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from agent.tools.commands import guarded_files
from agent.tools.commands.commands import open_commands
from agent.tools.commands.guarded_files import FileGuard
from agent.tools.commands.sandbox import SandboxKind
from agent.tools.files.concerns import changing_concern, runs_by_itself
from agent.tools.files.project import ProjectFolders
from agent.tools.port import ToolSettings
from foundation.paths import Workspace
from tests.agent.tools.commands.conftest import Confined, run

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these sandboxes are Linux's")

RUN = [
    *("lefthook.toml", "lefthook.json", "lefthook-local.yml", ".huskyrc", ".simple-git-hooks.json", ".overcommit.yml"),
    *(".lintstagedrc.json", ".devcontainer.json", "opencode.json", ".opencode/command/a.md", ".kiro/hooks/a.json"),
    *(".junie/guidelines.md", ".amazonq/cli-agents/a.json", ".aider.conf.yml", "a.sublime-project", ".nova/Tasks/a"),
    *(".theia/tasks.json", ".gitlab-ci.yaml", ".tekton/a.yaml", ".semaphore/semaphore.yml", ".teamcity/settings.kts"),
    *(".build.yml", ".builds/a.yml", "bitrise.yml", "codemagic.yaml", ".vsts-ci.yml", "cloudbuild.yaml", "mise.toml"),
    *(".cargo/config.toml", ".gdbinit", ".lldbinit", ".Rprofile", ".direnvrc", ".bazelrc", ".envrc", ".mcp.json"),
    *(".vscode/tasks.json", ".claude/settings.json", ".cursor/rules/a.mdc", ".hg/hgrc", ".github/workflows/a.yml"),
    *("AGENTS.md", "CLAUDE.md", ".idea/workspace.xml", "Jenkinsfile", ".circleci/config.yml", ".husky/pre-commit"),
    *(".pre-commit-config.yaml", ".dir-locals.el", "a.code-workspace", ".nvim.lua", ".zed/tasks.json", ".bashrc"),
]
ORDINARY = [".pytest_cache/a", ".venv/bin/a", ".next/a", ".env", ".eslintrc.json", "src/a.py", "Makefile", ".coverage"]


@pytest.mark.parametrize("path", RUN)
def test_a_tool_asks_before_it_writes_them(path: str) -> None:
    assert changing_concern(tuple(path.split("/")), path)
    assert any(map(runs_by_itself, path.split("/")))


@pytest.mark.parametrize("path", [".unknown-agent/hooks.json", "a/.unknownrc", ".newtool.yml"])
def test_a_tool_asks_before_it_writes_a_hidden_file_that_nobody_knows(path: str) -> None:
    assert changing_concern(tuple(path.split("/")), path)


@pytest.mark.parametrize("path", [".gitignore", ".editorconfig", "src/.dockerignore", ".python-version", "a.py"])
def test_a_tool_writes_ordinary_files(path: str) -> None:
    assert not changing_concern(tuple(path.split("/")), path)


@linux
@pytest.mark.parametrize("below", ["", "packages/a/"])
def test_a_command_leaves_none_that_is_new(confined: Confined, project: Path, below: str) -> None:
    lines = [f"mkdir -p $(dirname {below}{path}); echo evil > {below}{path}" for path in (*RUN, *ORDINARY)]
    told = run(confined(), "\n".join(lines), seconds=30)
    assert [path for path in RUN if (project / below / path).exists()] == []
    assert [path for path in ORDINARY if not (project / below / path).exists()] == []
    assert told.count("by a command") >= len(RUN) - 2
    assert "evil" in (project / below / "AGENTS.md.made-by-a-command").read_text()


CHANGES = {
    "written": "echo evil > {path}",
    "appended": "echo evil >> {path}",
    "renamed over": "echo evil > new; mv -f new {path}",
    "removed": "rm -rf {path}",
    "with its folder": "mv {folder} old; cp -r old {folder}; echo evil > {path}",
    "by a hard link": "ln {path} linked; echo evil > linked",
    "by a hard link of before": "echo evil > before",
    "by a hard link of before that is removed": "echo evil > before; rm before",
    "a link instead": "rm -f {path}; echo evil > x; ln -s $PWD/x {path}",
    "mode": "chmod 777 {path}",
}


@linux
@pytest.mark.parametrize("path", ["AGENTS.md", ".vscode/tasks.json", "a/b/.envrc", "a/.github/workflows/x.yml"])
@pytest.mark.parametrize("how", CHANGES)
def test_a_command_changes_none(confined: Confined, project: Path, path: str, how: str) -> None:
    file = project / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("mine\n")
    os.link(file, project / "before")
    folder = path.split("/", maxsplit=1)[0]
    run(confined(), CHANGES[how].format(path=path, folder=folder))
    assert not file.is_symlink()
    assert file.read_text() == "mine\n"
    assert os.access(file, os.X_OK) is False


@linux
@pytest.mark.parametrize(
    "how", ["echo evil > real/tasks.json", "rm .vscode; mkdir .vscode; echo evil > .vscode/tasks.json"]
)
def test_a_linked_folder_is_guarded(confined: Confined, project: Path, how: str) -> None:
    (project / "real").mkdir()
    (project / "real/tasks.json").write_text("mine\n")
    (project / ".vscode").symlink_to("real")
    run(confined(), how)
    assert (project / ".vscode/tasks.json").read_text() == "mine\n"


@linux
def test_what_somebody_else_changes_meanwhile_stays(confined: Confined, kind: SandboxKind, project: Path) -> None:
    if kind is SandboxKind.LANDLOCK:
        pytest.skip("Landlock alone cannot tell who changed a file of the project; nothing is deleted")
    (project / "AGENTS.md").write_text("old\n")
    commands = confined()
    handle = commands.start("sleep 30")
    (project / "AGENTS.md").write_text("new\n")
    commands.stop(handle)
    assert (project / "AGENTS.md").read_text() == "new\n"


@linux
def test_what_a_tool_wrote_with_permission_stays(project: Path, confined: Confined) -> None:
    commands = confined()
    handle = commands.start("sleep 30")
    for path in ("AGENTS.md", ".github/workflows/a.yml"):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("mine\n")
        commands.project.written.add(project / path)  # as FileChanges.apply does
    run(commands, "true")
    commands.stop(handle)
    assert (project / "AGENTS.md").exists()
    assert (project / ".github/workflows/a.yml").exists()


@linux
def test_a_command_plants_no_instructions_of_a_workspace(
    kind: SandboxKind, workspace: Workspace, tmp_path: Path
) -> None:
    names = ("AGENTS.md", "SOUL.md", "system.yaml", "MEMORY.md")
    for name in names:
        (workspace.root / name).unlink(missing_ok=True)
    for name in ("memory", "skills"):
        shutil.rmtree(workspace.root / name, ignore_errors=True)
    environment = {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "settings"), "PATH": os.environ["PATH"]}
    commands = open_commands(workspace, ProjectFolders((workspace.root,)), ToolSettings(), environment)
    run(
        commands, f"echo evil | tee {' '.join(names)}; mkdir memory skills; echo evil > skills/SKILL.md; echo x > other"
    )
    commands.close()
    assert [path for path in (*names, "memory", "skills") if (workspace.root / path).exists()] == []
    assert (workspace.root / "other").exists()


@linux
def test_a_name_like_that_of_a_renamed_file_is_no_way_out(confined: Confined, project: Path) -> None:
    (project / ".cursor/rules").mkdir(parents=True)
    names = ("AGENTS.made-by-a-command.md", ".cursor/rules/a.made-by-a-command.mdc")
    run(confined(), f"echo evil | tee {' '.join(names)}")
    assert [name for name in names if (project / name).exists()] == []


@linux
def test_a_link_that_takes_the_place_of_a_folder_renames_nothing_outside(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = FileGuard(tmp_path / "home")
    (project / "sub").mkdir()
    guard.protect([project], is_new=True, creates=True)
    (project / "sub/AGENTS.md").write_text("evil")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/AGENTS.md").write_text("mine")
    lexists = os.path.lexists

    def swap(path: Path) -> bool:  # as a command in the background could
        if not (project / "old").exists() and str(path).endswith("sub/AGENTS.md"):
            (project / "sub").rename(project / "old")
            (project / "sub").symlink_to(tmp_path / "outside")
            return True
        return lexists(path)

    monkeypatch.setattr(os.path, "lexists", swap)
    guard.undo([project])
    assert (project / "old").exists()
    assert (tmp_path / "outside/AGENTS.md").read_text() == "mine"


@linux
def test_many_folders_do_not_hide_a_file(confined: Confined, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded_files, "MAX_FOLDERS", 100)
    monkeypatch.setattr(guarded_files, "_MAX_NEW_FOLDERS", 1_000)
    (project / "src").mkdir()
    run(confined(), "for i in $(seq 500); do mkdir !$i; done; mkdir z; echo evil | tee src/AGENTS.md z/AGENTS.md")
    assert len(list(project.iterdir())) == 502
    assert not (project / "src/AGENTS.md").exists()
    assert not (project / "z/AGENTS.md").exists()
    run(confined(), "for i in $(seq 1000); do mkdir a$i; done; echo evil > src/AGENTS.md")
    assert not (project / "src/AGENTS.md").exists(), "folders that were there are searched first"


def test_the_second_search_reads_only_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        (tmp_path / f"folder{number}/deep").mkdir(parents=True)
        os.utime(tmp_path / f"folder{number}")
    guard = FileGuard(tmp_path / "home")
    guard.protect([tmp_path], is_new=True, creates=True)
    monkeypatch.setattr("agent.tools.commands.guarded_files._RECENT_NS", 0)
    guard.protect([tmp_path], is_new=True, creates=True)
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(str(path)) or scandir(path))
    (tmp_path / "folder3/deep/.envrc").write_text("evil")
    assert len(guard.undo([tmp_path])) == 1
    assert [path for path in listed if "folder" in path] == [str(tmp_path / "folder3/deep")]
