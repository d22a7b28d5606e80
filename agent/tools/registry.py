"""The tools of a session: finds and runs the tool of a call, and bounds the output that the model sees."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from agent.tools.builtin import rest_notice, shorten_passage
from agent.tools.port import AgentTool, ToolFailure, ToolSettings, arguments_of
from foundation.errors import PalimpsestError
from foundation.sizes import MEGABYTE
from models.messages import Tool, ToolCall


class ToolOutput(Struct, frozen=True):
    """`whole` is stored, `shown` goes to the model."""

    whole: str
    shown: str
    failed: bool = False


class Toolbox:
    """The tools of a session."""

    def __init__(self, tools: Sequence[AgentTool], settings: ToolSettings, most_arguments: int = MEGABYTE) -> None:
        """`most_arguments`: characters of arguments that one turn may send."""
        self._tools = {tool.definition.name: tool for tool in tools}
        self.most_arguments = most_arguments
        self.settings = settings

    @property
    def definitions(self) -> tuple[Tool, ...]:
        """Sorted by name, so that a request's head does not change."""
        return tuple(self._tools[name].definition for name in sorted(self._tools))

    def asks_permission(self, call: ToolCall) -> bool:
        tool = self._tools.get(call.name)
        return tool is not None and tool.asks_permission

    def stores_arguments(self, call: ToolCall) -> bool:
        """Whether the call's tool stores its arguments."""
        tool = self._tools.get(call.name)
        return tool is not None and tool.stores_arguments

    def summary(self, call: ToolCall) -> str:
        """One line that says what the call would do."""
        tool = self._tools.get(call.name)
        try:
            return tool.summary(arguments_of(call)) if tool else f"{call.name} (no such tool)"
        except ToolFailure:
            return f"{call.name} with unreadable arguments"

    def run(self, call: ToolCall, entry: str) -> ToolOutput:
        """The call's output; a failure is its text, never raised. `entry` is the id of the call's result."""
        tool = self._tools.get(call.name)
        if tool is None:
            names = ", ".join(sorted(self._tools))
            return _failed(f"There is no tool “{call.name}”. The tools are: {names}.")
        try:
            result = tool.run(arguments_of(call))
        except PalimpsestError as error:
            return _failed(f"{error.title}: {error.message} {error.hint}".strip())
        return ToolOutput(result, self._bounded(result, entry, structured=tool.structured))

    def declined(self, call: ToolCall, *, asked: bool = True) -> ToolOutput:
        """The output of a call that was not run. `asked`: the user declined it; otherwise there was nobody to ask."""
        reason = "The user declined" if asked else "Declined, because nobody could be asked"
        return _failed(f"{reason}: {self.summary(call)}.")

    def _bounded(self, result: str, entry: str, *, structured: bool) -> str:
        most = self.settings.result_chars
        if len(result) <= most:
            return result
        if structured and (passage := shorten_passage(result, most, entry)):
            return passage
        return f"{result[:most]}\n{rest_notice(len(result) - most, entry)}"


def _failed(sentence: str) -> ToolOutput:
    return ToolOutput(sentence, sentence, failed=True)


def call_object(call: ToolCall) -> dict[str, Any]:
    """The call, as JSON shows it."""
    return {"id": call.id, "name": call.name, "arguments": call.arguments}
