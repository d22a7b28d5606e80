"""The port of a tool, and the settings of tools."""

from typing import Annotated, Any, Protocol

import msgspec
from msgspec import Meta, Struct

from foundation.errors import PalimpsestError
from models.messages import Tool, ToolCall


class ToolSettings(Struct, frozen=True):
    """What the model may call."""

    enabled: Annotated[bool, Meta(extra={"guarded": True})] = True
    """Offer tools to models that are known to take them."""
    result_chars: Annotated[int, Meta(ge=0, le=1_000_000)] = 6000
    """How much of a tool's output the model sees at once; the whole is kept and can be recalled."""
    most_calls: Annotated[int, Meta(ge=0, extra={"guarded": True})] = 25
    """How many tool calls one turn may make, however many one answer asks for."""


class ToolFailure(PalimpsestError):
    """A tool could not do what was requested; the model gets the reason."""

    code = "tool"


class AgentTool(Protocol):
    """A tool that a model may call."""

    @property
    def definition(self) -> Tool: ...

    @property
    def asks_permission(self) -> bool:
        """Whether a person must agree before each run."""
        ...

    @property
    def stores_arguments(self) -> bool:
        """Whether it stores its arguments: it gets them without the words that the person hid."""
        ...

    def summary(self, arguments: dict[str, Any]) -> str:
        """One line for the person: what will be done, to what."""
        ...

    @property
    def structured(self) -> bool:
        """Whether its output is a JSON object in which only `text` and `passages` hold foreign words."""
        ...

    def run(self, arguments: dict[str, Any]) -> str:
        """The whole output. Raises PalimpsestError; runs off the event loop."""
        ...


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The call's arguments as an object. Raises ToolFailure for invalid JSON."""
    try:
        arguments = msgspec.json.decode(call.arguments or "{}", type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise ToolFailure("Unreadable arguments", f"{call.name}: the arguments are no JSON object: {error}.") from error
    return arguments


def string_argument(arguments: dict[str, Any], name: str) -> str:
    """The string argument `name`. Raises ToolFailure where it is missing."""
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ToolFailure("Missing argument", f"“{name}” must be a string that is not empty.")
    return value


__all__ = ["AgentTool", "Meta", "ToolFailure", "ToolSettings", "arguments_of", "string_argument"]
