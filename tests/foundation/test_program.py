"""The command that hints print is the one that started the program."""

import os
import sys
from pathlib import Path

import pytest

from foundation.program import own_command, started_by

VENV = "/home/ann/palimpsest/.venv/bin"


def which(*known: str):
    """A PATH with these programs."""
    return lambda name: next((path for path in known if Path(path).stem == name), None)


@pytest.mark.parametrize(
    ("original", "arguments", "command"),
    [
        (["python", f"{VENV}/palimpsest", "-c"], [f"{VENV}/palimpsest", "-c"], "palimpsest"),
        (["python", f"{VENV}/pal"], [f"{VENV}/pal"], "pal"),
        (["python3", "-m", "tui.main", "-c"], ["/x/tui/main.py", "-c"], "python3 -m tui.main"),
        (["python3", "-X", "dev", "-m", "agent.cli"], ["/x/agent/cli/__main__.py"], "python3 -X dev -m agent.cli"),
        (["/my tools/python", "-m", "tui.main"], ["/x/tui/main.py"], "'/my tools/python' -m tui.main"),
        (["python", "-m", "pytest", "-q"], ["/x/pytest/__main__.py", "-q"], "palimpsest"),
        (["python", "-c", "import tui.main"], ["-c"], "palimpsest"),
        (["python"], [""], "palimpsest"),
    ],
)
def test_the_command_is_what_was_typed(original: list[str], arguments: list[str], command: str) -> None:
    path = which(f"{VENV}/palimpsest", f"{VENV}/pal")
    assert started_by(original, arguments, {}, path) == command


def test_a_script_that_is_not_on_the_path_is_named_by_its_own_path() -> None:
    script = "/home/ann/my tools/palimpsest"
    assert started_by(["python", script], [script], {}, which()) == f"'{script}'"
    assert started_by(["python", script], [script], {}, which("/usr/bin/palimpsest")) == f"'{script}'"


def test_an_interpreter_that_the_path_has_goes_by_its_name() -> None:
    original, arguments = ["/opt/pythons/3.11.7/bin/python3", "-m", "tui.main"], ["/x/tui/main.py"]
    assert started_by(original, arguments, {}, which("/usr/bin/python3")) == "python3 -m tui.main"
    assert started_by(original, arguments, {}, which()) == "/opt/pythons/3.11.7/bin/python3 -m tui.main"


def test_a_script_that_the_path_finds_by_a_link_has_its_short_name(tmp_path: Path) -> None:
    (tmp_path / "tool").mkdir()
    script, link = tmp_path / "tool" / "palimpsest", tmp_path / "palimpsest"
    script.touch()
    link.symlink_to(script)
    assert started_by(["python", str(script)], [str(script)], {}, which(str(link))) == "palimpsest"


def test_who_starts_the_program_may_name_the_command() -> None:
    environment = {"PALIMPSEST_COMMAND": "python3 run.py"}
    assert started_by(["x", "-m", "tui.main"], ["/x/tui/main.py"], environment, which()) == "python3 run.py"


def test_arguments_are_quoted_for_the_shell() -> None:
    assert own_command("--workspace", "my notes", "-r", "c_1") == "palimpsest --workspace 'my notes' -r c_1"


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for the environment's Python is a shell script")
@pytest.mark.parametrize(("is_here", "on_path"), [(True, True), (True, False), (False, True)])
def test_run_py_names_itself_to_the_program_that_it_starts(tmp_path: Path, is_here: bool, on_path: bool) -> None:
    import hashlib
    import subprocess

    from tests.paths import ROOT

    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\necho "$PALIMPSEST_COMMAND"\n')
    python.chmod(0o755)
    wanted = (ROOT / "requirements" / "core.txt").read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    (tmp_path / "set-up-core").write_text(hashlib.sha256(wanted).hexdigest())
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}" if on_path else "/nowhere"
    ran = subprocess.run(
        [sys.executable, str(ROOT / "run.py"), "--workspace", "notes"],
        cwd=ROOT if is_here else tmp_path,
        env={**os.environ, "PALIMPSEST_VENV": str(tmp_path), "PATH": path, "HOME": str(ROOT.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    python = Path(sys.executable).name if on_path else from_home(sys.executable, ROOT.parent)
    assert ran.stdout.strip() == f"{python} {'run.py' if is_here else f'~/{ROOT.name}/run.py'}"


def from_home(path: str, home: Path) -> str:
    return f"~/{Path(path).relative_to(home)}" if Path(path).is_relative_to(home) else path
