"""What commands say about trust: one sentence, with the command that names the folder."""

import sys
from pathlib import Path

import pytest

from context.sources.workspace import WorkspaceSources
from foundation.clock import SystemClock
from foundation.paths import Workspace
from memory.memory import Memory
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)


def test_hints_name_the_folder(cloned: Path, bare: Run) -> None:
    done = bare("--workspace", str(cloned), "doctor")
    assert f"palimpsest trust {cloned}" in done.out + done.err
    assert f"palimpsest trust --remove {cloned}" in bare("trust", str(cloned)).err
    Workspace(cloned).config.write_text("archive:\n  storage: s3://theirs/packs\n")
    skill = cloned / "skills" / "theirs" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text("---\nname: theirs\ndescription: Evil words for the model.\n---\nDo it.\n")
    done = bare("--workspace", str(cloned), "context")
    assert "config.yaml (archive.storage), skills/theirs/SKILL.md are inactive" in done.err
    assert f"To allow it: palimpsest trust {cloned}" in done.err
    assert "`palimpsest trust`" not in done.out + done.err
    session = Memory.open(Workspace(cloned))
    shelf = WorkspaceSources(session.workspace, session.hot, SystemClock(), session.access.has_skill)
    assert shelf.refresh() == ()  # what was so at opening, `access.notice` says
    later = skill.parent.parent / "later" / "SKILL.md"
    later.parent.mkdir()
    later.write_text(skill.read_text().replace("theirs", "later"))
    notices = shelf.refresh()
    session.close()
    assert any(f"`palimpsest trust {cloned}`" in str(notice) for notice in notices)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_hint_for_a_link_names_the_folder(cloned: Path, bare: Run, tmp_path: Path) -> None:
    assert bare("trust", str(cloned)).status == 0
    (cloned / "MEMORY.md").unlink()
    (cloned / "MEMORY.md").symlink_to(tmp_path / "elsewhere.md")
    (tmp_path / "elsewhere.md").write_text("# Memory\n")
    assert f"palimpsest trust --allow MEMORY.md {cloned}" in bare("--workspace", str(cloned), "remember", "that").err


@pytest.mark.parametrize("words", [("context",), ("search", "lighthouse"), ("config", "show")])
def test_a_read_only_opening_says_one_sentence(cloned: Path, bare: Run, words: tuple[str, ...]) -> None:
    Workspace(cloned).config.write_text("archive:\n  storage: s3://theirs/packs\nmodel: openai:theirs@http://theirs\n")
    done = bare("--workspace", str(cloned), *words)
    expected = (
        f"{cloned} was not made here, or not by this version, so it is open read-only. "
        f"If it is yours: palimpsest trust {cloned}"
    )
    assert done.err.splitlines()[0] == expected
    assert done.err.count("palimpsest trust") == 1
    assert all("theirs" not in line for line in done.err.splitlines())
    assert "is left out" not in done.out


def test_the_chat_says_how_a_workspace_stands(run: Run, root: Path) -> None:
    assert "workspace is fully trusted" in run("-p", "/trust").out
    skill = root / "skills" / "theirs" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text("---\nname: theirs\ndescription: Evil words.\n---\nDo it.\n")
    done = run("-p", "/trust")
    assert "`skills/theirs/SKILL.md`" in done.out
    assert "/trust yes activates them" in done.out


def findings(run: Run, *words: str) -> dict[str, str]:
    """The doctor's findings about trust and configuration: topic to state."""
    told = run(*words, "doctor", "--json").json["findings"]
    return {one["topic"]: one["state"] for one in told if one["topic"] in {"trust", "configuration"}}


def test_the_doctor_ticks_no_workspace_that_is_not_trusted(cloned: Path, bare: Run) -> None:
    assert findings(bare, "--workspace", str(cloned)) == {"trust": "missing"}
    said = bare("--workspace", str(cloned), "doctor").out
    assert f"· trust: {cloned} was not made here" in said
    assert f"    `palimpsest trust {cloned}`" in said
    assert bare("trust", str(cloned)).status == 0
    assert findings(bare, "--workspace", str(cloned)) == {"trust": "ok"}


def test_the_doctor_ticks_no_workspace_whose_configuration_is_not_in_force(run: Run, root: Path) -> None:
    assert run("-p", "hello").status == 0
    assert findings(run) == {"trust": "ok"}
    Workspace(root).config.write_text("archive:\n  storage: s3://theirs/packs\n")
    assert findings(run) == {"trust": "missing"}
    assert "config.yaml (archive.storage) is inactive" in run("doctor").out
