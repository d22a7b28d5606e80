"""A workspace that somebody else made: what leads out of it or has no end is told, and reaches no model."""

import os
import time
from pathlib import Path

import pytest

from context.sources.workspace import WorkspaceSources
from foundation.paths import Workspace
from memory.hot import HotMemory
from tests.fakes import FakeClock

SECRET = "aws_secret_access_key"
SKILL = f"---\nname: s\ndescription: {SECRET}\n---\n{SECRET}"
TEXTS = {
    "AGENTS.md": SECRET,
    "SOUL.md": SECRET,
    "system.yaml": f"abilities: [{SECRET}]",
    "skills/s/SKILL.md": SKILL,
    ".palimpsest/system.last-good.yaml": f"abilities: [{SECRET}]",
}


def look(workspace: Workspace, clock: FakeClock) -> tuple[str, str]:
    """All that a head is made of, and all that was said."""
    shelf = WorkspaceSources(workspace, HotMemory(workspace, clock), clock)
    began = time.process_time()
    notices = shelf.refresh()
    assert time.process_time() - began < 3  # seconds
    now = shelf.now()
    return repr((now.system, now.agents, now.soul, now.skills)), "\n".join(str(notice) for notice in notices)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("by_folder", [False, True])
def test_a_link_out_of_the_workspace_is_refused_and_not_sent(
    workspace: Workspace, clock: FakeClock, tmp_path: Path, name: str, by_folder: bool
) -> None:
    place, outside = workspace.root / name, tmp_path / "outside" / name
    outside.parent.mkdir(parents=True)
    outside.write_text(TEXTS[name], encoding="utf-8")
    linked = by_folder and "/" in name
    place, outside = (place.parent, outside.parent) if linked else (place, outside)
    if place.is_dir():
        place.rmdir()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(outside)
    if "last-good" in name:
        workspace.system_yaml.write_text("broken: [")
    head, said = look(workspace, clock)
    assert SECRET not in head
    assert "last-good" in name or "a place outside the workspace" in said


def test_a_link_within_the_workspace_is_followed(workspace: Workspace, clock: FakeClock) -> None:
    (workspace.root / "CLAUDE.md").write_text("the same words")
    workspace.agents_md.symlink_to("CLAUDE.md")
    assert "the same words" in look(workspace, clock)[0]


@pytest.mark.skipif(os.name == "nt", reason="pipes in the file system are POSIX")
@pytest.mark.parametrize("name", TEXTS)
def test_a_pipe_is_refused_at_once(workspace: Workspace, clock: FakeClock, name: str) -> None:
    (workspace.root / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(workspace.root / name)
    if "last-good" in name:
        workspace.system_yaml.write_text("broken: [")
    _, said = look(workspace, clock)
    assert "last-good" in name or "pipe or a device" in said


@pytest.mark.parametrize(
    "front",
    [
        "name: " + "[" * 50_000,
        "x0: &a0 [lol, lol]\n"
        + "\n".join(f"x{n}: &a{n} [{f'*a{n - 1}, ' * 9}]" for n in range(1, 11))
        + "\nname: s\ndescription: d\ntriggers: *a10",
        "name: s\ndescription: 2026-99-99",
        "name: [a]\ndescription: d",
    ],
)
def test_a_skill_that_cannot_be_used_is_left_out_with_a_notice(
    workspace: Workspace, clock: FakeClock, front: str
) -> None:
    (workspace.skills / "s").mkdir(parents=True)
    (workspace.skills / "s" / "SKILL.md").write_text(f"---\n{front}\n---\nbody")
    head, said = look(workspace, clock)
    assert "body" not in head
    assert "the skill is ignored" in said
