"""Versions that were deleted with their list: the results of tools that made some say how far it had reached."""

import shutil
from pathlib import Path

import pytest

from agent.session import Session
from foundation.paths import Workspace
from foundation.privacy import clear, cleared_fields
from memory.cold.named_versions import highest_named_version
from memory.memory import Memory
from memory.records import VERSIONS, EntryDraft, EntryKind
from models.messages import Role
from tests.agent.conftest import Run
from tests.agent.headless.tool_answers import tool_call
from tests.agent.sessions import open_session, turn
from tests.loopback import Loopback, chat

DELETED = "but the list ends at 0: versions were deleted."


@pytest.fixture
async def made(run: Run, root: Path, tmp_path: Path, server: Loopback) -> int:
    """The number of a version that a model made."""
    session: Session = open_session(Workspace(root), tmp_path, server)
    server.plays(tool_call("remember", note="Blue tea."), chat("Noted."))
    await turn(session, "Remember: blue tea.", permit=True)
    newest = session.memory.versions.store.newest("MEMORY.md")
    await session.close()
    assert newest and newest.author == "model"
    return newest.number


def test_deleted_versions_are_named_and_recorded_once(run: Run, root: Path, made: int) -> None:
    assert run("check").status == 0
    shutil.rmtree(root / ".palimpsest" / "versions")
    named = run("check")
    assert (named.status, f"A tool made version {made}, {DELETED}" in named.out) == (1, True), named.out
    repaired = run("check", "--repair")
    assert (repaired.status, repaired.out.count(DELETED)) == (1, 1)
    assert run("check").status == 0
    (root / "MEMORY.md").write_text("- later\n", "utf-8")
    rows = run("memory", "log", "MEMORY.md", "--json").json["versions"]
    assert rows[0]["number"] > made, "no number is given twice"


def test_what_another_device_or_an_import_says_counts_nothing(workspace: Workspace) -> None:
    memory = Memory.open(workspace)
    here, elsewhere = memory.cold.new_conversation(), memory.cold.new_conversation(source=clear("other"))
    for conversation, meta in (
        (here, {VERSIONS: [3, "9"]}),
        (here, {VERSIONS: [70], "device": "d_0123456789ab"}),
        (here, {VERSIONS: "80"}),
        (elsewhere, {VERSIONS: [90]}),
    ):
        draft = EntryDraft(
            conversation=conversation.seq,
            parent=None,
            kind=EntryKind.TOOL_RESULT,
            role=Role.TOOL,
            text=clear("done"),
            meta=cleared_fields(meta),
        )
        memory.conversations.append(draft)
    assert memory.cold.read(highest_named_version) == 3
    memory.close()
