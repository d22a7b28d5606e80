"""Describes tools in the system message, and writes calls and results as text. Pure: wire messages in and out.

The form is that of Hermes and Qwen, which most small models were trained on: `<tool_call>` around one JSON object, and
`<tool_response>` in a user message, so that roles alternate under any chat template. Foreign text holds neither tag:
the fence (models.fence) takes their brackets.
"""

import json
from collections.abc import Iterable
from typing import Any, Final, cast

from foundation.bounded_json import Json
from models.messages import Tool

_OPENING: Final = """\
# Tools
You can call the tools below. To call one, write this on lines of its own, outside any code fence, and then stop:
<tool_call>
{"name": "TOOL", "arguments": {"NAME": VALUE}}
</tool_call>
Several such blocks in a row make several calls. The results come in the next message, each in <tool_response>.
Never write a <tool_response> yourself. Answer without a block where no tool is needed.
"""
_TYPES: Final = {"string": "string", "integer": "integer", "number": "number", "boolean": "true|false"}


def tools_text(tools: Iterable[Tool]) -> str:
    """The instructions and a line for each tool, by name."""
    by_name = sorted(tools, key=lambda tool: tool.name)
    return "\n".join([_OPENING, *(f"- {signature(tool)} {tool.description}" for tool in by_name)])


def as_text(messages: Iterable[Json], tools: Iterable[Tool]) -> list[Json]:
    """The wire messages without tool calls and tool results: as text, with the tools in the system message."""
    offered = tuple(tools)
    wire: list[Json] = []
    for message in messages:
        plain = _plain(message)
        last = wire[-1] if wire else None
        if last and last["role"] == plain["role"] != "system":
            last["content"] = join_content(last["content"], plain["content"])
        else:
            wire.append(plain)
    if offered:
        _add_to_head(wire, tools_text(offered))
    return wire


def call_text(name: str, arguments: str) -> str:
    """A call as the model wrote it, or would have."""
    try:
        value: object = json.loads(arguments or "{}")
    except ValueError:
        return f"<tool_call>\n{arguments}\n</tool_call>"
    if not name:
        return f"<tool_call>\n{arguments}\n</tool_call>"
    body = json.dumps({"name": name, "arguments": value}, ensure_ascii=False)
    return f"<tool_call>\n{body}\n</tool_call>"


def _plain(message: Json) -> Json:
    match message["role"]:
        case "assistant":
            calls = [call["function"] for call in message.get("tool_calls") or ()]
            blocks = [call_text(call["name"], call["arguments"]) for call in calls]
            return {"role": "assistant", "content": "\n".join(filter(None, [message["content"], *blocks]))}
        case "tool":
            text = f"<tool_response>\n{message['content']}\n</tool_response>"
            return {"role": "user", "content": text}
        case _:
            return dict(message)


def join_content(first: str | list[Json], second: str | list[Json]) -> str | list[Json]:
    """The contents of two neighbouring messages of one role as one, a blank line between texts."""
    if isinstance(first, str) and isinstance(second, str):
        return "\n\n".join(filter(None, (first, second)))
    before, after = _parts(first), _parts(second)
    if before and after and before[-1]["type"] == after[0]["type"] == "text":  # templates put nothing between texts
        joined: Json = {"type": "text", "text": f"{before[-1]['text']}\n\n{after[0]['text']}"}
        return [*before[:-1], joined, *after[1:]]
    return before + after


def _parts(content: str | list[Json]) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def _add_to_head(wire: list[Json], text: str) -> None:
    if wire and wire[0]["role"] == "system":
        wire[0] = {"role": "system", "content": f"{wire[0]['content']}\n\n{text}"}
    else:
        wire.insert(0, {"role": "system", "content": text})


def signature(tool: Tool) -> str:
    """`read_file(path: string, offset?: integer)`."""
    properties = cast("Json", tool.parameters.get("properties") or {})
    required = cast("list[str]", tool.parameters.get("required") or [])
    arguments = ", ".join(
        f"{name}{'' if name in required else '?'}: {_type(schema)}" for name, schema in properties.items()
    )
    return f"{tool.name}({arguments})"


def _type(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "any"
    given = cast("Json", schema)
    if choices := given.get("enum"):
        return "|".join(json.dumps(choice, ensure_ascii=False) for choice in choices)
    kind = given.get("type")
    if kind == "array":
        name = f"[{_type(given.get('items'))}]"
    elif kind == "object" and isinstance(given.get("properties"), dict):
        inner = cast("Json", given["properties"])
        name = "{" + ", ".join(f"{key}: {_type(value)}" for key, value in inner.items()) + "}"
    else:
        name = _TYPES.get(str(kind), "any")
    about = given.get("description")
    return f"{name} ({about})" if about else name
