"""The tools of a session: finds and runs the tool of a call, and bounds the output that the model sees."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from agent.permissions.action import Action
from agent.tools.arguments import checked_arguments, example_of
from agent.tools.memory.recall import shorten_passage
from agent.tools.output import bounded
from agent.tools.port import (
    AgentTool,
    ConditionalTool,
    MalformedCall,
    ToolFailure,
    ToolPurpose,
    ToolRun,
    ToolSettings,
    arguments_of,
)
from agent.tools.window_room import FittingTools, fitting_tools
from foundation.errors import PalimpsestError
from foundation.sizes import MEGABYTE
from models.chat.port import Profile
from models.messages import Image, Tool, ToolCall

ALL_PURPOSES: Final = frozenset(ToolPurpose)


class ToolOutput(Struct, frozen=True):
    """`whole` is stored, `shown` goes to the model. `malformed`: it corrects a call that could not be understood.

    `untrusted` names what it was read from, where nobody here wrote it: an address, or a tool of an MCP server.
    `diff` is what it changed in files, as a unified diff, for the person.
    """

    whole: str
    shown: str
    failed: bool = False
    images: tuple[Image, ...] = ()  # that go with the result
    malformed: bool = False
    untrusted: str = ""
    diff: str = ""


class Toolbox:
    """The tools of a session."""

    def __init__(self, tools: Sequence[AgentTool], settings: ToolSettings, most_arguments: int = MEGABYTE) -> None:
        """`most_arguments`: characters of arguments that one turn may send."""
        self.most_calls_setting = "tools.most_calls"
        self._withheld = frozenset[str]()  # names of tools that the session has, and a delegated question has not
        self._own = {tool.definition.name: tool for tool in tools}
        self._tools = dict(self._own)
        self._former = {name: tool for tool in tools for name in tool.facts.former_names}
        self.most_arguments = most_arguments
        self.settings = settings
        self._fitting: tuple[tuple[tuple[Tool, ...], int, bool], FittingTools] | None = None
        self._told: tuple[str, ...] = ()  # tools that the window leaves out, as the person was told

    @property
    def definitions(self) -> tuple[Tool, ...]:
        """Sorted by name, so that a request's head does not change."""
        tools = [self._tools[name] for name in sorted(self._tools)]
        return tuple(tool.definition for tool in tools if not isinstance(tool, ConditionalTool) or tool.is_offered)

    def offered(self, profile: Profile, purposes: Collection[ToolPurpose] = ALL_PURPOSES) -> tuple[Tool, ...]:
        """The definitions that this model is offered, by name: none where it takes none."""
        return self.fitting(profile, purposes).offered

    def fitting(self, profile: Profile, purposes: Collection[ToolPurpose] = ALL_PURPOSES) -> FittingTools:
        """The definitions for these purposes that the model's window holds, and the others; none of both for a model
        without tools."""
        if not (profile.calls_tools and self.settings.enabled):
            return FittingTools()
        wanted = self.names(purposes)
        key = tuple(tool for tool in self.definitions if tool.name in wanted), profile.window, profile.text_tools
        if self._fitting is None or self._fitting[0] != key:
            self._fitting = key, fitting_tools(key[0], tuple(self._own), profile, self.settings.window_share)
        return self._fitting[1]

    def names(self, purposes: Collection[ToolPurpose]) -> frozenset[str]:
        """The names of the tools for these purposes."""
        return frozenset(name for name, tool in self._tools.items() if tool.purpose in purposes)

    def take_omitted(self, profile: Profile, purposes: Collection[ToolPurpose] = ALL_PURPOSES) -> tuple[str, ...]:
        """A sentence about the tools that the window has no room for; once for each set of them."""
        fitting = self.fitting(profile, purposes)
        if fitting.omitted == self._told:
            return ()
        self._told = fitting.omitted
        return (sentence,) if (sentence := fitting.sentence(profile)) else ()

    def only_reading(self) -> "Toolbox":
        """A toolbox of the tools that only read, for a delegated question."""
        tools = [tool for tool in self._own.values() if tool.only_reads]
        settings = replace(self.settings, most_calls=self.settings.delegate_calls)
        box = Toolbox(tools, settings, self.most_arguments)
        box.most_calls_setting = "tools.delegate_calls"
        box._withheld = frozenset({*self._tools, *self._former}) - {*box._tools, *box._former}
        return box

    def add(self, tools: Sequence[AgentTool]) -> None:
        """Adds tools of servers, in place of those that were added before. Called between turns."""
        self._tools = {tool.definition.name: tool for tool in tools} | self._own

    def stores_arguments(self, call: ToolCall) -> bool:
        """Whether the call's tool stores its arguments."""
        tool = self._find(call.name)
        return tool is not None and tool.stores_arguments

    def knows(self, call: ToolCall) -> bool:
        """Whether the call's tool exists here."""
        return self._find(call.name) is not None

    def only_reads(self, call: ToolCall) -> bool:
        """Whether the call's tool only reads, whatever its arguments."""
        tool = self._find(call.name)
        return tool is not None and tool.only_reads

    def action(self, call: ToolCall, offered: Collection[str] = ()) -> Action:
        """Returns what the call would do. `offered`: the names of the tools that the request offered; () for all.

        With `tools.offer: auto`, a native call of a tool that was not offered goes to the user's permissions: it is
        explicit, and the choice of tools saves tokens and forbids nothing. A call written as text may be an example.
        Raises MalformedCall if the call cannot be understood, ToolFailure if it cannot be done.
        """
        tool = self._find(call.name)
        is_closed = call.is_unoffered or self.settings.offer != "auto"
        if tool is None or (is_closed and offered and tool.definition.name not in offered):
            names = ", ".join(sorted(offered or self._tools))
            if not call.name:
                raise MalformedCall(
                    "Not a call",
                    'A call is one JSON object, {"name": TOOL, "arguments": {NAME: VALUE}}, with quotes and line '
                    f"breaks in its strings escaped. The tools are: {names}.",
                )
            if call.name in self._withheld:  # well-formed: the prompt and the conversation may name such a tool
                raise ToolFailure(
                    "Not offered here",
                    f"There is no tool “{call.name}” for a delegated question, which only reads. The tools are: "
                    f"{names}.",
                )
            missing = f"“{call.name}” is not offered here" if tool else f"There is no tool “{call.name}”"
            raise MalformedCall("No such tool", f"{missing}. The tools are: {names}.")
        return tool.action(_arguments(tool, call))

    def run(self, call: ToolCall, run: ToolRun) -> ToolOutput:
        """The call's output; a failure is its text, never raised."""
        try:
            tool = self._tools.get(call.name) or self._former[call.name]
            images: list[Image] = []
            result = tool.run(_arguments(tool, call), replace(run, show=images.append))
        except PalimpsestError as error:
            failure = failed_output(error)
            return ToolOutput(failure.whole, self._bounded(failure.whole, run.entry, structured=False), failed=True)
        shown = self._bounded(result, run.entry, structured=tool.structured)
        return ToolOutput(result, shown, images=tuple(images))

    def denied(self, action: Action, reason: str) -> ToolOutput:
        """The output of a call that permissions did not let run; `reason` is for the model."""
        return _failed(f"Not done: {action.summary}. {reason}")

    def piece(self, call: ToolCall, result: str, entry: str, *, failed: bool) -> str:
        """The piece of a call's result that the model sees; `entry` is the id of the whole."""
        tool = self._find(call.name)
        return self._bounded(result, entry, structured=tool is not None and tool.structured and not failed)

    def _find(self, name: str) -> AgentTool | None:
        return self._tools.get(name) or self._former.get(name)

    def _bounded(self, result: str, entry: str, *, structured: bool) -> str:
        most = self.settings.result_chars
        if len(result) <= most:
            return result
        if structured and (passage := shorten_passage(result, most, entry)):
            return passage
        return bounded(result, most, entry)


def _arguments(tool: AgentTool, call: ToolCall) -> dict[str, Any]:
    """The call's arguments, checked by the tool's definition. Raises MalformedCall with a valid example."""
    try:
        arguments = arguments_of(call)
    except MalformedCall as error:
        raise MalformedCall(error.title, f"{error.message} Valid: {example_of(tool.definition)}") from error
    return checked_arguments(tool.definition, arguments)


def failed_output(error: PalimpsestError) -> ToolOutput:
    """The output of a call that failed."""
    return _failed(f"{error.title}: {error.message} {error.hint}".strip())


def _failed(sentence: str) -> ToolOutput:
    return ToolOutput(sentence, sentence, failed=True)


def call_object(call: ToolCall) -> dict[str, Any]:
    """The call, as JSON shows it."""
    return {"id": call.id, "name": call.name, "arguments": call.arguments}
