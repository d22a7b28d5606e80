"""The sandbox: what a command in it can write, read and reach, for each kind that this machine has."""

import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.tools.commands import sandbox as module
from agent.tools.commands.commands import Commands, open_commands
from agent.tools.commands.confinement import Confinement
from agent.tools.commands.sandbox import (
    Sandbox,
    SandboxFolders,
    SandboxKind,
    SandboxState,
    bubblewrap_arguments,
    seatbelt_profile,
)
from agent.tools.files.project import ProjectFolders
from agent.tools.port import ToolSettings
from foundation.paths import Workspace
from tests.agent.tools.commands.conftest import KINDS, Confined, run
from tests.paths import ROOT

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these sandboxes are Linux's")


def test_the_project_and_temporary_folders_can_be_written(confined: Confined, project: Path) -> None:
    told = run(
        confined(),
        'echo 1 > a && mkdir -p d/e && mv a d/e/ && rm -r d && echo x > "$TMPDIR/t" && cat "$TMPDIR/t" && echo 2 > b '
        "&& echo > /dev/null && python3 -c 'import multiprocessing; multiprocessing.Lock()'",
    )
    assert told.startswith("[exit 0 after ")
    assert told.endswith("]\nx\n")
    assert (project / "b").read_text() == "2\n"
    assert not (project / "d").exists()


OUTSIDE = {
    "a new file": "echo x > {outside}/new",
    "an old file": "echo x > {outside}/old",
    "an appended file": "echo x >> {outside}/old",
    "a truncated file": "truncate -s 0 {outside}/old",
    "a removed file": "rm -f {outside}/old",
    "a renamed file": "mv {outside}/old {outside}/new",
    "a file moved out": "echo x > in; mv in {outside}/new",
    "a hard link out": "ln {outside}/old linked && echo x > linked",
    "a link followed": "ln -s {outside}/old linked && echo x > linked",
    "a folder": "mkdir {outside}/folder",
    "a link": "ln -s x {outside}/new",
    "a pipe": "mkfifo {outside}/new",
    "by dots": "echo x > ../outside/new",
    "by /proc": "echo x > /proc/self/root{outside}/new",
    "by another's root": "echo x > /proc/$PPID/root{outside}/new",
    "by a shell in a new namespace": "unshare -Urm sh -c 'mount -o remount,rw /; echo x > {outside}/new'",
    "by unmounting": "umount -l / ; umount -l {outside}; echo x > {outside}/new",
    "in the background": "(setsid sh -c 'echo x > {outside}/new' &); sleep 0.2",
    "the home folder": "echo x > ~/.bashrc",
}


def contents(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() if path.is_file() else "" for path in folder.rglob("*")}


@pytest.mark.parametrize("how", OUTSIDE)
def test_nothing_outside_is_written(confined: Confined, tmp_path: Path, home: Path, how: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "old").write_text("old\n")
    before = contents(outside), contents(home)
    run(confined(), OUTSIDE[how].format(outside=outside))
    assert (contents(outside), contents(home)) == before


