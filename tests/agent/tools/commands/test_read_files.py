"""Commands that only read run without a question in the sandbox, and never where a file tool would ask."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.permissions.mode import PermissionMode
from agent.permissions.policy import Policy
from agent.permissions.rules import RuleSet, Verdict, parse_rule
from agent.tools.commands.commands import Commands
from agent.tools.commands.run_command import RunCommand, command_action
from tests.agent.tools.commands.conftest import MakeCommands

pytestmark = pytest.mark.skipif(os.name == "nt", reason="commands as POSIX has them")

Decide = Callable[..., Verdict]


@pytest.fixture
def commands(make_commands: MakeCommands) -> Commands:
    commands = make_commands(sandbox=True)
    if not commands.sandbox.state.holds:
        pytest.skip("this sandbox does not hide keys")
    return commands


@pytest.fixture
def decide(commands: Commands, project: Path) -> Decide:
    """`decide(line, *rules, mode=ASK)` in a repository with source, keys and a folder of secrets."""
    for name in ("src/a.py", "secrets/key", "keys/.env", "keys/a.py", "plain/a.py"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("total = 1\n")
    (project / "ignored").mkdir()
    (project / "ignored" / ".env").write_text("KEY=1\n")
    (project / ".gitignore").write_text("ignored/\n")
    (project / "out").symlink_to("/etc")
    subprocess.run(["git", "init", "-q", str(project)], check=True)

    def decide(line: str, *rules: str, mode: PermissionMode = PermissionMode.ASK, tainted: str = "") -> Verdict:
        parsed = [parse_rule(Verdict(verdict), text) for verdict, _, text in (rule.partition(" ") for rule in rules)]
        return (
            Policy(RuleSet(parsed), mode, sandboxed=True)
            .decide(command_action(commands, line), tainted=tainted)
            .verdict
        )

    return decide


@pytest.mark.parametrize("mode", list(PermissionMode))
@pytest.mark.parametrize("tainted", ["", "a page"])
def test_reading_asks_in_no_mode_and_at_no_time(decide: Decide, mode: PermissionMode, tainted: str) -> None:
    for line in ("ls -la && git status --short", "cat src/a.py | head -5", "rg total src", "cd src && wc -l a.py"):
        assert decide(line, mode=mode, tainted=tainted) is Verdict.ALLOW, line


def test_what_may_do_more_asks_as_before(decide: Decide) -> None:
    for line in ("python3 src/a.py", "cat src/a.py > b.py", "find . -delete", "git checkout ."):
        assert decide(line) is Verdict.ASK, line
        assert decide(line, mode=PermissionMode.READ_ONLY) is Verdict.DENY, line


@pytest.mark.parametrize(
    "line",
    [
        *(
            "cat secrets/key",
            "cat ./secrets/../secrets/key",
            "head -n1 secrets/k*",
            "cat secrets/[^a]ey",
            "cat src/../secrets/key",
        ),
        *(
            "cd secrets && cat key",
            "cd nowhere; cat secrets/key",
            "cd src || cat secrets/key",
            "git show HEAD:secrets/key",
        ),
        *("git diff --no-index src/a.py secrets/key", "grep -f secrets/key src/a.py", "grep -fsecrets/key src/a.py"),
        *(
            "grep --file=secrets/key src/a.py",
            "cat src/a.py secrets/none",
            "ls | cat secrets/key",
        ),
    ],
)
def test_a_rule_that_denies_reading_a_file_denies_a_command_that_reads_it(decide: Decide, line: str) -> None:
    for mode in PermissionMode:
        assert decide(line, "deny read_file(secrets/**)", "allow *", mode=mode) is Verdict.DENY, (line, mode)
    assert decide(line, "ask read_file(secrets/**)", "allow run_command(cat *)") is Verdict.ASK


@pytest.mark.parametrize(
    "line", ["rg total", "grep -rn total .", "git diff", "git log -p", "cd src && rg total", "rg -A 1 plain"]
)
def test_a_search_above_a_withheld_file_asks(decide: Decide, line: str) -> None:
    assert decide(line, "deny read_file(secrets/**)") is Verdict.ASK
    assert decide(line, "deny read_file(secrets/**)", mode=PermissionMode.READ_ONLY) is Verdict.DENY


@pytest.mark.parametrize(
    "line",
    [
        *(
            "cat keys/.env",
            "cat keys/.e*",
            "rg KEY keys",
            "grep -r KEY keys",
            "grep -r KEY ignored",
            "cat ignored/.env",
        ),
        *(
            "cat /etc/passwd",
            "cat ../home/x",
            "cat out/passwd",
            "grep -r root out",
            "ls /",
            "cd .. && ls",
            "cd /etc && cat passwd",
        ),
        *("cat .palimpsest/config.yaml", "git show HEAD:.env", "cat out/*", "find / -name x", "rg KEY"),
    ],
)
def test_keys_and_what_is_outside_of_the_project_ask(decide: Decide, project: Path, line: str) -> None:
    (project.parent / "home" / "x").write_text("x")
    (project / ".palimpsest").mkdir()
    (project / ".palimpsest" / "config.yaml").write_text("x")
    assert decide(line) is Verdict.ASK


def test_a_search_beside_keys_is_free(decide: Decide) -> None:
    for line in ("rg total src plain", "grep -rn total src plain", "rg -n total plain/a.py"):
        assert decide(line) is Verdict.ALLOW, line


@pytest.mark.parametrize(
    "settings",
    ["[core]\n\tfsmonitor = ./x\n", '[diff "d"]\ntextconv=./x\n', "[diff] external = ./x\n", "[include]\npath = x\n"],
)
def test_git_asks_where_the_repositorys_settings_run_programs(decide: Decide, project: Path, settings: str) -> None:
    assert decide("git status") is Verdict.ALLOW
    with (project / ".git" / "config").open("a") as file:
        file.write(settings)
    assert decide("git status") is Verdict.ASK
    assert decide("ls") is Verdict.ALLOW


def test_git_asks_in_a_bare_repository_and_in_another_folder(decide: Decide, project: Path) -> None:
    assert decide("cd src && git status") is Verdict.ASK
    assert decide(f"cd {project} && git status") is Verdict.ALLOW
    (project / "HEAD").write_text("ref: refs/heads/main\n")
    assert decide("git status") is Verdict.ASK


def test_a_worktree_has_the_settings_of_its_repository(
    make_commands: MakeCommands, tmp_path: Path, project: Path
) -> None:
    main = tmp_path / "main"
    subprocess.run(["git", "init", "-q", str(main)], check=True)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", str(main), *identity, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run(["git", "-C", str(main), "worktree", "add", "-q", str(project)], check=True)
    commands = make_commands()
    assert (read := commands.files_read("git status")) and not read.asks
    subprocess.run(["git", "-C", str(main), "config", "core.fsmonitor", "./x"], check=True)
    assert (read := commands.files_read("git status")) and read.asks


def test_nothing_is_free_without_a_sandbox_or_outside_of_it(make_commands: MakeCommands, commands: Commands) -> None:
    assert command_action(make_commands(), "ls").reads is None
    assert RunCommand(commands).action({"command": "ls", "sandbox": False}).reads is None


def test_untrusted_text_leaves_what_the_sandbox_contains(decide: Decide, make_commands: MakeCommands) -> None:
    auto = PermissionMode.AUTO
    assert decide("python3 src/a.py", mode=auto, tainted="a page") is Verdict.ALLOW
    assert decide("make", "allow run_command(make *)", tainted="a page") is Verdict.ALLOW
    for line in ("echo x >> AGENTS.md", "cp src/a.py .github/workflows/x.yml", "tee CLAUDE.md"):
        assert decide(line, mode=auto) is Verdict.ALLOW and decide(line, mode=auto, tainted="a page") is Verdict.ASK
    online = command_action(make_commands(sandbox=True, network=True), "python3 src/a.py")
    assert Policy(RuleSet(), auto, sandboxed=True).decide(online, tainted="a page").verdict is Verdict.ASK
