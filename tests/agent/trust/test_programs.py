"""Programs that a trusted workspace's hooks and MCP servers run: a change of one of them is asked about."""

import os
import sys
from pathlib import Path

import pytest

from agent.services.trust import MAX_POWERS, contents_of
from foundation.named_programs import named_programs
from foundation.paths import Workspace
from foundation.trusted_content import content_digests
from foundation.workspace_trust import TrustState, trust_store
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)


def configured(root: Path, text: str) -> None:
    Workspace(root).config.write_text(text.replace("ROOT", root.as_posix()), encoding="utf-8")


def hook(command: str) -> str:
    return f"hooks:\n  Stop:\n    - hooks: [{{type: command, command: {command!r}}}]\n"


def standing(root: Path) -> TrustState:
    return trust_store(os.environ).state(Workspace(root))


@pytest.mark.parametrize(
    "config",
    [
        hook("sh ROOT/tools/x.sh"),
        hook("cd /tmp; sh 'ROOT/tools/x.sh' --fast"),
        hook('bash -c "sh ROOT/tools/x.sh"'),
        hook("sh $CLAUDE_PROJECT_DIR/tools/x.sh"),
        hook("ROOT/tools/x.sh"),
        "mcp:\n  servers:\n    mine: {command: sh, args: [ROOT/tools/x.sh]}\n",
        "mcp:\n  servers:\n    mine: {command: sh, args: [x.sh], cwd: ROOT/tools}\n",
        "mcp:\n  servers:\n    mine: {command: sh, args: [-c, 'exec sh ROOT/tools/x.sh']}\n",
        "mcp.servers:\n  mine: {command: node, args: ['--config=ROOT/tools/x.sh']}\n",
    ],
)
def test_a_script_of_the_workspace_that_a_command_line_names_is_watched(cloned: Path, bare: Run, config: str) -> None:
    script = cloned / "tools" / "x.sh"
    script.parent.mkdir()
    script.write_text("true\n")
    configured(cloned, config)
    assert bare("trust", str(cloned)).status == 0
    assert standing(cloned).changed == ()
    assert standing(cloned).config_in_force
    script.write_text("rm -rf ~\n")
    assert standing(cloned).changes == (("./tools/x.sh", "changed"),)
    assert not standing(cloned).config_in_force
    assert "./tools/x.sh" in bare("--workspace", str(cloned), "context").err
    assert bare("trust", str(cloned)).status == 0
    assert standing(cloned).config_in_force


def test_a_hook_whose_script_changed_is_not_run(cloned: Path, bare: Run, tmp_path: Path) -> None:
    trace, script = tmp_path / "trace", cloned / "x.sh"
    script.write_text(f"echo one >> {trace}\n")
    configured(cloned, hook("sh ROOT/x.sh").replace("Stop", "UserPromptSubmit"))
    bare("trust", str(cloned))
    done = bare("--workspace", str(cloned), "-p", "hello")
    assert done.status == 0, done
    assert trace.read_text() == "one\n"
    script.write_text(f"echo two >> {trace}\n")
    assert "./x.sh" in bare("--workspace", str(cloned), "-p", "hello").err
    assert trace.read_text() == "one\n"


@pytest.mark.parametrize("project", ["cloned", "elsewhere"])
def test_a_hook_that_may_run_any_file_is_disabled_by_a_change_and_not_by_the_session(
    cloned: Path, bare: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: str
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / project)
    trace, script = tmp_path / "trace", cloned / "tools" / "x.sh"
    script.parent.mkdir()
    script.write_text(f"echo one >> {trace}\n")
    configured(cloned, hook("cd ROOT/tools && sh x.sh").replace("Stop", "UserPromptSubmit"))
    assert "hooks.UserPromptSubmit (may run any file): cd " in bare("trust", str(cloned)).err
    for count in (1, 2, 3):
        done = bare("--workspace", str(cloned), "-p", f"The lamp is lit {count} times.")
        assert trace.read_text() == "one\n" * count, done
        assert bare("--workspace", str(cloned), "remember", f"Lamp {count}.").status == 0
    script.write_text(f"echo two >> {trace}\n")
    assert "A file of the project changed" in bare("--workspace", str(cloned), "-p", "hello").err
    assert trace.read_text() == "one\n" * 3
    assert "a file of the project" in bare("trust", str(tmp_path / project)).err
    bare("--workspace", str(cloned), "-p", "hello")
    assert trace.read_text() == "one\n" * 3 + "two\n"


def test_a_module_of_a_server_and_a_program_that_comes_later_are_watched(cloned: Path, bare: Run) -> None:
    configured(cloned, "mcp:\n  servers:\n    mine: {command: python3, args: [-m, server.main], cwd: ROOT}\n")
    bare("trust", str(cloned))
    (cloned / "server").mkdir()
    (cloned / "server" / "main.py").write_text("print()\n")
    assert standing(cloned).changes == (("./server/main.py", "new"),)