def test_the_control_writes_outside(commands: Commands, tmp_path: Path, home: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    changed = 0
    for attempt in OUTSIDE.values():
        (outside / "old").write_text("old\n")
        before = contents(outside), contents(home)
        run(commands, attempt.replace("umount -l / ; umount -l {outside}; ", "").format(outside=outside))
        changed += (contents(outside), contents(home)) != before
        for path in outside.iterdir():
            path.rmdir() if path.is_dir() else path.unlink()
        (home / ".bashrc").unlink(missing_ok=True)
        for path in Path(tmp_path / "project").iterdir():
            path.unlink()
    assert changed >= len(OUTSIDE) - 2, "unshare and another's root may be forbidden"


def test_modes_and_times_outside_cannot_be_set(confined: Confined, kind: SandboxKind) -> None:
    if kind is SandboxKind.LANDLOCK:
        pytest.skip("Landlock alone does not hold them, and says so")
    # /tmp, where the other tests are, is the sandbox's own
    folder = Path.home() if ROOT.is_relative_to("/tmp") else ROOT
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        before = os.fstat(file.fileno())
        told = run(confined(), f"chmod 777 {file.name}; touch -d 2001-01-01 {file.name}; echo x > {file.name}")
        after = os.fstat(file.fileno())
    assert told.count("Read-only file system") == 3
    assert (after.st_mode, after.st_mtime_ns, after.st_size) == (before.st_mode, before.st_mtime_ns, 0)


@pytest.fixture
def listening() -> Iterator[int]:
    """A server of this machine outside the sandbox; the port that counts."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


PYTHON = os.path.realpath(sys.executable)  # a checkout below /tmp, and its environment, are not seen in a sandbox
CONNECT = f'{PYTHON} -c \'import socket; socket.create_connection(("127.0.0.1", {{port}}), 2); print("reached")\''


def test_the_network_is_off_unless_it_is_allowed(confined: Confined, listening: int, commands: Commands) -> None:
    assert "reached" not in run(confined(), CONNECT.format(port=listening))
    assert "reached" in run(confined(network=True), CONNECT.format(port=listening))
    assert "reached" in run(commands, CONNECT.format(port=listening))


@pytest.mark.parametrize(
    "made",
    ["socket.AF_INET, socket.SOCK_DGRAM", "socket.AF_INET6, socket.SOCK_STREAM", "socket.AF_INET, socket.SOCK_RAW"],
)
def test_no_packet_leaves(confined: Confined, made: str) -> None:
    told = run(confined(), f"{PYTHON} -c 'import socket; socket.socket({made}).connect((\"192.0.2.1\", 9))'")
    assert "rror" in told
    assert told.startswith("[exit 1 ")


def test_a_test_that_starts_its_own_server_works(confined: Confined, kind: SandboxKind) -> None:
    if kind is SandboxKind.LANDLOCK:
        pytest.skip("without a network namespace there are no sockets at all")
    code = (
        'import socket; s = socket.create_server(("127.0.0.1", 0)); '
        'socket.create_connection(s.getsockname()); print("reached")'
    )
    assert run(confined(), f"{PYTHON} -c '{code}'").endswith("]\nreached\n")


def test_keys_and_state_are_hidden_and_hooks_cannot_be_changed(
    confined: Confined, kind: SandboxKind, project: Path, home: Path, tmp_path: Path
) -> None:
    if kind is SandboxKind.LANDLOCK:
        pytest.skip("Landlock alone hides nothing, and says so")
    for name in (".ssh/id_ed25519", ".aws/credentials", ".netrc"):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text("a canary\n")
    for name in (".palimpsest/cold.db", ".git/hooks/pre-commit", ".git/config", ".git/HEAD"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("a canary\n")
    elsewhere = tmp_path / "elsewhere" / ".palimpsest"
    elsewhere.mkdir(parents=True)
    (elsewhere / "cold.db").write_text("a canary\n")
    commands = confined(hidden=(elsewhere,))
    told = run(commands, f"cat ~/.ssh/* ~/.aws/* ~/.netrc .palimpsest/* {elsewhere}/*; ls -A ~/.ssh .palimpsest")
    assert "canary" not in told
    told = run(
        commands, "echo x > .git/hooks/pre-commit; echo x > .git/hooks/new; echo x > .git/config; rm .git/config"
    )
    assert told.count("\n") >= 4
    assert (project / ".git/hooks/pre-commit").read_text() == (project / ".git/config").read_text() == "a canary\n"
    assert [path.name for path in (project / ".git/hooks").iterdir()] == ["pre-commit"]
    run(commands, "rm -rf .palimpsest; echo x > .palimpsest/cold.db; echo ref > .git/HEAD")
    assert (project / ".palimpsest/cold.db").read_text() == "a canary\n"
    assert (project / ".git/HEAD").read_text() == "ref\n"


def test_memory_cannot_be_written_by_a_command(kind: SandboxKind, workspace: Workspace, tmp_path: Path) -> None:
    if kind is SandboxKind.LANDLOCK:
        pytest.skip("Landlock alone makes nothing in the project read-only, and `auto` asks there")
    (workspace.root / "memory").mkdir(parents=True, exist_ok=True)
    for name in ("MEMORY.md", "AGENTS.md", "memory/topic.md"):
        (workspace.root / name).write_text("a canary\n")
    environment = {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "settings"), "PATH": os.environ["PATH"]}
    commands = open_commands(workspace, ProjectFolders((workspace.root,)), ToolSettings(), environment)
    run(commands, "echo x > MEMORY.md; mv AGENTS.md x; rm -r memory; echo x > memory/new.md; echo x > other")
    commands.close()
    files = (workspace.root / name for name in ("MEMORY.md", "AGENTS.md", "memory/topic.md"))
    assert [path.read_text() for path in files] == ["a canary\n"] * 3
    assert not (workspace.root / "memory/new.md").exists()
    assert (workspace.root / "other").read_text() == "x\n"


def test_git_commits_in_the_sandbox(confined: Confined, project: Path) -> None:
    subprocess.run(["git", "init", "-q", project], check=True)
    commands = confined()
    told = run(
        commands,
        "echo x > a && git add a && git -c user.name=a -c user.email=a@example.org commit -qm a && git checkout -qb b"
        " && git status --short && git log --format=%s",
    )
    assert told.startswith("[exit 0 ")
    assert told.endswith("]\na\n")
    more = "git stash -q; git checkout -q b; git branch c; git rebase -q b; git tag v1; git gc -q; git status --short"
    assert re.fullmatch(r"\[exit 0 after [\d.]+ s; no output\]\n", run(commands, more))


def test_other_processes_cannot_be_signalled_or_read(confined: Confined, tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "30"], env={"CANARY": "a-canary"}) as other:
        try:
            told = run(confined(), f"kill {other.pid}; cat /proc/{other.pid}/environ")
            assert other.poll() is None
            assert "a-canary" not in told
        finally:
            other.kill()


def test_tmp_is_the_sessions_own(confined: Confined, kind: SandboxKind, tmp_path: Path) -> None:
    if kind is SandboxKind.LANDLOCK:
        pytest.skip("without a mount namespace /tmp is everybody's, and cannot be written")
    commands = confined()
    run(commands, "echo mine > /tmp/of-this-session")
    assert not Path("/tmp/of-this-session").exists()
    assert run(commands, "cat /tmp/of-this-session").endswith("]\nmine\n")


def test_the_temporary_folder_is_removed(confined: Confined) -> None:
    commands = confined()
    run(commands, 'mkdir -p "$TMPDIR/a/b"; echo x > "$TMPDIR/a/b/c"')
    folder = commands.sandbox.temporary_folder()
    assert (folder / "a/b/c").read_text() == "x\n"
    commands.close()
    assert not folder.exists()


def test_outside_the_sandbox_it_runs_as_without_one(confined: Confined, tmp_path: Path) -> None:
    launch = confined().sandbox.launch("true", tmp_path, {}, inside=False)
    assert launch.confinement is None
    assert launch.arguments == ["/bin/sh", "-c", "true"]


def state_where(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *available: SandboxKind, **given: bool
) -> SandboxState:
    """The state on a system that has these kinds."""

    def tried(own: Sandbox, which: SandboxKind) -> SandboxState | None:
        return (
            SandboxState(kind=which, writes=True, secrets=which is not SandboxKind.LANDLOCK)
            if which in available
            else None
        )

    monkeypatch.setattr(Sandbox, "try_kind", tried)
    monkeypatch.setattr(module.shutil, "which", lambda name: name)
    return Sandbox(SandboxFolders(writable=[tmp_path / "p"], home=tmp_path / "home"), **given).state


def test_the_best_sandbox_of_the_system_is_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert state_where(monkeypatch, tmp_path, *KINDS).kind is SandboxKind.NAMESPACES
    assert state_where(monkeypatch, tmp_path, *KINDS[1:]).kind is SandboxKind.BUBBLEWRAP
    only_landlock = state_where(monkeypatch, tmp_path, SandboxKind.LANDLOCK)
    assert only_landlock.kind is SandboxKind.LANDLOCK
    assert not only_landlock.holds, "hooks could be changed, so that auto asks"
    nothing = state_where(monkeypatch, tmp_path)
    assert nothing.kind is SandboxKind.NONE
    assert not nothing.holds
    off = state_where(monkeypatch, tmp_path, *KINDS, enabled=False)
    assert (off.kind, off.reason) == (SandboxKind.NONE, "tools.sandbox is off.")
    for system, kind in (("darwin", SandboxKind.SEATBELT), ("win32", SandboxKind.NONE)):
        with monkeypatch.context() as patched:
            patched.setattr(sys, "platform", system)
            assert state_where(patched, tmp_path, *SandboxKind).kind is kind


def test_the_home_folder_bounds_nothing(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "home"):
        state = Sandbox(SandboxFolders(writable=[folder], home=tmp_path / "home")).state
        assert state.kind is SandboxKind.NONE
        assert "home folder" in state.reason


def test_it_describes_what_holds(confined: Confined, kind: SandboxKind) -> None:
    said = confined().sandbox.describe()
    assert f"({kind})" in said
    assert "the network is off" in said
    assert ("hidden" in said) == (kind is not SandboxKind.LANDLOCK)
    assert "the network is allowed" in confined(network=True).sandbox.describe()


PLAN = Confinement(
    namespaces=False,
    landlock=False,
    network=False,
    writable=["/Users/ann/my project"],
    read_only=["/Users/ann/my project/.git/hooks"],
    pinned=["/Users/ann/my project/.git"],
    hidden=['/Users/ann/.ssh "x"\\'],
    temporary="/private/var/folders/t",
    covered=["/Users/ann", "/run"],
    visible=["/Users/ann/.cargo/bin"],
    links=[],
)


def test_the_profile_of_macos_quotes_paths_and_denies_last() -> None:
    lines = seatbelt_profile(PLAN).splitlines()
    assert lines[:3] == ["(version 1)", "(allow default)", "(deny file-write*)"]
    write = lines.index('(allow file-write* (subpath "/Users/ann/my project"))')
    assert write < lines.index('(deny file-write* (subpath "/Users/ann/my project/.git/hooks"))')
    home = lines.index('(deny file-read* (subpath "/Users/ann"))')
    assert home < lines.index('(allow file-read* (subpath "/Users/ann/.cargo/bin"))')
    assert home < lines.index('(allow file-read-metadata (literal "/Users/ann/.cargo"))')
    assert '(deny file-read* file-write* (subpath "/Users/ann/.ssh \\"x\\"\\\\"))' in lines
    assert write < lines.index('(deny file-write-unlink (literal "/Users/ann/my project/.git"))')
    assert "(deny network*)" in lines
    assert "(deny network*)" not in seatbelt_profile(PLAN._replace(network=True))


def test_bubblewraps_arguments_confine_in_order() -> None:
    arguments = bubblewrap_arguments(PLAN, "/Users/ann/my project")
    joined = "\0".join(arguments)
    order = [
        "--ro-bind\0/\0/",
        "--bind\0/private/var/folders/t\0/tmp",
        "--tmpfs\0/Users/ann\0--ro-bind\0/Users/ann/.cargo/bin",
        "--tmpfs\0/run",
        "--bind\0/Users/ann/my project",
        "--ro-bind\0/Users/ann/my project/.git/hooks",
        "--remount-ro\0/Users/ann",
    ]
    assert sorted(order, key=joined.index) == order
    assert "--unshare-net" in arguments
    assert "--unshare-net" not in bubblewrap_arguments(PLAN._replace(network=True), "/")
    assert arguments[-1] == "--"
