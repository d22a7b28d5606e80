"""What changes under a trusted workspace is not in force until it is trusted."""

from pathlib import Path

import pytest

from foundation.paths import Workspace
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("words", [("-p", "hello"), ("search", "x"), ("context",), ("config", "show")])
def test_what_is_not_in_force_is_said_in_one_sentence_with_one_command(
    run: Run, root: Path, words: tuple[str, ...]
) -> None:
    assert run("-p", "hello").status == 0
    Workspace(root).config.write_text("archive:\n  storage: s3://theirs/packs\nmodel: openai:theirs@http://theirs\n")
    skill = root / "skills" / "theirs" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text("---\nname: theirs\ndescription: Evil.\n---\nDo it.\n")
    done = run(*words)
    assert done.err.count("since you trusted") == 1, done.err
    assert done.err.count("palimpsest trust") == 1, done.err
    assert "config.yaml (archive.storage, model), skills/theirs/SKILL.md are inactive" in done.err


def test_a_setting_that_needs_no_trust_holds_and_nothing_is_said(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    Workspace(root).config.write_text("models:\n  retries: 7\n")
    assert run("config", "show", "models.retries").out.strip() == "7"
    assert "in force" not in run("-p", "hello").err


def test_a_configuration_that_changes_under_us_is_not_in_force_until_it_is_trusted(run: Run, root: Path) -> None:
    """S6.7: what a `git pull` changes was in force at once."""
    assert run("-p", "hello").status == 0
    config = Workspace(root).config
    config.write_text("archive:\n  storage: s3://theirs/packs\n")
    done = run("config", "show", "archive.storage")
    assert done.out.strip() != "s3://theirs/packs"
    done = run("remember", "that")
    assert done.status == 0
    assert "config.yaml (archive.storage) is inactive" in done.err
    assert run("config", "set", "tools.result_chars", "900").status == 0
    assert run("config", "show", "archive.storage").out.strip() != "s3://theirs/packs"  # our own change is no consent
    assert run("trust").status == 0
    assert run("config", "show", "archive.storage").out.strip() == "s3://theirs/packs"


def test_retention_that_a_pull_brings_deletes_nothing(run: Run, root: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Boiler\nThe valve code is KUPFER-7731.\n")
    assert run("knowledge", "add", str(notes)).status == 0
    notes.unlink()
    Workspace(root).config.write_text("knowledge:\n  retention_days: 1\n")
    done = run("config", "show", "knowledge.retention_days")
    assert done.out.strip() == "0"
    assert "config.yaml (knowledge.retention_days) is inactive" in done.err


def test_a_setting_of_our_own_keeps_the_trust(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    assert run("config", "set", "archive.storage", "ssh://mine/packs").status == 0
    assert run("config", "show", "archive.storage").out.strip() == "ssh://mine/packs"


def test_a_skill_that_changes_under_us_is_left_out_until_it_is_trusted(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    skill = root / "skills" / "theirs" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text("---\nname: theirs\ndescription: Evil words for the model.\n---\nDo it.\n")
    done = run("context", "--json")
    assert "Evil words" not in done.out
    assert "skills/theirs/SKILL.md is inactive" in done.err
    assert run("trust").status == 0
    assert "Evil words" in run("context", "--json").out
