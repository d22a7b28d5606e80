"""A workspace that was copied, and so is not trusted."""

import shutil
from pathlib import Path

import pytest

from tests.agent.conftest import Run


@pytest.fixture
def cloned(run: Run, bare: Run, root: Path, tmp_path: Path) -> Path:
    """A copy of a workspace that was made here, at another path."""
    assert run("-p", "the lighthouse keeper counts seven white ships").status == 0
    assert run("remember", "the lighthouse has 112 steps").status == 0
    there = tmp_path / "cloned"
    shutil.copytree(root, there, symlinks=True)
    return there
