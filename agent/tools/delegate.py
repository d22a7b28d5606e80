"""The tool `delegate`: has a question answered in a fresh context, with tools that only read."""

import re
from collections.abc import Sequence
from typing import Any, Final, Protocol

from agent.permissions.action import Access, Action
from agent.permissions.tool_facts import declare_tool
from agent.tools.port import ToolPurpose, ToolRun, UsualTool, string_argument, texts_argument
from models.messages import Tool
from models.prompts import prompt

_COURSE: Final = re.compile(r"\(answer (e_[0-9a-z]{6,24}); its whole course is conversation (c_[0-9a-z]{6,24})\)\Z")


class DelegatePort(Protocol):
    """Answers questions in conversations of their own (agent.delegation)."""

    def answer(self, question: str, files: Sequence[str], run: ToolRun) -> str:
        """The answer, ending as `with_course` words it. Blocks. Raises ToolFailure."""
        ...


class Delegate(UsualTool):
    """Has a question answered by the same model, which begins with nothing but the question."""

    stores_arguments = True
    purpose = ToolPurpose.EXTRA
    only_reads = False  # one after the other: a local server answers one request at a time
    facts = declare_tool("delegate", Access.MEMORY, other_names=("Task",))
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {
            "type": "object",
            "properties": {"question": {"type": "string"}},
            "required": ["question"],
        },
    )

    def __init__(self, port: DelegatePort) -> None:
        self._port = port

    def action(self, arguments: dict[str, Any]) -> Action:
        question = string_argument(arguments, "question")
        texts_argument(arguments, "files")
        return Action(
            tool=self.facts.name,
            access=self.facts.access,
            summary=f"{self.facts.name}: {_line(question)}",
            detail=question,
        )

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        return self._port.answer(string_argument(arguments, "question"), texts_argument(arguments, "files"), run)


def with_course(answer: str, entry: str, conversation: str) -> str:
    """The answer with where it and its course are stored."""
    return f"{answer.rstrip()}\n\n(answer {entry}; its whole course is conversation {conversation})"


def answer_entry(output: str) -> str:
    """The entry of the delegate's answer, which this output of the tool repeats; "" where it has none."""
    match = _COURSE.search(output)
    return match[1] if match else ""


def _line(text: str, most: int = 80) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
