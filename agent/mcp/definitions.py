"""What the model is told of a server's tools: cleaned, and within a budget of tokens for each server.

A description is foreign text in the head of every request: it passes the fence, hidden characters become glyphs, and
what is too much of it is cut. First descriptions are shortened, then tools are left out, by name.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from msgspec import Struct

from agent.mcp.names import tool_names
from agent.mcp.server_spec import ServerSpec
from foundation.bounded_json import is_deeper
from foundation.terminal_text import visible
from models.fence import neutralise
from models.messages import Tool
from models.tokens import estimate

if TYPE_CHECKING:
    from agent.mcp.connection import ServerTool

MOST_OFFERED: Final = 100  # tools of one server
MOST_NESTED: Final = 12
LONG_DESCRIPTION: Final = 1_000  # characters of a tool's description
SHORT_DESCRIPTION: Final = 200  # where all of them together are too long
MOST_NOTE: Final = 300  # characters of a parameter's description
MOST_LISTED: Final = 100  # values of an enum, and members of an object
MOST_NAME: Final = 128  # characters of a parameter's name
_DROPPED: Final = {"$schema", "$id", "$comment", "title", "examples", "outputSchema", "x-mcp-header"}
_EMPTY: Final[dict[str, Any]] = {"type": "object", "properties": {}}


class OfferedTool(Struct, frozen=True):
    """A tool as the model gets it. `tool` is its name at the server; `digest` tells a change of the original.

    `is_trusted`: the user says that the server is harmless.
    """

    server: str
    tool: str
    definition: Tool
    digest: str
    tokens: int
    is_trusted: bool = False


class ServerOffer(Struct, frozen=True):
    """The tools of a server that are offered. `notice` says what was left out; "" where nothing was."""

    tools: tuple[OfferedTool, ...] = ()
    notice: str = ""

    @property
    def tokens(self) -> int:
        return sum(tool.tokens for tool in self.tools)


def offer(spec: ServerSpec, prefix: str, tools: "Sequence[ServerTool]", budget: int) -> ServerOffer:
    """The tools that fit `budget` tokens, by name."""
    names = tool_names(prefix, (tool.name for tool in tools))
    chosen = sorted((tool for tool in tools if _is_chosen(spec, tool.name)), key=lambda tool: names[tool.name])
    made = [_offered(spec, names[tool.name], tool, shorten=False) for tool in chosen]
    is_short = sum(tool.tokens for tool in made) > budget or len(made) > MOST_OFFERED
    if is_short:
        made = [_offered(spec, names[tool.name], tool, shorten=True) for tool in chosen]
    fitting = tuple(_fitting(made, budget))
    if len(fitting) < len(made):
        return ServerOffer(
            fitting,
            f"Only {len(fitting):,} of {len(made):,} tools are offered, with short descriptions: the limit "
            f"is {budget:,} tokens (tools.mcp_definition_tokens) or {MOST_OFFERED} tools. Choose tools with "
            "the server's `includeTools`.",
        )
    short = f"Descriptions are shortened to fit {budget:,} tokens (tools.mcp_definition_tokens)." if is_short else ""
    return ServerOffer(fitting, short)


def _is_chosen(spec: ServerSpec, name: str) -> bool:
    return (not spec.include_tools or name in spec.include_tools) and name not in spec.exclude_tools


def _fitting(tools: Sequence[OfferedTool], budget: int) -> Iterator[OfferedTool]:
    for tool in tools[:MOST_OFFERED]:
        if tool.tokens <= budget:
            budget -= tool.tokens
            yield tool


def _offered(spec: ServerSpec, name: str, tool: "ServerTool", *, shorten: bool) -> OfferedTool:
    description = _clean(tool.description, SHORT_DESCRIPTION if shorten else LONG_DESCRIPTION)
    definition = Tool(name, description or f"A tool of {_clean(spec.name, 40)}.", _parameters(tool.schema, shorten))
    tokens = estimate(_json(definition))
    return OfferedTool(spec.name, tool.name, definition, tool_digest(tool), tokens, spec.is_trusted)


def tool_digest(tool: "ServerTool") -> str:
    """SHA-256 of the name, the description and the schema as the server gave them."""
    try:
        raw = msgspec.json.encode([tool.name, tool.description, tool.schema], order="deterministic")
    except (RecursionError, TypeError, ValueError, OverflowError):
        raw = repr((tool.name, tool.description[:1000])).encode("utf-8", "replace")
    return hashlib.sha256(raw).hexdigest()


def _parameters(schema: dict[str, Any], shorten: bool) -> dict[str, Any]:
    """The schema of the arguments, as model servers take it: an object, not too deep, its references within it."""
    if schema.get("type", "object") != "object" or is_deeper(schema, MOST_NESTED):
        return _EMPTY
    cleaned = cast("dict[str, Any]", _cleaned(schema, 0 if shorten else MOST_NOTE))
    for field in ("anyOf", "oneOf", "allOf", "not", "enum"):  # which several servers refuse at the top
        cleaned.pop(field, None)
    cleaned["type"] = "object"
    if not isinstance(cleaned.get("properties"), dict):
        cleaned["properties"] = {}
    properties = cast("dict[str, Any]", cleaned["properties"])
    required = cleaned.get("required")
    if isinstance(required, list):
        cleaned["required"] = [name for name in cast("list[Any]", required) if name in properties]
    else:
        cleaned.pop("required", None)
    return cleaned


def _cleaned(value: Any, most: int) -> Any:
    """A part of a schema without what no model needs; texts are cleaned and cut to `most` characters."""
    match value:
        case dict():
            members = list(cast("dict[Any, Any]", value).items())[:MOST_LISTED]
            return {
                str(name): made for name, member in members if (made := _member(str(name), member, most)) is not None
            }
        case list():
            return [_cleaned(item, most) for item in cast("list[Any]", value)[:MOST_LISTED]]
        case str():
            return neutralise(visible(value[:MOST_NOTE]))
        case bool() | int() | float() | None:
            return value
        case _:
            return None


def _member(name: str, value: Any, most: int) -> Any:
    if name in _DROPPED and not isinstance(value, dict):  # a property may have such a name
        return None
    if isinstance(value, str) and name == "description":
        return _clean(value, most) or None
    if isinstance(value, str) and name == "$ref" and not value.startswith("#"):
        return None
    if len(name) > MOST_NAME or name != visible(name):
        return None
    return _cleaned(value, most)


def _clean(text: str, most: int) -> str:
    """The text without hidden characters and imitations of our tags, on one line, cut."""
    if not most:
        return ""
    line = neutralise(" ".join(visible(text[: most * 4]).split()))
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _json(tool: Tool) -> str:
    return msgspec.json.encode(tool).decode("utf-8", "replace")
