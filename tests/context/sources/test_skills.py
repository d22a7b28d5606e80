"""Skills: their front matter, their triggers, and what is wrong with one told once."""

from pathlib import Path

from context.sources.skills import SkillRegistry
from foundation.paths import Workspace
from tests.fakes import FakeClock

PACKING = """\
---
name: packing
description: Make a packing list.
triggers: [packing list, 行李]
---
# Packing
Count the days.
"""


def put(workspace: Workspace, name: str, text: str) -> Path:
    path = workspace.skills / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_skill_has_a_name_a_description_and_a_body(workspace: Workspace, clock: FakeClock) -> None:
    put(workspace, "packing", PACKING)
    shelf = SkillRegistry(workspace, clock)
    assert shelf.refresh() == ()
    (skill,) = shelf.skills
    assert (skill.name, skill.description, skill.body) == (
        "packing",
        "Make a packing list.",
        "# Packing\nCount the days.",
    )
    assert skill.called_by("Please write a packing list") and skill.called_by("帮我收拾行李")
    assert not skill.called_by("repacking lists")


def test_skills_are_sorted_by_name_and_reload(workspace: Workspace, clock: FakeClock) -> None:
    put(workspace, "z", PACKING.replace("packing\n", "alpha\n", 1))
    put(workspace, "a", PACKING.replace("packing\n", "zeta\n", 1))
    shelf = SkillRegistry(workspace, clock)
    shelf.refresh()
    assert [skill.name for skill in shelf.skills] == ["alpha", "zeta"]
    put(workspace, "b", PACKING)
    shelf.refresh()
    assert [skill.name for skill in shelf.skills] == ["alpha", "packing", "zeta"]


def test_a_broken_skill_is_left_out_and_told_once(workspace: Workspace, clock: FakeClock) -> None:
    put(workspace, "packing", PACKING)
    put(workspace, "broken", "---\nname: [\n---\nbody")
    put(workspace, "bare", "no front matter")
    put(workspace, "unnamed", "---\ndescription: x\n---\nbody")
    shelf = SkillRegistry(workspace, clock)
    notices = {notice.path: notice for notice in shelf.refresh()}
    assert set(notices) == {f"skills/{name}/SKILL.md" for name in ("broken", "bare", "unnamed")}
    assert notices["skills/broken/SKILL.md"].line == 2
    assert "needs a name" in notices["skills/unnamed/SKILL.md"].text
    assert [skill.name for skill in shelf.skills] == ["packing"]
    assert shelf.refresh() == ()


def test_no_skills_folder_is_no_skills(workspace: Workspace, clock: FakeClock) -> None:
    shelf = SkillRegistry(workspace, clock)
    assert shelf.refresh() == () and shelf.skills == ()
