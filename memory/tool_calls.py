"""Tool calls of a stored answer, and what is known of one without a stored result."""

import json
from contextlib import suppress
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from memory.records import Entry, EntryKind
from models.chat.port import StopReason
from models.messages import Role, ToolCall

NOT_RUN: Final = "(not run)"
INTERRUPTED: Final = "interrupted: no result was stored; it may have run in part"
MOST_DESCRIBED: Final = 200  # characters


class _StoredCall(Struct):
    """A tool call in an answer's metadata."""

    id: str
    name: str
    arguments: str


def tool_calls(entry: Entry) -> tuple[ToolCall, ...]:
    """Tool calls of an answer. Imported metadata may hold anything under that key: invalid values are skipped."""
    if entry.kind is not EntryKind.MESSAGE or entry.role is not Role.ASSISTANT:
        return ()
    stored: object = entry.meta.get("tool_calls")
    calls: list[ToolCall] = []
    for value in cast("list[object]", stored) if isinstance(stored, list) else ():
        with suppress(msgspec.ValidationError):
            call = msgspec.convert(value, _StoredCall)
            calls.append(ToolCall(call.id, call.name, call.arguments))
    return tuple(calls)


def may_have_run(entry: Entry) -> bool:
    """Whether calls of this answer may have begun: those of one that broke off, or ended otherwise than with calls, are
    never run."""
    return entry.complete and entry.meta.get("reason", StopReason.TOOL_CALLS) == StopReason.TOOL_CALLS


def described(call: ToolCall) -> str:
    """The call in a line: its tool and the text of its first argument, or all its arguments where that is no text."""
    arguments: Any = None
    with suppress(ValueError, RecursionError):
        arguments = json.loads(call.arguments)
    values = list(cast("dict[str, Any]", arguments).values()) if isinstance(arguments, dict) else []
    text = values[0] if values and isinstance(values[0], str) else call.arguments
    line = " ".join(f"{call.name}: {text}".split())
    return line if len(line) <= MOST_DESCRIBED else f"{line[: MOST_DESCRIBED - 1]}…"
