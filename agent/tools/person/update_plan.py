"""The tool `update_plan`: a checklist that the person sees."""

from typing import Any, Final

import msgspec

from agent.events import PlanUpdated
from agent.permissions.action import Access, Action
from agent.permissions.tool_facts import OutcomeStyle, declare_tool
from agent.tools.port import ToolFailure, ToolPurpose, ToolRun, UsualTool
from context.checklist import UPDATE_PLAN, Checklist, PlanStep, parse_step
from models.messages import Tool
from models.prompts import prompt

MAX_STEPS: Final = 50
MAX_STEP_CHARS: Final = 300


class UpdatePlan(UsualTool):
    """Replaces the checklist of the conversation."""

    stores_arguments = True
    purpose = ToolPurpose.EXTRA
    facts = declare_tool(UPDATE_PLAN, Access.PERSON, outcome=OutcomeStyle.OWN, other_names=("TodoWrite",))
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {
            "type": "object",
            "properties": {"steps": {"type": "array", "items": {"type": "string"}}},
            "required": ["steps"],
        },
    )

    def action(self, arguments: dict[str, Any]) -> Action:
        checklist = _checklist(arguments)
        summary = f"plan: {checklist.done} of {len(checklist.steps)} steps done"
        return Action(tool=self.facts.name, access=self.facts.access, summary=summary)

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        checklist = _checklist(arguments)
        run.emit(PlanUpdated(checklist))
        return str(checklist)


def _checklist(arguments: dict[str, Any]) -> Checklist:
    """The checklist that the arguments give; a step may be an object of `text` and `state`. Raises ToolFailure."""
    try:
        given = msgspec.convert(arguments.get("steps"), list[Any])
    except msgspec.ValidationError as error:
        raise _wrong("“steps” must be an array.") from error
    if not 0 < len(given) <= MAX_STEPS:
        raise _wrong(f"“steps” has {len(given)} items; it takes 1 to {MAX_STEPS}.")
    return Checklist(tuple(_step(number, value) for number, value in enumerate(given, 1)))


def _step(number: int, value: object) -> PlanStep:
    try:
        step = parse_step(value) if isinstance(value, str) else msgspec.convert(value, PlanStep)
    except msgspec.ValidationError as error:
        raise _wrong(f"Item {number} of “steps”: {error}.") from error
    text = " ".join(step.text.split())[:MAX_STEP_CHARS]
    if not text:
        raise _wrong(f"Item {number} of “steps”: “text” must be a string that is not empty.")
    return PlanStep(text, step.state)


def _wrong(problem: str) -> ToolFailure:
    example = '{"steps": ["[x] Read the tests", "[>] Mend the parser"]}'
    return ToolFailure("Wrong argument", f"{problem} Valid: {example}")
