"""Session files of Codex: `~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl`. The first event describes the session."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from agent.importers import agent_sessions as sessions
from agent.importers.agent_sessions import CALLS, title_of
from agent.importers.jsonl import LineTooLong
from agent.importers.record import BadRecord, ImportRecord, ParsedRecord, as_object, as_string
from agent.importers.skipped import Skipped, SkipReason
from agent.importers.timestamps import parse_time
from agent.importers.user_text import Blocks, as_written, read_blocks, removed, without_blocks
from foundation.bounded_json import BadJson, load_json
from models.messages import Role

REPLAY_TIME: Final = timedelta(seconds=10)
"""After its start, within which a forked session repeats its parent."""

_COMMAND: Final = re.compile(r"<command>\s*(.*?)\s*</command>", re.DOTALL)
_IDE_CONTEXT: Final = re.compile(r"\s*(?:# [^\n]*:\s*\n|## My request for Codex:)")
_REQUEST: Final = re.compile(r"(?m)^## My request for Codex:[ \t]*\n?")


def _typed_command(content: str) -> str:
    return f"!{match[1]}" if (match := _COMMAND.search(content)) else content.strip()


_REMOVED: Final = """environment_context user_instructions permissions INSTRUCTIONS turn_aborted skill
    skills_instructions apps_instructions plugins_instructions recommended_plugins collaboration_mode personality_spec
    model_switch hook_prompt user_action subagent_notification goal_context codex_internal_context"""
_BLOCKS: Final[Blocks] = dict.fromkeys(_REMOVED.split(), removed) | {"user_shell_command": _typed_command}
_IMAGE_TAG: Final = re.compile(r"\s*</?image(?: [^<>\n]*)?>\s*")
_ROLES: Final = {"user": Role.USER, "assistant": Role.ASSISTANT}
_METADATA: Final = """session_meta turn_context world_state compacted inter_agent_communication
    inter_agent_communication_metadata additional_tools agent_message compaction compaction_summary compaction_trigger
    context_compaction ghost_snapshot tool_search_call tool_search_output web_search_call"""
_REASONS: Final = dict.fromkeys(_METADATA.split(), SkipReason.METADATA) | {
    "reasoning": SkipReason.REASONING,
    "image_generation_call": SkipReason.MEDIA,
}
_EVENT_REASONS: Final = {
    "agent_message": SkipReason.REPEATED,
    "agent_reasoning": SkipReason.REASONING,
    "agent_reasoning_raw_content": SkipReason.REASONING,
}


def read_codex(lines: Iterable[bytes | LineTooLong], conversation: str) -> Iterator[ParsedRecord]:
    """The messages, tool calls and results."""
    session = _Rollout(conversation)
    for event in sessions.events(lines):
        if isinstance(event, BadRecord):
            yield event
        else:
            yield from session.take(*event)
    yield from session.end()


class _Rollout:
    """Follows the events of one file, in their order."""

    def __init__(self, conversation: str) -> None:
        self._conversation = conversation
        self._id = ""  # in the first `session_meta`
        self._started: datetime | None = None
        self._ancestors: dict[str, None] = {}  # sessions that this one was forked from
        self._title = ""
        self._names: dict[str, str] = {}  # call → its tool
        self._typed = sessions.Repeats()  # user messages as messages (1) and as events (-1)
        self._answer: ImportRecord | None = None  # whose calls still come

    def take(self, location: str, event: dict[str, Any]) -> Iterator[ParsedRecord]:
        item = as_object(event.get("payload"))
        match event.get("type"), item.get("type"):
            case "response_item", "message":
                yield from self._take_message(location, event, item)
            case "response_item", "function_call" | "custom_tool_call" | "local_shell_call":
                self._take_call(location, event, item)
            case "response_item", "function_call_output" | "custom_tool_call_output":
                yield from self.end()
                call_id = as_string(item.get("call_id"))
                text, failed, skipped = _output(item.get("output"), location)
                yield from skipped
                fields = sessions.result_fields(call_id, self._names.get(call_id, ""), failed=failed)
                yield sessions.result_of(self._record(location, event, text, Role.TOOL, fields), fields)
            case "event_msg", "user_message" | "entered_review_mode" if text := (
                as_string(item.get("message")) or as_string(as_object(item.get("target")).get("instructions"))
            ):
                words, skipped = _words(text, location)
                yield from self._take_words(location, event, words, -1) if words else skipped
            case "event_msg", detail:
                name = as_string(detail)
                yield Skipped(location, f"event_msg {name}", _EVENT_REASONS.get(name, SkipReason.METADATA))
            case kind, detail:
                if kind == "session_meta":
                    self._take_start(event, item)
                name = as_string(detail if kind == "response_item" else kind)
                yield Skipped(location, name, _REASONS.get(name, SkipReason.UNKNOWN))

    def end(self) -> Iterator[ParsedRecord]:
        """The answer whose calls came."""
        answer, self._answer = self._answer, None
        if answer is not None:
            yield answer

    def _take_start(self, event: dict[str, Any], item: dict[str, Any]) -> None:
        """A forked session has the events of its parents after its own first one."""
        id_ = as_string(item.get("id"))
        if not self._id:
            self._id, self._started = id_, parse_time(event.get("timestamp"))
            self._conversation = id_ or self._conversation
        for ancestor in (id_, as_string(item.get("forked_from_id"))):
            if ancestor and ancestor != self._id:
                self._ancestors[ancestor] = None

    def _take_call(self, location: str, event: dict[str, Any], item: dict[str, Any]) -> None:
        match item.get("type"):
            case "function_call":
                name, arguments = item.get("name"), item.get("arguments")
            case "custom_tool_call":
                name, arguments = item.get("name"), {"input": item.get("input")}
            case _:
                name, arguments = "local_shell", as_object(item.get("action"))
        call = sessions.call_of(item.get("call_id") or item.get("id"), name, arguments)
        self._names[call["id"]] = call["name"]
        record = self._record(location, event, "", Role.ASSISTANT, {CALLS: [call]})
        self._answer = sessions.merged(self._answer, record) if self._answer else record

    def _take_message(self, location: str, event: dict[str, Any], item: dict[str, Any]) -> Iterator[ParsedRecord]:
        role = _ROLES.get(as_string(item.get("role")))
        if role is None:
            yield Skipped(location, f"message {as_string(item.get('role'))}", SkipReason.METADATA)
            return
        text, skipped = read_blocks(item.get("content"), _words if role is Role.USER else as_written, location, {})
        yield from skipped
        if not text:
            yield from [] if skipped else [Skipped(location, "message", SkipReason.EMPTY)]
        elif role is Role.ASSISTANT:
            yield from self.end()
            self._answer = self._record(location, event, text, role, {})
        else:
            yield from self._take_words(location, event, text, 1)

    def _take_words(
        self, location: str, event: dict[str, Any], words: str, form: Literal[1, -1]
    ) -> Iterator[ParsedRecord]:
        """What the user typed is a message and an event, in any order."""
        if self._typed.holds(words, form):
            yield Skipped(location, "user_message", SkipReason.REPEATED)
            return
        yield from self.end()
        self._title = self._title or title_of(words)
        yield self._record(location, event, words, Role.USER, {})

    def _record(
        self, location: str, event: dict[str, Any], text: str, role: Role, meta: dict[str, Any]
    ) -> ImportRecord:
        time = parse_time(event.get("timestamp"))
        repeats = time and self._started and time <= self._started + REPLAY_TIME
        return ImportRecord(
            location=location,
            conversation=self._conversation,
            text=text,
            role=role,
            time=time,
            created=time,
            title=self._title or None,
            replayed_from=tuple(self._ancestors) if repeats else (),
            meta=meta,
        )


def _words(text: str, location: str) -> tuple[str, list[Skipped]]:
    """The user's words in a text, without what an editor and the app put around them; and what that is."""
    skipped: list[Skipped] = []
    if _IMAGE_TAG.fullmatch(text):
        return "", [Skipped(location, "<image>", SkipReason.METADATA)]
    if _IDE_CONTEXT.match(text) and (match := _REQUEST.search(text)):
        text, skipped = text[match.end() :].strip(), [Skipped(location, "IDE context", SkipReason.METADATA)]
    words, app_blocks = without_blocks(text, _BLOCKS, location)
    return words, skipped + app_blocks


def _output(value: Any, location: str) -> tuple[str, bool, list[Skipped]]:
    """The text of a tool's output, and whether the tool failed. Older versions wrap it in JSON with an exit code."""
    if not isinstance(value, str):
        fields = as_object(value)
        text, skipped = read_blocks(fields.get("content") or value, as_written, location, {})
        return text, fields.get("success") is False, skipped
    if value.startswith("{"):
        try:
            match load_json(value):
                case {"output": str(text), "metadata": {"exit_code": code}}:
                    return text, code != 0, []
                case _:
                    pass
        except BadJson:
            pass
    return value, False, []
