"""Links at every path of a workspace: no command changes or deletes anything outside of it, nor calls it a defect."""

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.agent.conftest import Run, bare, root, run  # noqa: F401 - fixtures
from tests.hostile.linked_workspaces import Attack, attacks, build, sample, state

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform == "win32", reason="making links needs a right there"),
]
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("-p", "hello again"),
    ("remember", "the ferry leaves at nine"),
    ("search", "ferry"),
    ("recall", "ferry"),
    ("archive", "{here}/letter.txt", "--label", "letter"),
    ("knowledge", "add", "{here}/notes.md"),
    ("import", "{here}/talk.jsonl"),
    ("conversations", "rename", "c_imported", "Ferries"),
    ("conversations", "delete", "c_imported", "--yes"),
    ("config", "set", "theme", "light"),
    ("memory", "list"),
    ("archive", "--repack"),
    ("context",),
    ("stats",),
    ("check",),
    ("check", "--repair"),
    ("init",),
)
FEW = 3  # attacks in a run of all tests
SOME = COMMANDS[:5] + COMMANDS[9:10]  # commands in a run of all tests


@pytest.fixture
def template(run: Run, root: Path, tmp_path: Path) -> Path:  # noqa: F811
    """A workspace with a conversation, a note, an archive, a kept text, knowledge and postings."""
    here = tmp_path / "files"
    here.mkdir()
    (here / "letter.txt").write_text("Dear Ann, the ferry leaves at ten.\n", encoding="utf-8")
    (here / "notes.md").write_text("# Harbour\n\nThe ferry is blue.\n", encoding="utf-8")
    (here / "talk.jsonl").write_text('{"text": "which ferry?", "conversation": "c_imported"}\n', encoding="utf-8")
    (here / "report.txt").write_text("The report on ferries.\n", encoding="utf-8")
    for words in (
        ("-p", "hello, the ferry leaves at eight"),
        ("remember", "the ferry is blue"),
        ("archive", str(here / "report.txt"), "--label", "report"),
        ("knowledge", "add", str(here / "notes.md")),
        ("search", "ferry"),
    ):
        assert run(*words).status == 0, words
    kept = tmp_path / "template"
    shutil.copytree(root, kept)
    return kept


def attacked(
    run: Run,  # noqa: F811
    template: Path,
    root: Path,  # noqa: F811
    chosen: Iterable[Attack],
    commands: Iterable[tuple[str, ...]],
) -> tuple[int, list[str]]:
    """How many runs there were, and what was wrong with each that was."""
    outside, count, wrong = root.parent / "outside", 0, list[str]()
    for attack in chosen:
        build(template, root, outside, attack)
        run("config", "trust")
        before = state(outside)
        for words in commands:
            ran = run(*(word.replace("{here}", str(root.parent / "files")) for word in words))
            count += 1
            after = state(outside)
            if after != before:
                changed = sorted({name for name, _ in set(before.items()) ^ set(after.items())})
                wrong.append(f"{attack} {words}: changed {changed}")
                before = after
            if "defect" in ran.err or "Traceback" in ran.err:
                wrong.append(f"{attack} {words}: {ran.err.strip()[:300]}")
    return count, wrong


def test_a_few_links_lead_nothing_outside(run: Run, template: Path, root: Path) -> None:  # noqa: F811
    known = [Attack(".palimpsest/system.last-good.yaml", "relative"), Attack("memory/archive/letter.md", "dangling")]
    count, wrong = attacked(run, template, root, [*known, *sample(template, FEW, seed=0)], SOME)
    assert (count, wrong) == ((FEW + 2) * len(SOME), [])


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_every_link_leads_nothing_outside(run: Run, template: Path, root: Path) -> None:  # noqa: F811
    every = attacks(template)
    assert len(every) >= 200
    count, wrong = attacked(run, template, root, every, COMMANDS)
    print(f"{len(every)} hostile workspaces, {count} runs, {len(wrong)} failures")
    assert wrong == []
