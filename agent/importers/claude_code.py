"""Session files of Claude Code: `~/.claude/projects/FOLDER/SESSION.jsonl`. Each event names the one before it."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from agent.importers.agent_sessions import CALLS, call_of, events, merged, result_fields, result_of, text_of, title_of
from agent.importers.jsonl import LineTooLong
from agent.importers.record import BadRecord, ImportRecord, ParsedRecord, as_list, as_object, as_string
from agent.importers.timestamps import parse_time
from memory.records import EntryKind
from models.messages import Role

_OF_THE_PROGRAM: Final = ("<command-", "<local-command-", "<system-reminder>", "<bash-stdout>")


def read_claude_code(lines: Iterable[bytes | LineTooLong], conversation: str) -> Iterator[ParsedRecord]:
    """The messages, tool calls and results; not those of subagents, thinking, and what the program wrote itself."""
    session = _Session(conversation)
    for event in events(lines):
        if isinstance(event, BadRecord):
            yield event
        else:
            yield from session.take(*event)
    yield from session.end()


class _Session:
    """Follows the events of one file. An answer comes as an event for each of its parts."""

    def __init__(self, conversation: str) -> None:
        self._conversation = conversation
        self._title = ""
        self._parents: dict[str, str] = {}  # event → the record at or above it
        self._groups: dict[str, str] = {}  # answer with calls, or a result of it → that answer
        self._tails: dict[str, str] = {}  # answer with calls → its newest result
        self._names: dict[str, str] = {}  # call → its tool
        self._answer: ImportRecord | None = None  # whose parts still come
        self._answer_id = ""  # the service's id of it

    def take(self, location: str, event: dict[str, Any]) -> Iterator[ParsedRecord]:
        if event.get("type") == "summary":
            self._title = self._title or title_of(as_string(event.get("summary")))
            return
        key = as_string(event.get("uuid"))
        if not key or event.get("isSidechain") is True:
            return
        message = as_object(event.get("message"))
        match event.get("type"):
            case "assistant":
                yield from self._take_answer(location, key, event, message)
            case "user" if not (event.get("isMeta") or event.get("isCompactSummary")):
                yield from self.end()
                yield from self._take_user(location, key, event, message)
            case _:
                self._parents[key] = self._parent(event)

    def end(self) -> Iterator[ParsedRecord]:
        """The answer whose parts came."""
        answer, self._answer = self._answer, None
        if answer is not None:
            yield answer

    def _take_answer(
        self, location: str, key: str, event: dict[str, Any], message: dict[str, Any]
    ) -> Iterator[ParsedRecord]:
        blocks = [as_object(block) for block in as_list(message.get("content"))]
        calls = [
            call_of(block.get("id"), block.get("name"), block.get("input"))
            for block in blocks
            if block.get("type") == "tool_use"
        ]
        self._names |= {call["id"]: call["name"] for call in calls}
        text = text_of(message.get("content"), "text")
        if not text.strip() and not calls:
            self._parents[key] = self._parent(event)
            return
        model = as_string(message.get("model"))
        meta = ({"model": model} if model else {}) | ({CALLS: calls} if calls else {})
        id_ = as_string(message.get("id"))
        record = self._record(location, key, event, text, meta=meta, role=Role.ASSISTANT)
        if self._answer is not None and id_ and id_ == self._answer_id:
            self._answer = merged(self._answer, record)
        else:
            yield from self.end()
            self._answer, self._answer_id = record, id_
        self._parents[key] = self._answer.id
        if calls:
            self._groups[self._answer.id] = self._answer.id

    def _take_user(
        self, location: str, key: str, event: dict[str, Any], message: dict[str, Any]
    ) -> Iterator[ParsedRecord]:
        blocks = [as_object(block) for block in as_list(message.get("content"))]
        self._parents[key] = self._parent(event)
        for number, block in enumerate(blocks):
            if block.get("type") != "tool_result":
                continue
            call = as_string(block.get("tool_use_id"))
            fields = result_fields(call, self._names.get(call, ""), failed=block.get("is_error") is True)
            id_ = f"{key}-{number}" if number else key
            result = self._record(location, id_, event, text_of(block.get("content"), "text"), meta=fields)
            yield result_of(result, fields)
            if group := self._groups.get(result.parent or ""):
                self._groups[id_], self._tails[group] = group, id_
            self._parents[key] = id_
        text = text_of(message.get("content"), "text")
        if not text.strip() or text.lstrip().startswith(_OF_THE_PROGRAM):
            return
        self._title = self._title or title_of(text)
        yield self._record(location, f"{key}-text" if self._parents[key] == key else key, event, text, meta={})
        self._parents[key] = f"{key}-text" if self._parents[key] == key else key

    def _parent(self, event: dict[str, Any]) -> str:
        """The record that the event follows; "" for the first."""
        key = as_string(event.get("uuid"))
        above = as_string(event.get("parentUuid")) or as_string(event.get("logicalParentUuid"))
        parent = self._parents.get(key) or self._parents.get(above, "")
        return self._tails.get(self._groups.get(parent, ""), parent)

    def _record(
        self,
        location: str,
        id_: str,
        event: dict[str, Any],
        text: str,
        *,
        meta: dict[str, Any],
        role: Role = Role.USER,
    ) -> ImportRecord:
        return ImportRecord(
            location=location,
            conversation=as_string(event.get("sessionId")) or self._conversation,
            id=id_,
            text=text,
            role=role,
            kind=EntryKind.MESSAGE,
            time=parse_time(event.get("timestamp")),
            created=parse_time(event.get("timestamp")),
            title=self._title or None,
            parent=self._parent(event),
            meta=meta,
        )
