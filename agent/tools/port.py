"""The port of a tool."""

from collections.abc import Callable
from enum import StrEnum
from threading import Event
from typing import Any, Protocol, runtime_checkable

import msgspec
from msgspec import Meta, Struct

from agent.events import SessionEvent
from agent.permissions.action import Action, PersonQuestion
from agent.permissions.tool_facts import ToolFacts
from agent.tools.settings import ToolSettings
from context.sources.skills import Skill
from foundation.errors import PalimpsestError
from foundation.typed_json import decode_json
from models.messages import Image, Tool, ToolCall


class ToolFailure(PalimpsestError):
    """A tool could not do what was requested; the model gets the reason."""

    code = "tool"


class MalformedCall(ToolFailure):
    """The model wrote a call that cannot be run as it is; the message says how to write it."""


class ToolRun(Struct, frozen=True):
    """One run of a tool: `entry` is the id of its result, `stopped` is set when the turn is stopped.

    `report` shows the person a piece of output while the tool runs, `emit` yields an event of the turn; call them from
    any thread. `ask` blocks until the person has answered: their words, "" for none, None where nobody is there.
    `action` is what was permitted: a tool does that, or fails. `untrusted` names untrusted text that is in view; "" for
    none. `show` sends a picture with the result, for a model that sees pictures. `open_skill` puts the
    `allowed-tools` of a skill in force until the turn ends, and gives sentences about it for the person.
    """

    entry: str
    stopped: Event
    report: Callable[[str], None] = lambda _: None
    emit: Callable[[SessionEvent], None] = lambda _: None
    ask: Callable[[PersonQuestion], str | None] = lambda _: None
    action: Action | None = None
    untrusted: str = ""
    show: Callable[[Image], None] = lambda _: None
    open_skill: Callable[[Skill], tuple[str, ...]] = lambda _: ()


class ToolPurpose(StrEnum):
    """What a tool is for: agent.tools.offer decides by it when a model is offered the tool."""

    MEMORY = "memory"  # search
    NOTE = "note"
    REFERENCE = "reference"  # a text of memory by its reference
    PROJECT = "project"  # files and commands
    BACKGROUND = "background"  # commands that go on beside the turn
    WEB = "web"
    SERVER = "server"  # a tool of an MCP server
    EXTRA = "extra"  # plans, skills, questions, delegation


class AgentTool(Protocol):
    """A tool that a model may call."""

    @property
    def facts(self) -> ToolFacts: ...

    @property
    def definition(self) -> Tool: ...

    @property
    def purpose(self) -> ToolPurpose: ...

    @property
    def stores_arguments(self) -> bool:
        """Whether it stores its arguments: it gets them without the words that the person hid."""
        ...

    @property
    def only_reads(self) -> bool:
        """Whether it only reads memory and files, so that calls may run side by side."""
        ...

    @property
    def structured(self) -> bool:
        """Whether its output is a JSON object in which only `text` and `passages` hold foreign words."""
        ...

    def action(self, arguments: dict[str, Any]) -> Action:
        """What a run with these arguments would do, for the permission. Raises ToolFailure where it cannot be done."""
        ...

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        """The whole output. Raises PalimpsestError; runs off the event loop."""
        ...


class UsualTool:
    """The answers that most tools give: they store no arguments, print plain text and do more than read."""

    stores_arguments = False
    structured = False
    only_reads = False


@runtime_checkable
class ConditionalTool(Protocol):
    """A tool that is described to the model only at times."""

    @property
    def is_offered(self) -> bool: ...


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The call's arguments as an object. Raises MalformedCall for anything but JSON of one."""
    try:
        arguments = decode_json(call.arguments or "{}", dict[str, Any])
    except msgspec.DecodeError as error:
        raise MalformedCall(
            "Unreadable arguments", f"{call.name}: the arguments are no JSON object: {error}."
        ) from error
    return arguments


def string_argument(arguments: dict[str, Any], name: str) -> str:
    """The string argument `name`. Raises ToolFailure where it is missing."""
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ToolFailure("Missing argument", f"“{name}” must be a string that is not empty.")
    return value


def text_argument(arguments: dict[str, Any], name: str, default: str = "") -> str:
    """The string argument `name`, which may be empty or missing. Raises ToolFailure where it is no string."""
    value = arguments.get(name, default)
    if not isinstance(value, str):
        raise ToolFailure("Wrong argument", f"“{name}” must be a string.")
    return value


def whole_argument(arguments: dict[str, Any], name: str, default: int, *, least: int = 0) -> int:
    """The whole number `name`; a string of digits is taken for one. Raises ToolFailure."""
    value = arguments.get(name, default)
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ToolFailure("Wrong argument", f"“{name}” must be a whole number of at least {least}.")
    return value


def texts_argument(arguments: dict[str, Any], name: str) -> tuple[str, ...]:
    """The list of strings `name`; missing is none. Raises ToolFailure where it is no such list."""
    try:
        return msgspec.convert(arguments.get(name) or (), tuple[str, ...])
    except msgspec.ValidationError as error:
        raise ToolFailure("Wrong argument", f"“{name}” must be a list of strings.") from error


def flag_argument(arguments: dict[str, Any], name: str) -> bool:
    """The yes or no of `name`; missing is no. Raises ToolFailure."""
    value = arguments.get(name, False)
    if not isinstance(value, bool):
        raise ToolFailure("Wrong argument", f"“{name}” must be true or false.")
    return value


__all__ = [
    "AgentTool",
    "ConditionalTool",
    "MalformedCall",
    "Meta",
    "ToolFailure",
    "ToolPurpose",
    "ToolRun",
    "ToolSettings",
    "UsualTool",
    "arguments_of",
    "flag_argument",
    "string_argument",
    "text_argument",
    "texts_argument",
    "whole_argument",
]
