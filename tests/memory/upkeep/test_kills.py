"""A process that is killed while it archives by consent, or takes that back, loses no text and doubles none."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.cold.sql import run
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.upkeep.retention import undo, undoable
from models.messages import Role

SCRIPT = "tests.memory.upkeep.kill_script"


def filled(root: Path) -> dict[int, str]:
    """Five conversations, some of whose text is the same; their texts by entry."""
    memory, texts = Memory.open(Workspace(root), read_only=False), dict[int, str]()
    for number in range(5):
        conversation = memory.conversations.new(as_given(f"talk {number}"))
        for n in range(4):
            text = as_given(f"{number} {n} 渡轮 🙂 {number * 7919}\n" * 30 + "the same words in each of them\n" * 20)
            draft = EntryDraft(
                conversation=conversation.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=text
            )
            texts[memory.conversations.append(draft).seq] = text
    memory.close()
    return texts


def killed(root: Path, seconds: float) -> list[str]:
    """What the process said that it had done, before it was killed."""
    with subprocess.Popen([sys.executable, "-m", SCRIPT, str(root)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        first = process.stdout.readline()
        time.sleep(seconds)
        process.kill()
        return [first.strip(), *process.stdout.read().split()]


def texts_of(memory: Memory, seqs: list[int]) -> dict[int, str]:
    return {seq: memory.vault.entry_text(entry).text for seq, entry in memory.cold.entries(seqs).items()}


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(3, marks=pytest.mark.timeout(120)),
        pytest.param(300, marks=[pytest.mark.soak, pytest.mark.timeout(1800)]),
    ],
)
def test_no_text_is_lost_and_what_was_begun_is_gone_on_with(tmp_path: Path, kills: int) -> None:
    root, dice, archived = tmp_path / "ws", random.Random(kills), 0
    root.mkdir()
    texts = filled(root)
    for _ in range(kills):
        done = killed(root, dice.random() * 0.4)
        assert done[0] in {"archived", "undone"}, "it works until it is killed"
        memory = Memory.open(Workspace(root), read_only=False)
        assert texts_of(memory, list(texts)) == texts
        assert memory.cold.check() == []
        archived += memory.cold.entries(list(texts))[max(texts)].text is None
        memory.recover()
        while undoable(memory) is not None:
            undo(memory)
        memory.vault.release()
        assert texts_of(memory, list(texts)) == texts
        assert [problem for problem in memory.vault.check() if problem.what != "unknown"] == []
        memory.close()
    assert kills < 100 or 0 < archived < kills, "kills land in both"
    memory = Memory.open(Workspace(root), read_only=False)
    memory.cold.write(lambda db: [run(db, "UPDATE entries SET body = NULL"), run(db, "DELETE FROM spans")])
    assert memory.cold.check() != [], "the check can fail"
    memory.close()
