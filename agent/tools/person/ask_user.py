"""The tool `ask_user`: a question to the person, with options or free text."""

from typing import Any, Final

import msgspec

from agent.permissions.action import Access, Action, PersonQuestion
from agent.permissions.tool_facts import OutcomeStyle, declare_tool
from agent.tools.port import ToolFailure, ToolPurpose, ToolRun, UsualTool, string_argument
from models.messages import Tool
from models.prompts import prompt

MAX_OPTIONS: Final = 9
NOBODY: Final = "Nobody is there to answer. Decide yourself, and say in your answer what you assumed."


class AskUser(UsualTool):
    """Asks the person. Its result is the person's words."""

    stores_arguments = True
    purpose = ToolPurpose.EXTRA
    facts = declare_tool("ask_user", Access.PERSON, outcome=OutcomeStyle.FIRST_LINE)
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {
            "type": "object",
            "properties": {
                "question": {"type": "string"},
                "options": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["question"],
        },
    )

    def action(self, arguments: dict[str, Any]) -> Action:
        question = _question(arguments)
        return Action(tool=self.facts.name, access=self.facts.access, summary=f"ask: {question.text}")

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        answer = run.ask(_question(arguments))
        if answer is None:
            raise ToolFailure("Not answered", NOBODY)
        if not answer.strip():
            raise ToolFailure("Not answered", "The user closed the question without an answer.")
        return answer


def _question(arguments: dict[str, Any]) -> PersonQuestion:
    try:
        options = msgspec.convert(arguments.get("options") or [], list[str])
    except msgspec.ValidationError as error:
        example = '{"question": "Which port?", "options": ["8080", "9090"]}'
        raise ToolFailure("Wrong argument", f"“options” must be an array of strings. Valid: {example}") from error
    shown = tuple(dict.fromkeys(option.strip() for option in options if option.strip()))
    return PersonQuestion(string_argument(arguments, "question").strip(), shown[:MAX_OPTIONS])
