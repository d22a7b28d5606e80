"""The frame: exit statuses, where options may stand, what goes to which stream."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.cli.launch import LaunchOptions
from agent.cli.root import COMMANDS
from tests.agent.conftest import Run
from tests.paths import ROOT


def test_help_lists_every_command_with_a_sentence(bare: Run) -> None:
    said = bare("--help")
    assert said.status == 0
    for name, (_, summary) in COMMANDS.items():
        assert f"  {name} " in said.out
        assert summary in said.out


@pytest.mark.parametrize("name", list(COMMANDS))
def test_each_command_has_help_and_takes_the_global_options(bare: Run, name: str) -> None:
    said = bare(name, "--help")
    assert said.status == 0
    for option in ("--workspace", "--model", "--json", "--help"):
        assert option in said.out


@pytest.mark.parametrize("typed", ["serach", "serch", "conversation", "modles", "chekc", "conv"[:4] + "ersatio"])
def test_a_word_near_a_commands_name_is_a_misuse_not_a_message(bare: Run, typed: str) -> None:
    said = bare(typed, open_screen=_never)
    assert said.status == 2
    assert "Did you mean" in said.err
    assert said.raw == b""


def test_a_near_miss_under_json_is_an_object_on_stdout(bare: Run) -> None:
    for words in (("--json", "serach"), ("serach", "--json")):
        said = bare(*words)
        assert said.status == 2
        assert set(said.json["error"]) == {"code", "title", "message", "hint"}
        assert said.json["error"]["code"] == "misuse"
        assert said.err == ""


def test_any_other_word_is_the_chats_first_message(bare: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = _opened(bare, monkeypatch, "hello")
    assert opened.message == "hello"
    assert opened.new_workspace
    assert opened.workspace.is_workspace


def test_the_chat_command_takes_any_message(bare: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _opened(bare, monkeypatch, "chat", "search").message == "search"


def test_the_global_options_stand_before_or_after(bare: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    where = str(tmp_path / "there")
    for words in (
        ("--workspace", where, "--model", "ollama:x", "hello there"),
        ("hello there", "--workspace", where, "--model", "ollama:x"),
        ("--model", "ollama:x", "chat", "hello there", "--workspace", where),
    ):
        opened = _opened(bare, monkeypatch, *words)
        assert opened.workspace.root == tmp_path / "there"
        assert opened.config.model == "ollama:x"


def test_more_than_one_argument_is_a_misuse_that_shows_the_quotes(bare: Run) -> None:
    said = bare("fix", "the", "bug", open_screen=_never)
    assert said.status == 2
    assert '"fix the bug"' in said.err


def test_the_chat_without_a_terminal_points_to_p(bare: Run) -> None:
    said = bare(stdin=b"hello", open_screen=_never)
    assert said.status == 2
    assert "-p" in said.err


def test_continue_and_resume_exclude_each_other(bare: Run) -> None:
    assert bare("-c", "-r", "c_1", "-p", "x").status == 2


def test_help_is_no_message(bare: Run) -> None:
    assert bare("help").out == bare("--help").out
    assert "page images" in bare("help", "archive").out


def test_an_unknown_option_is_a_misuse(bare: Run) -> None:
    said = bare("stats", "--jsn")
    assert said.status == 2
    assert "--jsn" in said.err


def test_an_unknown_subcommand_suggests_the_nearest(run: Run) -> None:
    said = run("config", "shwo")
    assert said.status == 2
    assert "show" in said.err


def test_a_folder_that_is_not_there_is_not_made_for_reading(bare: Run, tmp_path: Path) -> None:
    said = bare("stats", "--workspace", str(tmp_path / "typo"), "--json")
    assert said.status == 1
    assert said.json["error"]["code"] == "no_workspace"
    assert not (tmp_path / "typo").exists()


def test_a_defect_ends_as_a_sentence(bare: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("agent.config.workspaces.find_workspace", broken)
    said = bare("stats", "--json")
    assert said.status == 1
    assert said.json["error"]["code"] == "internal"
    assert "ZeroDivisionError" in said.json["error"]["message"]


def test_ctrl_c_is_130(bare: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("agent.config.workspaces.find_workspace", interrupted)
    assert bare("stats").status == 130


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "agent.cli", "config", "schema", "--workspace", str(tmp_path)],
        stdout=write,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        check=False,
    )
    os.close(write)
    assert done.stderr == b""
    assert done.returncode == 0


def test_the_frame_loads_no_room_and_no_screen(tmp_path: Path) -> None:
    code = "import sys, agent.cli; agent.cli.main(argv=['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=True, text=True)
    loaded = set(done.stderr.split())
    heavy = {
        "textual",
        "rich",
        "numpy",
        "PIL",
        "apsw",
        "httpx2",
        "mcp",
        "yaml",
        "zstandard",
        "agent.session",
        "memory.cold",
    }
    assert not loaded & heavy


def test_headless_loads_no_textual(tmp_path: Path) -> None:
    code = (
        "import sys, agent.cli; status = agent.cli.main(argv=sys.argv[1:]);"
        "print(status, *[name in sys.modules for name in ('textual', 'mlx', 'mcp')], file=sys.stderr)"
    )
    words = ["--workspace", str(tmp_path / "ws"), "-p", "hello"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, cwd=ROOT, check=True, text=True)
    assert done.stderr.splitlines()[-1] == "0 False False False"


def test_a_lone_surrogate_on_the_command_line_survives_as_json(run: Run) -> None:
    said = run("config", "show", "\udc80", "--json")
    assert said.status == 2
    assert "\udc80" in json.loads(said.raw)["error"]["message"]


def _opened(bare: Run, monkeypatch: pytest.MonkeyPatch, *words: str) -> LaunchOptions:
    seen: list[LaunchOptions] = []
    monkeypatch.setattr("agent.cli.chat.at_a_terminal", lambda: True)
    said = bare(*words, open_screen=lambda opening: seen.append(opening))
    assert said.status == 0, said.err
    return seen[0]


def _never(_: LaunchOptions) -> int:
    raise AssertionError("the screen was opened")


def test_tools_work_in_the_folders_of_add_dir_too(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from agent.session import Session

    seen: list[tuple[Path, ...]] = []
    opened = Session.open

    def open_session(*args: Any, **options: Any) -> Session:
        session = opened(*args, **options)
        seen.append(session.project.folders)
        return session

    monkeypatch.setattr(Session, "open", open_session)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    more = [str(tmp_path / name) for name in ("one", "two")]
    assert run("-p", "hm?", "--add-dir", more[0], "--add-dir", more[1]).status == 0
    assert run("--add-dir", more[0], "-p", "hm?").status == 0
    first = Path.cwd().resolve()
    both = tuple(Path(path).resolve() for path in more)
    assert seen == [(first, *both), (first, both[0])]


def test_a_folder_that_is_not_there_cannot_be_added(run: Run) -> None:
    refused = run("-p", "hm?", "--add-dir", "nowhere")
    assert refused.status == 2
    assert "folder not found" in refused.err


def test_the_chat_begins_with_the_mode_and_the_rules_of_the_command_line(
    bare: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = _opened(bare, monkeypatch, "--mode", "auto", "--deny", "run_command(git push *)")
    assert opening.mode == "auto"
    assert [str(rule) for rule in opening.rules] == ["deny run_command(git push *)"]


@pytest.mark.parametrize("name", ["conversations", "permissions", "memory", "models", "observations", "config"])
def test_a_group_without_a_subcommand_is_its_list(run: Run, name: str) -> None:
    for more in ((), ("--json",)):
        bare_group, listed = run(name, *more), run(name, "list", *more)
        assert bare_group.status == 0
        assert (bare_group.out, bare_group.err) == (listed.out, listed.err)
    assert run(name, "--nosuch").status == 2


@pytest.mark.timeout(120)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no folder that a process is in")
def test_a_current_folder_that_was_deleted_is_a_sentence(run: Run, root: Path, tmp_path: Path) -> None:
    assert run("remember", "the lighthouse has 112 steps").status == 0
    folder = tmp_path / "gone"

    def program(*words: str) -> "subprocess.CompletedProcess[str]":
        folder.mkdir()
        script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
        command = ["sh", "-c", script, "sh", str(folder), sys.executable, "-m", "agent.cli", *words]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=50)

    assert program("--version").returncode == 0
    named = ("--workspace", str(root))
    found = program("search", "lighthouse", *named)
    assert "112 steps" in found.stdout
    assert program("-p", "How many steps has the lighthouse?", *named).returncode == 0
    for words in (("search", "x"), ("-p", "hello"), ("search", "x", "--workspace", "relative")):
        failed = program(*words)
        assert failed.returncode == 2
        assert "was deleted" in failed.stderr and "Traceback" not in failed.stderr
