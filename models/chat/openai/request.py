"""Serialises a Request for an OpenAI-compatible server. Pure: equal bytes for equal requests.

`messages` is last in the body, so that request n+1 begins with request n on the wire as well. Later system messages,
and neighbours of one role, are written so that strict chat templates (Gemma, Mistral) accept them.
"""

import base64
from collections.abc import Iterable, Iterator

import msgspec

from foundation.bounded_json import Json
from models.chat.text_tools.prompt import as_text, join_content
from models.messages import (
    Image,
    Message,
    MessagePart,
    Request,
    Role,
    Tool,
    ToolCall,
    ToolResult,
    image_placeholder,
    render,
    wire_parts,
)


def openai_body(
    request: Request,
    *,
    model: str,
    vision: bool,
    extra: Json,
    temperature: float | None = None,
    limit_name: str = "max_tokens",
    native_tools: bool = True,
    system_role: bool = True,
    takes_schema: bool = True,
) -> bytes:
    """The body of POST /chat/completions. `extra` holds fields that only some servers know.

    Without `native_tools` tools, calls and results are text (models.chat.text_tools).
    """
    given: Json = {"model": model, "stream": True, "stream_options": {"include_usage": True}}
    given[limit_name] = request.max_tokens
    if temperature is not None:
        given["temperature"] = temperature
    given |= extra
    if request.schema is not None and takes_schema:
        schema: Json = {"name": "answer", "strict": True, "schema": request.schema}
        given["response_format"] = {"type": "json_schema", "json_schema": schema}
    wire = messages(request.messages, vision=vision)
    if request.tools and native_tools:
        given["tools"] = tools(request.tools)
    wire = wire if native_tools else as_text(wire, () if request.tools_stated else request.tools)
    given["messages"] = wire if system_role else without_system(wire)
    return msgspec.json.encode(given)


def tools(given: Iterable[Tool]) -> list[Json]:
    """The tools by name, so that the head of a prompt does not depend on their order."""
    return [_tool(tool) for tool in sorted(given, key=lambda tool: tool.name)]


def _tool(tool: Tool) -> Json:
    schema = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": schema}


def without_system(wire: list[Json]) -> list[Json]:
    """The messages with the system text at the beginning of the first user message, for a model that ignores it."""
    if not wire or wire[0]["role"] != "system":
        return wire
    rest = wire[1:]
    if not rest or rest[0]["role"] != "user":
        return [{**wire[0], "role": "user"}, *rest]
    return [{"role": "user", "content": join_content(wire[0]["content"], rest[0]["content"])}, *rest[1:]]


def messages(given: Iterable[Message], *, vision: bool) -> list[Json]:
    """The messages on the wire: one system message at the head, tool results apart, neighbours merged."""
    wire: list[Json] = []
    for message in _with_pictures_apart(given):
        for wire_message in _wire(message, vision=vision, at_head=all(m["role"] == "system" for m in wire)):
            last = wire[-1] if wire else None
            if last and last["role"] == wire_message["role"] and wire_message["role"] in {"system", "user"}:
                last["content"] = join_content(last["content"], wire_message["content"])
            else:
                wire.append(wire_message)
    return wire


def _with_pictures_apart(given: Iterable[Message]) -> Iterator[Message]:
    """The messages, with the pictures of tool results in a user's message after the last of the results."""
    pictures: list[MessagePart] = []
    for message in given:
        if message.role is not Role.TOOL and pictures:
            yield Message(Role.USER, tuple(pictures))
            pictures = []
        pictures += [part for part in message.parts if message.role is Role.TOOL and isinstance(part, Image)]
        yield message
    if pictures:
        yield Message(Role.USER, tuple(pictures))


def _wire(message: Message, *, vision: bool, at_head: bool) -> list[Json]:
    match message.role:
        case Role.SYSTEM:
            return [{"role": "system" if at_head else "user", "content": message.text}]
        case Role.USER:
            return [{"role": "user", "content": _content(message, vision=vision)}]
        case Role.ASSISTANT:
            return [_assistant(message)]
        case Role.TOOL:
            return [
                {"role": "tool", "tool_call_id": part.call_id, "content": part.text}
                for part in wire_parts(message)
                if isinstance(part, ToolResult)
            ]


def _assistant(message: Message) -> Json:
    calls = [
        {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": part.arguments or "{}"}}
        for part in wire_parts(message)
        if isinstance(part, ToolCall)
    ]
    wire: Json = {"role": "assistant", "content": message.text}
    return wire | {"tool_calls": calls} if calls else wire


def _content(message: Message, *, vision: bool) -> str | list[Json]:
    """A string without pictures; else a list of parts in their order."""
    if not vision or not any(isinstance(part, Image) for part in message.parts):
        words = (image_placeholder(part) if isinstance(part, Image) else render(part) for part in wire_parts(message))
        return "\n\n".join(word for word in words if word)
    content: list[Json] = []
    for part in wire_parts(message):
        if isinstance(part, Image):
            content.append({"type": "image_url", "image_url": {"url": data_uri(part)}})
        elif words := render(part):
            if content and content[-1]["type"] == "text":
                content[-1]["text"] += f"\n\n{words}"
            else:
                content.append({"type": "text", "text": words})
    return content


def data_uri(image: Image) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
