"""The command that installs something is one that runs."""

import importlib.util
import shlex
import subprocess
import sys

import pytest

from foundation.install_hints import install_command, install_extra

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


def test_an_environment_with_pip_installs_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: object())
    assert shlex.split(install_extra("mlx")) == [sys.executable, "-m", "pip", "install", "palimpsest-shell[mlx]"]


def test_one_without_is_filled_by_the_callers_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    words = shlex.split(install_command("msgspec"))
    assert words[:5] == ["python3", "-m", "pip", "--python", sys.executable]


@pytest.mark.skipif(sys.platform == "win32", reason="python3 is a command of POSIX systems")
def test_the_callers_pip_takes_such_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what is there already, so that nothing is fetched."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    words = shlex.split(install_command("msgspec"))
    if subprocess.run(["python3", "-m", "pip", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("python3 here has no pip of its own")
    done = subprocess.run([*words, "--dry-run", "--no-index"], capture_output=True, text=True, check=False)
    assert "already satisfied: msgspec" in done.stdout
