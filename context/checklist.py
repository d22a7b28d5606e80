"""The checklist of a conversation: the steps that the model plans, and how far it is with them.

It is stored as the result of the tool `update_plan`, a line a step: `[x] done`, `[>] in progress`, `[ ] pending`.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from msgspec import Struct

from memory.records import Entry, EntryKind

UPDATE_PLAN: Final = "update_plan"
"""The tool whose results are checklists."""
HEADING: Final = "Plan:"


class StepState(StrEnum):
    PENDING = "pending"
    DOING = "doing"
    DONE = "done"


class PlanStep(Struct, frozen=True):
    text: str
    state: StepState = StepState.PENDING


class Checklist(Struct, frozen=True):
    """The steps, in order."""

    steps: tuple[PlanStep, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether any step is not done."""
        return any(step.state is not StepState.DONE for step in self.steps)

    @property
    def done(self) -> int:
        """How many steps are done."""
        return sum(step.state is StepState.DONE for step in self.steps)

    def __str__(self) -> str:
        return "\n".join([HEADING, *(f"[{_MARKS[step.state]}] {step.text}" for step in self.steps)])


_MARKS: Final = {StepState.PENDING: " ", StepState.DOING: ">", StepState.DONE: "x"}
_STATES: Final = {f"[{mark}] ": state for state, mark in _MARKS.items()}


def parse_step(text: str) -> PlanStep:
    """The step that a line gives: `[x] Read the tests`, also after `-`; pending where it has no mark."""
    line = text.strip().removeprefix("- ").lstrip()
    mark = f"{line[:3].lower()} "
    return PlanStep(line[3:].strip(), _STATES[mark]) if mark in _STATES else PlanStep(text)


def parse_checklist(text: str) -> Checklist | None:
    """The checklist that `text` is; None where it is none."""
    first, *lines = text.split("\n")
    if first != HEADING or not lines or not all(line[:4] in _STATES for line in lines):
        return None
    return Checklist(tuple(PlanStep(line[4:], _STATES[line[:4]]) for line in lines))


def carried_checklist(texts: Iterable[str]) -> str:
    """The newest checklist at the end of one of the texts, oldest first, its steps done or not; "" for none."""
    plans = [plan for text in texts if (plan := parse_checklist(HEADING + _split(text)[1]))]
    return str(plans[-1]) if plans else ""


def without_checklist(text: str) -> str:
    """A summary without the checklist at its end."""
    return _split(text)[0]


def _split(text: str) -> tuple[str, str]:
    """A text before its last line `Plan:`, and after it; the whole and "" where it has none."""
    before, heading, steps = f"\n{text}".rpartition(f"\n{HEADING}\n")
    return (before.removeprefix("\n"), f"\n{steps}") if heading else (text, "")


def is_checklist(entry: Entry) -> bool:
    """Whether the entry is a stored checklist."""
    return entry.kind is EntryKind.TOOL_RESULT and entry.speaker == UPDATE_PLAN and not entry.meta.get("failed")
