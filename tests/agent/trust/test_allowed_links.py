"""A link out of a trusted workspace is followed once its owner allowed it."""

import sys
from pathlib import Path

import pytest

from foundation.paths import Workspace
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_link_out_of_the_workspace_is_followed_once_it_is_allowed(run: Run, root: Path, tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "memory.md").write_text("# Memory\n\n- the lighthouse has 112 steps\n")
    (root / "MEMORY.md").unlink()
    (root / "MEMORY.md").symlink_to(dotfiles / "memory.md")
    assert "112 steps" not in run("memory", "list").out
    assert run("remember", "that").status == 1
    assert run("trust", "--allow", "MEMORY.md").status == 0
    assert run("search", "112 steps", "--json").json["hits"]
    assert run("remember", "seven white ships").status == 0
    assert "seven white ships" in (dotfiles / "memory.md").read_text()
    assert (root / "MEMORY.md").is_symlink()
    assert any(".palimpsest/versions" in str(path) for path in Workspace(root).versions.rglob("*.md"))
    (dotfiles / "other.md").write_text("# Memory\n\n- a forged note\n")
    (root / "MEMORY.md").unlink()
    (root / "MEMORY.md").symlink_to(dotfiles / "other.md")
    assert "forged" not in run("memory", "list").out
    assert run("remember", "that").status == 1
