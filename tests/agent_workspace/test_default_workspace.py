"""The workspace that a person begins with."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from agent_workspace import default_files, lay_out
from context.sources.conditions import ConditionInput
from context.sources.skills import SkillRegistry
from context.sources.system_yaml import SystemFile, parse_system_yaml
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.hot import HotMemory
from models.tokens import estimate
from tests.fakes import FakeClock

HEAD_TOKENS = 600
NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


@pytest.fixture
def system(tmp_path: Path) -> SystemFile:
    lay_out(tmp_path / "w")
    return parse_system_yaml((tmp_path / "w" / "system.yaml").read_text(encoding="utf-8"))


def fired(system: SystemFile, text: str, now: datetime = NOON, *attachments: str) -> set[str]:
    moment = ConditionInput(text, now, frozenset(attachments))
    return {rule.name for rule in system.rules if rule.when.holds(moment)}


def test_everything_that_a_workspace_needs_is_copied(tmp_path: Path) -> None:
    written = lay_out(tmp_path / "new" / "workspace")
    names = {path.relative_to(tmp_path / "new" / "workspace").as_posix() for path in written}
    assert names == {
        "AGENTS.md",
        "MEMORY.md",
        "SOUL.md",
        "system.yaml",
        "memory/README.md",
        "skills/code-review/SKILL.md",
        "skills/meeting-notes/SKILL.md",
    }


def test_nothing_that_is_there_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "SOUL.md").write_text("mine", encoding="utf-8")
    (tmp_path / "skills").write_text("a file of the person's, where a folder would go", encoding="utf-8")
    written = lay_out(tmp_path)
    assert (tmp_path / "SOUL.md").read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "skills").read_text(encoding="utf-8").startswith("a file")
    assert not any(path.name in ("SOUL.md", "SKILL.md") for path in written)


def test_a_second_run_writes_nothing(tmp_path: Path) -> None:
    lay_out(tmp_path)
    assert lay_out(tmp_path) == []


def test_a_link_that_leads_nowhere_is_left_alone(tmp_path: Path) -> None:
    try:
        (tmp_path / "AGENTS.md").symlink_to(tmp_path / "gone.md")
    except OSError:
        pytest.skip("links need a privilege here")
    lay_out(tmp_path)
    assert not (tmp_path / "gone.md").exists()


def test_the_head_is_small(tmp_path: Path, system: SystemFile) -> None:
    files = {path.as_posix(): body.decode() for path, body in default_files()}
    index = [
        "{name}: {description}".format(**yaml.safe_load(body.split("---")[1]))
        for path, body in files.items()
        if path.startswith("skills/")
    ]
    head = [*system.abilities, files["AGENTS.md"], files["SOUL.md"], files["MEMORY.md"], *index]
    assert estimate("\n".join(head)) <= HEAD_TOKENS


def test_a_flight_number_brings_the_check_in_steps(system: SystemFile) -> None:
    assert "flights" in fired(system, "I fly with CA1234 on Friday")
    assert fired(system, "What is a good soup?") == set()
    lines = next(rule.then for rule in system.rules if rule.name == "flights")
    assert any("check-in" in line for line in lines)


def test_check_in_is_understood_of_a_flight_named_before(system: SystemFile) -> None:
    moment = ConditionInput("帮我办理登机", NOON, earlier=("好的", "我明天坐 CA1234 去上海"))
    assert {rule.name for rule in system.rules if rule.when.holds(moment)} == {"flights", "check-in"}
    assert "check-in" not in fired(system, "帮我办理登机")


@pytest.mark.parametrize(
    ("text", "attachments", "rule"),
    [
        ("see this", ("calendar",), "calendar"),
        ("see this", ("image",), "image"),
        ("see this", ("json",), "data"),
        ("it cost 40 €, or $44", (), "money"),
        ("```py\nprint(1)\n```", (), "code"),
        ("Do you remember what we said of the roof?", (), "earlier talk"),
        ("上次我们怎么说的", (), "earlier talk"),
    ],
)
def test_each_rule_joins_when_its_condition_holds(
    system: SystemFile, text: str, attachments: tuple[str, ...], rule: str
) -> None:
    assert rule in fired(system, text, NOON, *attachments)


def test_the_hour_changes_nothing_until_its_example_is_uncommented(tmp_path: Path, system: SystemFile) -> None:
    night = NOON.replace(hour=23, minute=30)
    assert fired(system, "hm", night) == set()
    lay_out(tmp_path)
    text, mark, rule = (tmp_path / "system.yaml").read_text(encoding="utf-8").partition("  # - name: late hours")
    example = parse_system_yaml(text + (mark + rule).replace("  # ", "  "))
    assert "late hours" in fired(example, "hm", night)
    assert "late hours" in fired(example, "hm", NOON.replace(hour=4))
    assert "late hours" not in fired(example, "hm")


def test_the_skills_are_found_and_called_by_their_triggers(tmp_path: Path) -> None:
    lay_out(tmp_path)
    shelf = SkillRegistry(Workspace(tmp_path), FakeClock())
    assert shelf.refresh() == ()
    assert [skill.name for skill in shelf.skills] == ["code-review", "meeting-notes"]
    for words, name in (("Please review this diff", "code-review"), ("写一份会议纪要", "meeting-notes")):
        assert [skill.name for skill in shelf.skills if skill.called_by(words)] == [name]
    assert not any(skill.called_by("What is a good soup?") for skill in shelf.skills)


def test_a_new_workspace_remembers_nothing_yet_and_its_first_note_stands_below_the_header(tmp_path: Path) -> None:
    lay_out(tmp_path)
    hot = HotMemory(Workspace(tmp_path), FakeClock())
    assert hot.notes() == ()
    hot.remember(clear("Ann lives in Oslo"))
    assert re.match(r"# Memory\n\n<!-- Yours .*-->\n\n<!-- 2026-03-14T09:26:53Z -->\n- ", hot.memory_md())
    assert [note.text for note in hot.notes()] == ["- Ann lives in Oslo"]


def test_nothing_in_it_is_taken_out_by_privacy() -> None:
    for _, body in default_files():
        assert clear(body.decode()) == body.decode()