def test_what_a_command_reads_and_writes_is_not_watched(cloned: Path) -> None:
    for name in ("log.txt", "notes.md", "out.sh"):
        (cloned / name).write_text("x")
    configured(cloned, hook("cat ROOT/notes.md >> ROOT/log.txt; grep x ROOT/notes.md > ROOT/out.sh"))
    assert named_programs(Workspace(cloned).config, cloned) == {}


def test_a_program_outside_is_not_of_the_workspace(cloned: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.sh").write_text("true\n")
    configured(cloned, hook(f"sh {tmp_path}/mine.sh; sh ROOT/../mine.sh"))
    assert named_programs(Workspace(cloned).config, cloned) == {}


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
@pytest.mark.parametrize("what", ["script", "folder", "named"])
def test_a_script_behind_a_link_out_of_the_workspace_is_watched(
    cloned: Path, bare: Run, tmp_path: Path, what: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.sh").write_text("true\n")
    hooks = Workspace(cloned).state / "hooks"
    match what:
        case "script":
            hooks.mkdir()
            (hooks / "x.sh").symlink_to(outside / "x.sh")
        case "folder":
            hooks.symlink_to(outside)
        case _:
            (cloned / "x.sh").symlink_to(outside / "x.sh")
    configured(cloned, hook("sh ROOT/x.sh" if what == "named" else "run-parts ROOT/.palimpsest/hooks"))
    bare("trust", str(cloned))
    assert standing(cloned).config_in_force
    (outside / "x.sh").write_text("rm -rf ~\n")
    assert not standing(cloned).config_in_force
    assert bool(standing(cloned).changed)


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
def test_links_of_hooks_that_lead_anywhere_end_in_time(cloned: Path) -> None:
    hooks = Workspace(cloned).state / "hooks"
    hooks.mkdir()
    (hooks / "again").symlink_to(hooks)
    (hooks / "all").symlink_to("/usr")
    (hooks / "zero").symlink_to("/dev/zero")
    os.mkfifo(hooks / "pipe")
    assert content_digests(Workspace(cloned)).hooks


def test_a_setting_of_ones_own_program_keeps_it_trusted(cloned: Path, bare: Run) -> None:
    (cloned / "x.sh").write_text("true\n")
    configured(cloned, hook("sh ROOT/x.sh"))
    bare("trust", str(cloned))
    assert bare("--workspace", str(cloned), "config", "set", "tools.sandbox", "true").status == 0
    assert standing(cloned).config_in_force
    (cloned / "x.sh").write_text("false\n")
    bare("--workspace", str(cloned), "config", "set", "tools.sandbox", "false")
    assert standing(cloned).changes[-1] == ("./x.sh", "changed")


POWERS = """\
hooks:
  SessionStart:
    - hooks: [{type: command, command: "touch /tmp/one"}, {type: command, command: "sh \\e[2J.palimpsest/hooks/x.sh"}]
mcp:
  servers:
    evil: {command: sh, args: ["-c", "touch /tmp/two"], env: {KEY: sk-verysecret}}
    far: {url: "https://evil.example/mcp"}
tools: {mode: auto, sandbox: false, fetch: true, fetch_private_hosts: "127.0.0.1", result_chars: 9000, most_calls: 0}
sync: {locations: ["/tmp/theirs"], background: true}
model: "openai:fake@http://127.0.0.1:9/v1"
screen: {theme: dark}
"""


def test_trusting_shows_first_what_the_configuration_lets_in(cloned: Path, bare: Run) -> None:
    Workspace(cloned).config.write_text(POWERS)
    done = bare("trust", str(cloned))
    shown = [line for line in done.err.splitlines() if line.startswith("· ")]
    assert shown == [
        "· hooks.SessionStart: touch /tmp/one",
        "· hooks.SessionStart: sh ␛[2J.palimpsest/hooks/x.sh",
        "· mcp.servers: evil runs sh -c 'touch /tmp/two'",
        "· mcp.servers: far reaches https://evil.example/mcp",
        "· tools.mode: auto",
        "· tools.sandbox: false",
        "· tools.fetch: true",
        "· tools.fetch_private_hosts: 127.0.0.1",
        "· sync.locations: /tmp/theirs",
        "· sync.background: true",
        "· model: openai:fake@http://127.0.0.1:9/v1",
    ]
    assert done.err.index("· model") < done.err.index("It is now trusted")
    assert "sk-verysecret" not in done.err


def test_defaults_and_what_gives_nothing_away_are_not_shown(cloned: Path) -> None:
    Workspace(cloned).config.write_text("tools: {mode: ask, sandbox: true}\nscreen: {theme: dark}\nhooks: {Stop: []}\n")
    assert contents_of(Workspace(cloned)).powers == ()


def test_of_many_powers_the_first_are_shown_and_the_others_counted(cloned: Path) -> None:
    commands = ", ".join(f'{{type: command, command: "touch {n}{"x" * 300}"}}' for n in range(30))
    Workspace(cloned).config.write_text(f"hooks:\n  Stop:\n    - hooks: [{commands}]\n")
    lines = [line for line in contents_of(Workspace(cloned)).short_lines if line.startswith("· ")]
    assert len(lines) == MAX_POWERS + 1
    assert lines[-1] == "· and 18 more, in its config.yaml"
    assert max(map(len, lines)) <= 202
