"""Session files of Codex: `~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl`. The first event describes the session."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from agent.importers.agent_sessions import CALLS, call_of, events, merged, result_fields, result_of, text_of, title_of
from agent.importers.jsonl import LineTooLong
from agent.importers.record import BadRecord, ImportRecord, ParsedRecord, as_object, as_string
from agent.importers.skipped import Skipped
from agent.importers.timestamps import parse_time
from foundation.bounded_json import BadJson, load_json
from models.messages import Role

_OF_THE_PROGRAM: Final = ("<environment_context>", "<user_instructions>", "<permissions", "# AGENTS.md instructions")
_ROLES: Final = {"user": Role.USER, "assistant": Role.ASSISTANT}


def read_codex(lines: Iterable[bytes | LineTooLong], conversation: str) -> Iterator[ParsedRecord]:
    """The messages, tool calls and results; not reasoning, and not what the program wrote itself."""
    session = _Rollout(conversation)
    for event in events(lines):
        if isinstance(event, BadRecord):
            yield event
        else:
            yield from session.take(*event)
    yield from session.end()


class _Rollout:
    """Follows the events of one file, in their order."""

    def __init__(self, conversation: str) -> None:
        self._conversation = conversation
        self._title = ""
        self._names: dict[str, str] = {}  # call → its tool
        self._answer: ImportRecord | None = None  # whose calls still come

    def take(self, location: str, event: dict[str, Any]) -> Iterator[ParsedRecord]:
        item = as_object(event.get("payload"))
        if event.get("type") == "session_meta":
            self._conversation = as_string(item.get("id")) or self._conversation
        if event.get("type") != "response_item":
            return
        match item.get("type"):
            case "message":
                yield from self._take_message(location, event, item)
            case "function_call" | "custom_tool_call":
                arguments = (
                    item.get("arguments") if item.get("type") == "function_call" else {"input": item.get("input")}
                )
                call = call_of(item.get("call_id"), item.get("name"), arguments)
                self._names[call["id"]] = call["name"]
                record = self._record(location, event, "", Role.ASSISTANT, {CALLS: [call]})
                self._answer = merged(self._answer, record) if self._answer else record
            case "function_call_output" | "custom_tool_call_output":
                yield from self.end()
                call_id = as_string(item.get("call_id"))
                text, failed = _output(item.get("output"))
                fields = result_fields(call_id, self._names.get(call_id, ""), failed=failed)
                yield result_of(self._record(location, event, text, Role.TOOL, fields), fields)
            case _:
                yield Skipped(location, as_string(item.get("type")))

    def end(self) -> Iterator[ParsedRecord]:
        """The answer whose calls came."""
        answer, self._answer = self._answer, None
        if answer is not None:
            yield answer

    def _take_message(self, location: str, event: dict[str, Any], item: dict[str, Any]) -> Iterator[ParsedRecord]:
        role = _ROLES.get(as_string(item.get("role")))
        text = text_of(item.get("content"), "input_text", "output_text", "text")
        if role is None or not text.strip() or text.lstrip().startswith(_OF_THE_PROGRAM):
            return
        yield from self.end()
        if role is Role.ASSISTANT:
            self._answer = self._record(location, event, text, role, {})
            return
        self._title = self._title or title_of(text)
        yield self._record(location, event, text, role, {})

    def _record(
        self, location: str, event: dict[str, Any], text: str, role: Role, meta: dict[str, Any]
    ) -> ImportRecord:
        time = parse_time(event.get("timestamp"))
        return ImportRecord(
            location=location,
            conversation=self._conversation,
            text=text,
            role=role,
            time=time,
            created=time,
            title=self._title or None,
            meta=meta,
        )


def _output(value: Any) -> tuple[str, bool]:
    """The text of a tool's output, and whether the tool failed. Older versions wrap it in JSON with an exit code."""
    if not isinstance(value, str):
        fields = as_object(value)
        return as_string(fields.get("content")) or text_of(value, "input_text", "text"), fields.get("success") is False
    if value.startswith("{"):
        try:
            match load_json(value):
                case {"output": str(text), "metadata": {"exit_code": code}}:
                    return text, code != 0
                case _:
                    pass
        except BadJson:
            pass
    return value, False
