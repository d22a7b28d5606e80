"""Session files of coding agents: what those of Claude Code and of Codex have in common. A line is an event."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

from msgspec import structs

from agent.importers.jsonl import LineTooLong, NoEntry, parse_object
from agent.importers.record import BadRecord, ImportRecord, as_list, as_string
from memory.origin import UNTRUSTED
from memory.records import EntryKind
from models.messages import Role

CALLS: Final = "tool_calls"
MAX_TITLE: Final = 80  # characters
Tool = tuple[dict[str, str], str, bool]
"""A call, its output, and whether it failed."""
AGENT: Final = "agent"
"""The speaker of the messages that the main agent writes to a subagent."""
_NETWORK_TOOLS: Final = ("WebFetch", "WebSearch", "web_search", "web_search_call")
PROBED_LINES: Final = 50  # lines that are read to detect the format
PROBED_BYTES: Final = 4 * 2**20


def events(lines: Iterable[bytes | LineTooLong]) -> Iterator[tuple[str, dict[str, Any]] | BadRecord]:
    """Each line's location and object; a BadRecord for one that cannot be read."""
    for number, raw in enumerate(lines, start=1):
        location = f"line {number}"
        if isinstance(raw, LineTooLong):
            yield BadRecord(location, f"it has {raw.size:,} bytes; the maximum is {raw.most:,} (imports.line_mb)")
        elif raw.strip():
            try:
                yield location, parse_object(raw.removeprefix(b"\xef\xbb\xbf"))
            except NoEntry as error:
                yield BadRecord(location, str(error))


def agent_format(lines: Iterable[bytes | LineTooLong]) -> str:
    """`codex`, `claude-code` or `gemini` by the first lines of a JSONL file; "" for another."""
    for number, event in enumerate(events(lines)):
        if number >= PROBED_LINES:
            break
        if isinstance(event, BadRecord):
            continue
        match event[1]:
            case {"type": "session_meta", "payload": {"id": str()}}:
                return "codex"
            case {"type": "user" | "assistant", "sessionId": str(), "message": {"role": _}}:
                return "claude-code"
            case {"sessionId": str(), "projectHash": str()}:
                return "gemini"
            case {"text": str()}:
                return ""
            case _:
                pass
    return ""


def call_of(id_: Any, name: Any, arguments: Any) -> dict[str, str]:
    """A tool call as entries keep it. `arguments` is JSON text, or a value of JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": as_string(id_), "name": as_string(name), "arguments": text}


def result_fields(call_id: str, name: str, *, failed: bool) -> dict[str, Any]:
    """The meta of a tool's result. What came from the network or from a server is marked as untrusted."""
    fields: dict[str, Any] = {"call_id": call_id, "name": name, "failed": failed}
    if name in _NETWORK_TOOLS or "__" in name:
        fields[UNTRUSTED] = name
    return fields


def result_of(record: ImportRecord, fields: dict[str, Any]) -> ImportRecord:
    """The record as the result of a tool."""
    return structs.replace(
        record, role=Role.TOOL, kind=EntryKind.TOOL_RESULT, speaker=as_string(fields.get("name")), meta=fields
    )


def merged(first: ImportRecord, second: ImportRecord) -> ImportRecord:
    """One answer of two parts: their texts, and the calls of both."""
    calls = [*as_list(first.meta.get(CALLS)), *as_list(second.meta.get(CALLS))]
    return structs.replace(
        first,
        text="\n\n".join(text for text in (first.text, second.text) if text),
        meta=first.meta | ({CALLS: calls} if calls else {}),
    )


def with_results(record: ImportRecord, model: str, tools: Iterable[Tool]) -> Iterator[ImportRecord]:
    """The message with the calls of its tools, then their results in a chain. Nothing for an empty message."""
    tools = list(tools)
    calls = [call for call, _, _ in tools]
    meta = ({"model": model} if model else {}) | ({CALLS: calls} if calls else {})
    if record.text or calls:
        yield structs.replace(record, meta=meta)
    parent = record.id
    for number, (call, output, failed) in enumerate(tools):
        fields = result_fields(call["id"], call["name"], failed=failed)
        result = structs.replace(record, id=f"{record.id}-{number}", parent=parent, text=output)
        yield result_of(result, fields)
        parent = result.id


def title_of(text: str) -> str:
    """The first line of a conversation's first message, cut."""
    line = " ".join(text.strip().partition("\n")[0].split())
    return line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1]}…"


class Repeats:
    """Recognizes messages that a file records in two forms: the first form of each is imported."""

    def __init__(self) -> None:
        self._balance: Counter[int] = Counter()

    def holds(self, words: str, form: Literal[1, -1]) -> bool:
        """Whether the message was read in the other form before."""
        key = hash("".join(words.split()))
        self._balance[key] += form
        return self._balance[key] * form <= 0
