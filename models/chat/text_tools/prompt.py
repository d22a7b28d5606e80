"""Lists tools in a message, and writes calls and results as text. Pure: wire messages in and out.

The form of a call is the one that models of 0.5 and 1.5 billion parameters got right most often: one JSON object alone.
A result is in `<tool_response>` in a user message, as Hermes and Qwen write it, so that roles alternate under any chat
template. Foreign text does not hold that tag: the fence (models.fence) takes its brackets.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final, cast

from foundation.bounded_json import Json
from models.messages import Message, Role, Text, Tool
from models.prompts import prompt

_SHOWN_OPTIONAL: Final = 2  # fields of a tool that needs none of them
MAX_QUESTION: Final = 600  # characters of the user's message that are repeated after a result
_STATED: Final = re.compile(r"^([\w.-]+)\(", re.MULTILINE)


def tools_text(tools: Iterable[Tool]) -> str:
    """A line for each tool, by name, between the instructions."""
    by_name = sorted(tools, key=lambda tool: tool.name)
    lines = [f"{signature(tool)}: {tool.description}" for tool in by_name]
    return "\n".join([prompt("text_tools", "opening"), *lines, prompt("text_tools", "closing")])


def stated_names(text: str) -> frozenset[str]:
    """The names of the tools that a `tools_text` lists."""
    return frozenset(_STATED.findall(text))


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


def with_questions(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages, and after the results of each answer's calls the user's message again.

    A small model answers the message that it read last: with the result alone, 2 of 7 answers held what was asked, with
    the message behind it 7.
    """
    given = tuple(messages)
    for message, reminder in zip(given, reminders(given), strict=True):
        yield message
        if reminder is not None:
            yield reminder


def reminders(messages: Sequence[Message]) -> Iterator[Message | None]:
    """For each message, what is sent behind it: the user's message after the last of some results, else None."""
    question = ""
    for message, following in zip_longest(messages, messages[1:]):
        if message.role is Role.USER:
            own = [part.text for part in message.parts if isinstance(part, Text) and not part.injected]
            question = "\n".join(own) or question
        is_last = message.role is Role.TOOL and (following is None or following.role is not Role.TOOL)
        yield _reminder(question) if is_last else None


def _reminder(question: str) -> Message:
    shown = question if len(question) <= MAX_QUESTION else f"{question[:MAX_QUESTION]}…"
    return Message(Role.USER, (Text(prompt("text_tools", "result").replace("{message}", shown)),))


def call_text(name: str, arguments: str) -> str:
    """A call as the model wrote it, or would have."""
    try:
        value: object = json.loads(arguments or "{}")
    except ValueError:
        return arguments
    return json.dumps({"name": name, "arguments": value}, ensure_ascii=False) if name else arguments


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
    """`read_file(path)`: the required fields, or the first optional ones where none is required.

    A small model fills in each field that it sees, so the other optional ones are not shown.
    """
    properties = cast("Json", tool.parameters.get("properties") or {})
    required = cast("list[str]", tool.parameters.get("required") or [])
    shown = [name for name in properties if name in required] or [f"{name}?" for name in properties][:_SHOWN_OPTIONAL]
    return f"{tool.name}({', '.join(name + _type(properties[name.rstrip('?')]) for name in shown)})"


def _type(schema: Any) -> str:
    """`: integer`, or the values of an enum; "" for a string."""
    given = cast("Json", schema) if isinstance(schema, dict) else {}
    if choices := given.get("enum"):
        return f": {'|'.join(json.dumps(choice, ensure_ascii=False) for choice in choices)}"
    kind = given.get("type")
    if kind == "array":
        return ": list"
    if kind == "object" and isinstance(given.get("properties"), dict):
        inner = cast("Json", given["properties"])
        return ": {" + ", ".join(f"{key}{_type(value)}" for key, value in inner.items()) + "}"
    return "" if kind in (None, "string") else f": {kind}"
