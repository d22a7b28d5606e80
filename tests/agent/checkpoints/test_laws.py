"""Laws of checkpoints, against a model: what was taken back is as it was, and no word of the person is ever lost."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from msgspec import Struct

from tests.agent.checkpoints.conftest import ProjectWithTools

NAMES = st.sampled_from(["a.py", "b.py", "pkg/c.py", "pkg/sub/d.py"])
PLACES = st.sampled_from([0, 3, 6, 20, 39, 60])
Files = dict[str, bytes]


class EditedTurn(Struct):
    """A turn whose edits are in effect."""

    number: int
    before: Files


class EditedProject(RuleBasedStateMachine):
    """Tools and a person edit files; undo, redo and rewind take the tools' edits back."""

    def __init__(self) -> None:
        super().__init__()
        self._made = tempfile.TemporaryDirectory()
        root = Path(self._made.name).resolve()
        (root / "project").mkdir()
        self.project = ProjectWithTools(root / "project", root / "state")
        for name in ("a.py", "pkg/c.py"):  # long enough for edits that are not beside each other
            self.project.write(name, b"".join(b"line%d\n" % n for n in range(40)))
        self.number = 1
        self.tokens = 0
        self.written: set[bytes] = set()
        self.edited_by_hand = False  # then the exact contents are not foretold
        self.turns: list[EditedTurn] = []
        self.reversals: list[tuple[Files, list[EditedTurn]]] = []

    def teardown(self) -> None:
        self.project.checkpoints.close()
        self._made.cleanup()

    def token(self, who: str) -> bytes:
        self.tokens += 1
        return f"{who}{self.tokens}\n".encode()

    def begin_edit(self) -> None:
        if not self.turns or self.turns[-1].number != self.number:
            self.turns.append(EditedTurn(self.number, self.project.files()))
        self.reversals.clear()

    def begin_turn(self) -> None:
        self.number += 1
        self.project.turn(self.number)

    @rule(name=NAMES, place=PLACES, size=st.integers(1, 8))
    def tool_writes(self, name: str, place: int, size: int) -> None:
        """Adds lines, or makes the file."""
        lines = self.project.files().get(name, b"").splitlines(keepends=True)
        self.begin_edit()
        lines[place:place] = [self.token("tool") for _ in range(size)]
        self.project.checkpoints.apply([self.project.change(name, b"".join(lines))], "e_r")

    @rule(name=NAMES, place=PLACES)
    def tool_removes_a_line_of_its_own(self, name: str, place: int) -> None:
        lines = self.project.files().get(name, b"").splitlines(keepends=True)
        if place < len(lines) and lines[place].startswith(b"tool"):
            self.begin_edit()
            del lines[place]
            self.project.checkpoints.apply([self.project.change(name, b"".join(lines))], "e_r")

    @rule(names=st.sets(NAMES, min_size=1))
    def tool_deletes(self, names: set[str]) -> None:
        files = self.project.files()
        gone = [name for name in sorted(names) if name in files and b"mine" not in files[name]]
        if gone:
            self.begin_edit()
            self.project.checkpoints.apply([self.project.change(name, None) for name in gone], "e_r")

    @rule(old=NAMES, new=NAMES)
    def tool_moves(self, old: str, new: str) -> None:
        files = self.project.files()
        if old in files and new not in files and b"mine" not in files[old]:
            self.begin_edit()
            self.project.checkpoints.apply(
                [self.project.change(old, None), self.project.change(new, files[old])], "e_r"
            )

    @rule(name=NAMES, place=PLACES)
    def person_writes(self, name: str, place: int) -> None:
        lines = self.project.files().get(name, b"").splitlines(keepends=True)
        token = self.token("mine")
        self.written.add(token)
        lines.insert(place, token)
        self.project.write(name, b"".join(lines))
        self.edited_by_hand = True

    @rule()
    def next_turn(self) -> None:
        self.begin_turn()

    @precondition(lambda self: self.turns)
    @rule()
    def undo(self) -> None:
        before = self.project.files()
        self.project.undo()
        self.take_back(1, before)

    @precondition(lambda self: self.turns)
    @rule(data=st.data())
    def rewind(self, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(self.turns) - 1))
        before = self.project.files()
        self.project.rewind(self.turns[at].number)
        self.take_back(len(self.turns) - at, before)

    def take_back(self, count: int, before: Files) -> None:
        taken, self.turns = self.turns[-count:], self.turns[:-count]
        self.reversals.append((before, taken))
        self.check(taken[0].before)
        self.begin_turn()

    @precondition(lambda self: self.reversals)
    @rule()
    def redo(self) -> None:
        self.project.redo()
        files, turns = self.reversals.pop()
        self.turns += turns
        self.check(files)
        self.begin_turn()

    def check(self, expected: Files) -> None:
        if not self.edited_by_hand:
            assert self.project.files() == expected

    @invariant()
    def no_word_of_the_person_is_lost(self) -> None:
        present = b"".join(self.project.files().values()).splitlines(keepends=True)
        assert self.written <= set(present)

    @invariant()
    def nothing_is_left_beside(self) -> None:
        assert [path for path in self.project.folder.rglob("*") if path.name.startswith(".")] == []


def run_machine(examples: int, steps: int) -> None:
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    run_state_machine_as_test(EditedProject, settings=chosen)  # type: ignore[no-untyped-call]  # Hypothesis has no types for it


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_files_are_as_they_were_and_no_word_is_lost() -> None:
    run_machine(25, 15)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_the_same_for_long() -> None:
    run_machine(int(os.environ.get("SOAK_EXAMPLES", "2000")), 40)
