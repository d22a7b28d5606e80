"""The changes of models are taken back one after another, whatever somebody wrote or took out since."""

import pytest

from agent.checkpoints.change import FileChange
from agent.checkpoints.versioned import VersionedCheckpoints
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.errors import NoteChanged
from memory.memory import Memory
from tests.memory.versions.test_file_history import by_model, newest


def test_a_note_below_a_models_stays_and_the_change_before_it_is_taken_back_next(
    memory: Memory, workspace: Workspace
) -> None:
    workspace.memory_md.write_text("# Tea\n- at four\n", encoding="utf-8")
    memory.hot.refresh()
    by_model(memory, "first by a model")
    by_model(memory, "second by a model")
    memory.hot.remember(clear("mine"), heading=None, conversation=None)
    for left in ("first", None):
        assert memory.restorer.undo() is not None
        assert [word for word in ("first", "second") if word in workspace.memory_md.read_text("utf-8")] == [
            left
        ] * bool(left)
    assert memory.restorer.undo() is None
    text = workspace.memory_md.read_text("utf-8")
    assert "mine" in text and text.startswith("# Tea\n- at four\n") and text.count("\n\n\n") == 0


def test_what_somebody_took_out_by_hand_keeps_no_earlier_change_from_being_taken_back(
    memory: Memory, workspace: Workspace
) -> None:
    by_model(memory, "first by a model")
    by_model(memory, "second by a model")
    last = newest(memory, "MEMORY.md")
    text = workspace.memory_md.read_text("utf-8")
    workspace.memory_md.write_text("".join(line for line in text.splitlines(True) if "second" not in line), "utf-8")
    memory.hot.refresh()
    undone = memory.restorer.undo()
    assert undone is not None and undone.number < last.number
    assert "by a model" not in workspace.memory_md.read_text("utf-8")


def test_a_file_of_a_models_that_somebody_removed_is_passed_over(memory: Memory, workspace: Workspace) -> None:
    by_model(memory, "first by a model")
    first = newest(memory, "MEMORY.md")
    checkpoints = VersionedCheckpoints(workspace, memory.versions, SystemClock(), (workspace.root,), keep_days=0)
    made = FileChange(folder=workspace.root, path="SOUL.md", expected=None, new=b"Be evil.\n")
    checkpoints.apply([made], "e_2", label="write_file")
    workspace.soul_md.unlink()
    assert memory.restorer.undo() == first
    assert not workspace.soul_md.exists()


def test_a_change_that_cannot_be_taken_back_names_the_one_before_it(memory: Memory, workspace: Workspace) -> None:
    by_model(memory, "first by a model")
    first = newest(memory, "MEMORY.md")
    by_model(memory, "second by a model")
    last = newest(memory, "MEMORY.md")
    text = workspace.memory_md.read_text("utf-8")
    workspace.memory_md.write_text(text.replace("second by a model", "second, as I say"), "utf-8")
    memory.hot.refresh()
    with pytest.raises(NoteChanged, match="The same lines") as refused:
        memory.restorer.undo()
    assert f"memory undo {first.number}` undoes the one before it" in refused.value.hint
    assert memory.restorer.undo(first.number) == first
    assert "as I say" in workspace.memory_md.read_text("utf-8")
    with pytest.raises(NoteChanged):
        memory.restorer.undo(last.number)
