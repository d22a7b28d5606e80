"""Serialises a Request for Anthropic's Messages API. Pure: equal bytes for equal requests.

Cache breakpoints are after the system message, the head, the turns before this one and the last message: four is the
maximum of the API. The past has one if another is not needed.
"""

import base64
import json
from typing import cast

import msgspec

from foundation.bounded_json import Json
from models.chat.anthropic.reply import BLOCKS
from models.chat.quirks import Quirks
from models.chat.refused_fields import RefusedFields
from models.chat.text_tools.written_call import UNREADABLE_CALL
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

BREAKPOINTS = 4
MARK: Json = {"type": "ephemeral"}


def anthropic_body(
    request: Request,
    *,
    model: str,
    vision: bool,
    temperature: float | None = None,
    refused: RefusedFields | None = None,
) -> bytes:
    """The body of POST /v1/messages, without the fields that were `refused`."""
    known = refused or RefusedFields(Quirks())
    given: Json = {"model": model, "stream": True, "max_tokens": request.max_tokens}
    if temperature is not None:
        given |= known.kept({"temperature": min(temperature, 1.0)})
    if request.tools:
        given["tools"] = [_tool(tool) for tool in sorted(request.tools, key=lambda tool: tool.name)]
    head, rest = _split(request.messages)
    system = [_text(message.text) for message in head if message.text]
    messages = [_message(message, known, vision=vision) for message in rest]
    _mark(request, len(head), system, messages)
    if system:
        given["system"] = system
    given["messages"] = _alternating([message for message in messages if message["content"]])
    return msgspec.json.encode(given)


def _split(messages: tuple[Message, ...]) -> tuple[list[Message], list[Message]]:
    """The system messages at the head, and the rest."""
    first = next((i for i, message in enumerate(messages) if message.role is not Role.SYSTEM), len(messages))
    return list(messages[:first]), list(messages[first:])


def _mark(request: Request, head: int, system: list[Json], messages: list[Json]) -> None:
    """Puts a breakpoint on the last block of each stretch that the next request is likely to begin with."""
    marked = 0
    opening, past, turns, _ = request.zones
    ends = dict.fromkeys(end for end in (len(request.messages), turns, opening, head, past) if end > 0)
    for end in sorted(list(ends)[:BREAKPOINTS]):
        block = None
        if end <= head:
            block = system[-1] if system else None
        elif marked_blocks := [
            block for block in messages[end - head - 1]["content"] if "thinking" not in str(block["type"])
        ]:
            block = marked_blocks[-1]
        if block is not None and "cache_control" not in block and marked < BREAKPOINTS:
            block["cache_control"] = MARK
            marked += 1


def _alternating(messages: list[Json]) -> list[Json]:
    """Merges neighbouring messages of one role, tool results first, as the API requires."""
    joined: list[Json] = []
    for message in messages:
        if joined and joined[-1]["role"] == message["role"]:
            content = [*joined[-1]["content"], *message["content"]]
            results = [block for block in content if block["type"] == "tool_result"]
            joined[-1]["content"] = [*results, *(block for block in content if block["type"] != "tool_result")]
        else:
            joined.append(message)
    return joined


def _tool(tool: Tool) -> Json:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def _message(message: Message, refused: RefusedFields, *, vision: bool) -> Json:
    role = "assistant" if message.role is Role.ASSISTANT else "user"
    content = [block for part in wire_parts(message) if (block := _block(part, vision=vision))]
    fields = next((part for part in message.parts if isinstance(part, ProviderFields)), None)
    if fields is None:
        return {"role": role, "content": content}
    for block in content:
        block.update(refused.kept(fields.calls.get(str(block.get("id")), {})))
    for place, thinking in refused.kept(fields.message).get(BLOCKS, ()):
        content.insert(place, dict(thinking))
    return {"role": role, "content": content}


def _block(part: MessagePart, *, vision: bool) -> Json | None:
    match part:
        case Image() if vision:
            data = base64.b64encode(part.data).decode()
            return {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": data}}
        case Image():
            return _text(image_placeholder(part))
        case ToolCall(id=id_, name=name, arguments=arguments):
            return {"type": "tool_use", "id": id_, "name": name or UNREADABLE_CALL, "input": _input(arguments)}
        case ToolResult(call_id=call_id, text=text, failed=failed):
            result: Json = {"type": "tool_result", "tool_use_id": call_id, "content": text}
            return result | {"is_error": True} if failed else result
        case _:
            words = render(part)
            return _text(words) if words.strip() else None  # the API refuses empty text


def _text(words: str) -> Json:
    return {"type": "text", "text": words}


def _input(arguments: str) -> Json:
    try:
        value: object = json.loads(arguments or "{}")
    except ValueError:
        value = None
    return cast("Json", value) if isinstance(value, dict) else {"arguments": arguments}
