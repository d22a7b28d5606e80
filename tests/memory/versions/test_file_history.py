"""Every change of a file is a version, with who made it: by hand, by a command, by a model's tool, by an undo."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent.background.version_job import VersionJob
from agent.checkpoints.change import FileChange
from agent.checkpoints.versioned import VersionedCheckpoints
from agent.services.deletion import notes_notice
from context.sources.workspace import WorkspaceSources
from foundation.clock import SystemClock
from foundation.errors import Misuse, TemporaryFailure
from foundation.files import FileLock, write_temporary
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.check import check
from memory.errors import NoteChanged
from memory.memory import Memory
from memory.settings import VersionSettings
from memory.versions.cause import BY_HAND, FOUND, Author, caused_by
from memory.versions.file_history import FileHistory, is_versioned
from memory.versions.manifest import Version
from tests.fakes import FakeClock


def told(memory: Memory, path: str | None = None) -> list[tuple[str, str, str]]:
    return [(each.path, each.author.value, each.reason) for each in memory.versions.store.versions(path)]


def newest(memory: Memory, path: str) -> Version:
    found = memory.versions.store.newest(path)
    assert found
    return found


def by_model(memory: Memory, text: str) -> None:
    with caused_by(Author.MODEL, "tool remember in c_1"):
        memory.hot.remember(clear(text), heading=None, conversation=None)


def test_a_note_by_hand_and_one_by_a_model_are_told_apart(memory: Memory, workspace: Workspace) -> None:
    workspace.memory_md.write_text("- by hand\n", encoding="utf-8")
    memory.hot.refresh()
    by_model(memory, "The valve cost 12.50.")
    with workspace.memory_md.open("a", encoding="utf-8") as file:
        file.write("- 手写 🐋\r\n")
    memory.hot.refresh()
    assert [row[1:] for row in told(memory, "MEMORY.md")] == [
        ("user", "found when versions were first saved"),
        ("model", "tool remember in c_1"),
        ("user", "by hand"),
    ]
    assert memory.versions.store.body(newest(memory, "MEMORY.md")) == workspace.memory_md.read_bytes()


def test_an_edit_by_hand_that_was_not_seen_before_the_next_write_is_a_version(
    memory: Memory, workspace: Workspace
) -> None:
    by_model(memory, "one")
    with workspace.memory_md.open("a", encoding="utf-8") as file:
        file.write("- in between\n")
    by_model(memory, "two")
    bodies = [memory.versions.store.body(version) for version in memory.versions.store.versions("MEMORY.md")]
    assert [row[1] for row in told(memory, "MEMORY.md")] == ["model", "user", "model"]
    assert bodies[1].endswith(b"- in between\n")
    assert b"- in between\n" in bodies[2]


def test_an_edit_by_hand_in_the_instant_of_a_write_is_a_version(
    memory: Memory, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_model(memory, "one")
    raced = workspace.memory_md.read_bytes() + b"- in that instant\n"

    def racing(path: Path, *given: Any, **more: Any) -> Path:
        monkeypatch.undo()
        path.write_bytes(raced)
        return write_temporary(path, *given, **more)

    monkeypatch.setattr("memory.hot.swap.write_temporary", racing)
    by_model(memory, "two")
    store = memory.versions.store
    assert [row[1] for row in told(memory, "MEMORY.md")] == ["model", "user", "model"]
    assert store.body(store.versions("MEMORY.md")[1]) == raced
    assert b"- in that instant\n" in workspace.memory_md.read_bytes()


def test_a_file_that_is_gone_is_a_version(memory: Memory, workspace: Workspace) -> None:
    by_model(memory, "one")
    workspace.memory_md.unlink()
    memory.hot.refresh()
    assert newest(memory, "MEMORY.md").sha256 == ""
    memory.restorer.restore(memory.versions.store.versions("MEMORY.md")[0])
    assert "one" in workspace.memory_md.read_text("utf-8")


def test_the_projects_files_and_skills_have_versions_byte_for_byte(
    memory: Memory, workspace: Workspace, clock: FakeClock
) -> None:
    skill = workspace.root / "skills" / "packing" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_bytes(b"---\r\nname: packing\r\ndescription: lists\r\n---\r\nFold.")
    workspace.agents_md.write_bytes(b"Be brief.\r\n")
    sources = WorkspaceSources(workspace, memory.hot, clock, history=memory.versions)
    sources.refresh()
    workspace.agents_md.write_bytes(b"Be long.\r\n")
    skill.unlink()
    sources.refresh()
    store = memory.versions.store
    assert [store.body(each) for each in store.versions("AGENTS.md")] == [b"Be brief.\r\n", b"Be long.\r\n"]
    assert [each.size for each in store.versions("skills/packing/SKILL.md")] == [50, 0]
    assert [row[2] for row in told(memory, "AGENTS.md")] == ["found when versions were first saved", "by hand"]


def test_what_a_tool_writes_to_such_a_file_is_the_models(memory: Memory, workspace: Workspace) -> None:
    workspace.agents_md.write_bytes(b"Be brief.\n")
    checkpoints = VersionedCheckpoints(workspace, memory.versions, SystemClock(), (workspace.root,), keep_days=0)
    checkpoints.begin_turn("c_1", "e_1")
    old, new = b"Be brief.\n", b"Be evil.\n"
    other = FileChange(folder=workspace.root, path="notes.txt", expected=None, new=b"no version")
    change = FileChange(folder=workspace.root, path="AGENTS.md", expected=old, new=new)
    checkpoints.apply([change, other], "e_2", label="write_file")
    assert told(memory) == [
        ("AGENTS.md", "user", "found when versions were first saved"),
        ("AGENTS.md", "model", "tool write_file in c_1"),
    ]
    undone = memory.restorer.undo()
    assert undone
    assert workspace.agents_md.read_bytes() == old


def test_the_last_change_of_a_model_is_taken_back_and_what_came_after_it_stays(
    memory: Memory, workspace: Workspace
) -> None:
    workspace.memory_md.write_text("# Memory\n\n- kept\n", encoding="utf-8")
    memory.hot.refresh()
    by_model(memory, "a rumour")
    first = "# Mine\n" + workspace.memory_md.read_text("utf-8")
    workspace.memory_md.write_text(first, encoding="utf-8")
    memory.hot.refresh()
    assert memory.restorer.undo()
    text = workspace.memory_md.read_text("utf-8")
    assert "rumour" not in text
    assert text.startswith("# Mine\n# Memory\n\n- kept\n")
    assert memory.restorer.undo() is None
    assert told(memory, "MEMORY.md")[-1] == ("MEMORY.md", "user", "undo of version 2")


def test_two_changes_of_a_model_are_taken_back_one_after_the_other(memory: Memory, workspace: Workspace) -> None:
    by_model(memory, "the first rumour")
    by_model(memory, "the second rumour")
    memory.restorer.undo()
    assert "first rumour" in workspace.memory_md.read_text("utf-8")
    assert "second rumour" not in workspace.memory_md.read_text("utf-8")
    memory.restorer.undo()
    assert not workspace.memory_md.exists(), "it was not there before the first"


def test_nothing_is_taken_back_where_somebody_rewrote_the_same_lines(memory: Memory, workspace: Workspace) -> None:
    by_model(memory, "a rumour")
    text = workspace.memory_md.read_text("utf-8").replace("a rumour", "a fact, by my own hand")
    workspace.memory_md.write_text(text, encoding="utf-8")
    memory.hot.refresh()
    with pytest.raises(NoteChanged, match="The same lines"):
        memory.restorer.undo()
    assert workspace.memory_md.read_text("utf-8") == text


def test_a_file_that_a_model_made_is_gone_after_the_undo_unless_somebody_wrote_to_it(
    memory: Memory, workspace: Workspace
) -> None:
    checkpoints = VersionedCheckpoints(workspace, memory.versions, SystemClock(), (workspace.root,), keep_days=0)
    checkpoints.begin_turn("c_1", "e_1")
    made = FileChange(folder=workspace.root, path="SOUL.md", expected=None, new=b"Be evil.\n")
    checkpoints.apply([made], "e_2", label="write_file")
    memory.restorer.undo()
    assert not workspace.soul_md.exists()
    assert newest(memory, "SOUL.md").sha256 == ""
    assert list(workspace.root.glob(".SOUL*")) == []

    checkpoints.apply([made], "e_3", label="write_file")
    with workspace.soul_md.open("a", encoding="utf-8") as file:
        file.write("Be kind.\n")
    memory.restorer.undo()
    assert workspace.soul_md.read_text("utf-8") == "Be kind.\n"


def test_a_file_that_a_model_deleted_comes_back(memory: Memory, workspace: Workspace) -> None:
    workspace.soul_md.write_bytes(b"Be kind.\n")
    checkpoints = VersionedCheckpoints(workspace, memory.versions, SystemClock(), (workspace.root,), keep_days=0)
    gone = FileChange(folder=workspace.root, path="SOUL.md", expected=b"Be kind.\n", new=None)
    checkpoints.apply([gone], "e_2", label="apply_patch")
    memory.restorer.undo()
    assert workspace.soul_md.read_bytes() == b"Be kind.\n"


def test_a_workspace_that_another_process_writes_is_told_as_that(
    memory: Memory, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_model(memory, "one")
    monkeypatch.setattr("memory.hot.lock._SECONDS", 0.1)
    with FileLock(workspace.hot_lock), pytest.raises(TemporaryFailure, match="Another Palimpsest process has locked"):
        memory.restorer.undo()
    assert "one" in workspace.memory_md.read_text("utf-8")


def test_restoring_is_a_version_and_loses_nothing(memory: Memory, workspace: Workspace) -> None:
    workspace.memory_md.write_text("- one\n", encoding="utf-8")
    memory.hot.refresh()
    first = newest(memory, "MEMORY.md")
    workspace.memory_md.write_text("- two\n", encoding="utf-8")
    assert memory.restorer.restore(first).is_changed
    assert workspace.memory_md.read_text("utf-8") == "- one\n"
    bodies = [memory.versions.store.body(version) for version in memory.versions.store.versions("MEMORY.md")]
    assert bodies == [b"- one\n", b"- two\n", b"- one\n"]
    assert told(memory, "MEMORY.md")[-1][2] == "version 1 restored"
    assert not memory.restorer.restore(first).is_changed


def test_a_note_that_is_new_since_the_last_start_is_by_hand_and_one_of_before_was_found(
    memory: Memory, workspace: Workspace
) -> None:
    workspace.memory_md.write_text("- one\n", encoding="utf-8")
    memory.hot.refresh()
    assert newest(memory, "MEMORY.md").reason == FOUND.reason
    workspace.memory_dir.mkdir(exist_ok=True)
    (workspace.memory_dir / "new.md").write_text("- two\n", encoding="utf-8")
    with closing(Memory.open(workspace, SystemClock())) as later:
        later.hot.refresh()
        assert newest(later, "memory/new.md").reason == BY_HAND.reason


def test_a_removal_cannot_be_restored(memory: Memory, workspace: Workspace) -> None:
    by_model(memory, "one")
    workspace.memory_md.unlink()
    memory.hot.refresh()
    with pytest.raises(Misuse, match="did not exist"):
        memory.restorer.restore(newest(memory, "MEMORY.md"))


def test_copies_of_earlier_releases_become_versions(workspace: Workspace, clock: FakeClock) -> None:
    folder = workspace.versions / "memory__people.md"
    folder.mkdir(parents=True)
    (folder / "20260314T092653.100Z-0123456789ab.md").write_text("- Ann", encoding="utf-8")
    (folder / "notes.txt").write_text("not ours", encoding="utf-8")
    history = FileHistory(workspace, clock)
    history.seen("memory/people.md", "- Ann\n- Ben")
    first, second = history.store.versions()
    assert (first.path, first.reason) == ("memory/people.md", "saved by an earlier release")
    assert history.store.body(first) == b"- Ann"
    assert second.reason == "by hand"


def test_a_workspace_that_is_only_read_gets_no_versions(workspace: Workspace, clock: FakeClock, tmp_path: Path) -> None:
    other = Workspace(workspace.root, scratch=tmp_path / "scratch")
    FileHistory(other, clock).seen("MEMORY.md", "somebody else's")
    assert not workspace.state.exists()
    assert not other.versions.exists()


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("MEMORY.md", True),
        ("memory/a.md", True),
        ("memory/.a.md.swap", False),
        ("memory/sub/a.md", False),
        ("system.yaml", True),
        ("AGENTS.md", True),
        ("SOUL.md", True),
        ("skills/a/SKILL.md", True),
        ("skills/a/run.sh", False),
        ("README.md", False),
    ],
)
def test_what_has_versions(name: str, kept: bool) -> None:
    assert is_versioned(name) is kept


def test_a_damaged_version_is_found_by_the_check(memory: Memory, workspace: Workspace) -> None:
    by_model(memory, "one")
    memory.close()
    assert check(workspace).problems == ()
    stored = next((workspace.versions / "objects").rglob("??*/*"))
    stored.write_bytes(stored.read_bytes()[:-1])
    assert [(one.what, one.where) for one in check(workspace).problems] == [("version", "1")]


def test_old_versions_go_while_nobody_waits(memory: Memory, workspace: Workspace) -> None:
    store = memory.versions.store
    for number in range(3):
        store.record("MEMORY.md", b"%d" % number, BY_HAND, time_ms=number)
    job = VersionJob(memory, VersionSettings())
    assert job.due()
    assert not job.step(lambda: False).more
    assert not job.due()
    assert len(store.versions()) == 1


def test_copies_that_versions_hold_go_after_a_day_and_no_other_does(memory: Memory, workspace: Workspace) -> None:
    memory.versions.store.record("memory/tea.md", b"- green\n", BY_HAND)
    folder = workspace.versions / "memory__tea.md"
    folder.mkdir(parents=True)
    kept = {
        "20200101T000000.000Z-3.md": b"- green\n- saved late\n",  # by an editor that had the file open
        "20990101T000000.000Z-1.md": b"- green\n",
        "mine.md": b"- green\n",
    }
    for name, body in {**kept, "20200101T000000.000Z-1.md": b"- green\n"}.items():
        (folder / name).write_bytes(body)
    mirror = workspace.versions / "conversations-c_1.md" / "20200101T000000.000Z-1.md"
    mirror.parent.mkdir()
    mirror.write_bytes(b"- green\n")
    VersionJob(memory, VersionSettings()).step(lambda: False)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == kept
    assert mirror.exists()


def test_a_copy_stays_where_its_version_is_damaged(memory: Memory, workspace: Workspace) -> None:
    memory.versions.store.record("MEMORY.md", b"- green\n", BY_HAND)
    copy = workspace.versions / "MEMORY.md" / "20200101T000000.000Z-1.md"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"- green\n")
    stored = next((workspace.versions / "objects").rglob("??*/*"))
    stored.write_bytes(stored.read_bytes()[:-1])
    assert memory.versions.drop_copies(9) == 0
    assert copy.read_bytes() == b"- green\n"


def test_earlier_versions_that_name_a_deleted_conversation_are_told(memory: Memory, workspace: Workspace) -> None:
    workspace.memory_md.write_text("- see c_1111111111111\n", encoding="utf-8")
    memory.hot.refresh()
    workspace.memory_md.write_text("- nothing\n", encoding="utf-8")
    memory.hot.refresh()
    assert "version 1 of MEMORY.md" in notes_notice(workspace, "c_1111111111111")
    assert notes_notice(workspace, "c_2222222222222") == ""
