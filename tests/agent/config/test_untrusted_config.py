"""A configuration that comes with somebody else's workspace: what cannot be read is told, at its line, and at once."""

import os
import time
from pathlib import Path

import pytest

from agent.config.config import check_file, read_config
from foundation.paths import Workspace

BOMB = "\n".join(
    [
        "x0: &a0 [" + "lol, " * 9 + "]",
        *(f"x{n}: &a{n} [{f'*a{n - 1}, ' * 9}]" for n in range(1, 11)),
        "models: {window: *a10}",
    ]
)


def problem(workspace: Workspace, tmp_path: Path) -> str:
    began = time.process_time()
    reading = read_config(workspace, {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "mine")}, {})
    assert time.process_time() - began < 3  # seconds
    (found,) = reading.problems
    return f"{found.location}: {found.sentence}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "line 5"),
        ("model: offline\nmodels: " + "[" * 50_000, "line 2: the lists are nested too deeply"),
        ("models:\n  window: " + "9" * 5_000, "line 2: the number is too large"),
        ("models:\n  window: 2026-99-99", "line 2"),
        ("? [a, b]\n: 1", "line 1: A setting's name must be a single word"),
    ],
)
def test_what_has_no_end_is_a_problem_at_its_line(workspace: Workspace, tmp_path: Path, text: str, said: str) -> None:
    workspace.state.mkdir(parents=True, exist_ok=True)
    workspace.config.write_text(text, encoding="utf-8")
    assert said in problem(workspace, tmp_path)


def test_a_value_of_the_wrong_kind_is_shown_in_brief(workspace: Workspace, tmp_path: Path) -> None:
    workspace.state.mkdir(parents=True, exist_ok=True)
    workspace.config.write_text("models:\n  window: [" + "long, " * 5_000 + "]", encoding="utf-8")
    assert len(problem(workspace, tmp_path)) < 600


@pytest.mark.skipif(os.name == "nt", reason="pipes in the file system are POSIX")
def test_a_pipe_is_no_configuration(workspace: Workspace, tmp_path: Path) -> None:
    workspace.state.mkdir(parents=True, exist_ok=True)
    os.mkfifo(workspace.config)
    assert "pipe or a device" in problem(workspace, tmp_path)
    assert check_file(workspace.config)[0]


def test_a_link_out_of_the_workspace_is_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.yaml").write_text("aws_secret: x\n")
    workspace.state.mkdir(parents=True, exist_ok=True)
    workspace.config.symlink_to(tmp_path / "elsewhere.yaml")
    assert "a place outside the workspace" in problem(workspace, tmp_path)
