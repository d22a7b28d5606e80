"""Serialises a Request for an OpenAI-compatible server. Pure: equal bytes for equal requests.

`messages` is last in the body, so that request n+1 begins with request n on the wire as well. Later system messages,
and neighbours of one role, are written so that strict chat templates (Gemma, Mistral) accept them.
"""

import base64
from collections.abc import Iterable, Iterator
from typing import TypeGuard, cast

import msgspec

from foundation.bounded_json import Json
from models.chat.quirks import Quirks
from models.chat.refused_fields import RefusedFields
from models.chat.text_tools.prompt import as_text, join_content, with_questions
from models.chat.text_tools.written_call import UNREADABLE_CALL, json_object
from models.messages import (
    Image,
    Message,
    MessagePart,
    ProviderFields,
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
    native_tools: bool = True,
    system_role: bool = True,
    refused: RefusedFields | None = None,
) -> bytes:
    """The body of POST /chat/completions. `extra` holds fields that only some servers know; those `refused` are left
    out.

    Without `native_tools` tools, calls and results are text (models.chat.text_tools).
    """
    known = refused or RefusedFields(Quirks())
    given: Json = {"model": model, "stream": True, "stream_options": {"include_usage": True}}
    given[known.limit_name] = request.max_tokens
    if temperature is not None:
        given["temperature"] = temperature
    if request.schema is not None:
        schema: Json = {"name": "answer", "strict": True, "schema": request.schema}
        given["response_format"] = {"type": "json_schema", "json_schema": schema}
    given = known.kept(given | extra)
    given_messages = request.messages if native_tools else with_questions(request.messages)
    wire = messages(given_messages, vision=vision, refused=known)
    if request.tools and native_tools:
        given["tools"] = tools(request.tools)
    stated = () if request.tools_stated else request.tools
    wire = _with_readable_calls(wire) if native_tools else as_text(wire, stated)
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


def messages(given: Iterable[Message], *, vision: bool, refused: RefusedFields | None = None) -> list[Json]:
    """The messages on the wire: one system message at the head, tool results apart, neighbours merged."""
    wire: list[Json] = []
    known = refused or RefusedFields(Quirks())
    for message in _with_pictures_apart(given):
        at_head = all(m["role"] == "system" for m in wire)
        for wire_message in _wire(message, vision=vision, at_head=at_head, refused=known):
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


def _wire(message: Message, *, vision: bool, at_head: bool, refused: RefusedFields) -> list[Json]:
    match message.role:
        case Role.SYSTEM:
            return [{"role": "system" if at_head else "user", "content": message.text}]
        case Role.USER:
            return [{"role": "user", "content": _content(message, vision=vision)}]
        case Role.ASSISTANT:
            return [_assistant(message, refused)]
        case Role.TOOL:
            return [
                {"role": "tool", "tool_call_id": part.call_id, "content": part.text}
                for part in wire_parts(message)
                if isinstance(part, ToolResult)
            ]


def _assistant(message: Message, refused: RefusedFields) -> Json:
    """An answer with what its provider attached to it. Plain reasoning goes back with the calls that it led to."""
    fields = next((part for part in message.parts if isinstance(part, ProviderFields)), ProviderFields(""))
    calls = [_call(part, refused.kept(fields.calls.get(part.id, {}))) for part in wire_parts(message) if _is_call(part)]
    if calls and refused.call_fields and not any(refused.call_fields.keys() & call.keys() for call in calls):
        calls[0] |= refused.call_fields
    wire: Json = {"role": "assistant", "content": message.text}
    if not calls:
        return wire | refused.kept(fields.message)
    reasoning = {fields.reasoning_field: fields.reasoning} if fields.reasoning_field and fields.reasoning else {}
    if refused.demanded and refused.demanded not in (fields.reasoning_field if reasoning else "", *fields.message):
        reasoning[refused.demanded] = fields.reasoning or " "
    return wire | refused.kept(reasoning | fields.message) | {"tool_calls": calls}


def _is_call(part: MessagePart) -> TypeGuard[ToolCall]:
    return isinstance(part, ToolCall)


def _call(call: ToolCall, fields: Json) -> Json:
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    within = cast("Json", fields.get("function") or {})
    return {"id": call.id, "type": "function", "function": within | function} | {
        name: value for name, value in fields.items() if name != "function"
    }


def _with_readable_calls(wire: Iterable[Json]) -> list[Json]:
    """The messages with a name and a JSON object in each call: servers reject others, and a model may write them."""
    return [
        message | {"tool_calls": [_readable(call) for call in message["tool_calls"]]}
        if "tool_calls" in message
        else message
        for message in wire
    ]


def _readable(call: Json) -> Json:
    function = call["function"]
    arguments, name = function["arguments"], function["name"] or UNREADABLE_CALL
    if json_object(arguments) is None or not function["name"]:
        arguments = msgspec.json.encode({"written": arguments}).decode()
    return {**call, "function": {**function, "name": name, "arguments": arguments}}


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
