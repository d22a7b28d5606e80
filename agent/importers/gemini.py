"""Sessions of Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-….jsonl`, and the older `.json`, which is one object."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from agent.importers import agent_sessions as sessions
from agent.importers.jsonl import LineTooLong
from agent.importers.record import (
    BadRecord,
    ConversationLeaf,
    ImportRecord,
    ParsedRecord,
    as_list,
    as_object,
    as_string,
)
from agent.importers.skipped import Skipped, SkipReason
from agent.importers.timestamps import parse_time
from agent.importers.user_text import as_written, read_blocks
from models.messages import Role

_APP_BLOCKS: Final = re.compile(
    r"\s*(?:<(hook_context|session_context|state_snapshot)>.*?</\1>"
    r"|--- Content from referenced files ---(?:.*--- End of content ---|.*))",
    re.DOTALL,
)
_PARTS: Final = dict.fromkeys(("functionCall", "functionResponse"), SkipReason.REPEATED) | {
    "thought": SkipReason.REASONING
}
_METADATA: Final = ("info", "error", "warning")


def read_gemini(lines: Iterable[bytes | LineTooLong], conversation: str) -> Iterator[ParsedRecord]:
    """The messages, tool calls and results. What the user rewound is a branch."""
    chat = _Chat(conversation)
    for event in sessions.events(lines):
        yield from [event] if isinstance(event, BadRecord) else chat.take(*event)
    yield from chat.end()


def read_gemini_object(session: dict[str, Any], conversation: str) -> Iterator[ParsedRecord]:
    """The same of an older file."""
    chat = _Chat(conversation)
    yield from chat.take("session", session)
    yield from chat.end()


class _Chat:
    """Follows the records of one file. A message is written again, whole, when its tool calls or figures come."""

    def __init__(self, conversation: str) -> None:
        self._conversation, self._title, self._speaker = conversation, "", ""
        self._parents: dict[str, str] = {}  # message → the record before it
        self._last = ""  # record
        self._message: tuple[str, dict[str, Any]] | None = None  # which may be written again
        self._words: set[int] = set()  # hashes of the user's messages

    def take(self, location: str, event: dict[str, Any]) -> Iterator[ParsedRecord]:
        match event:
            case {"$rewindTo": str(id_)}:
                yield from self._finish()
                self._last = self._parents.get(id_, "")
                yield Skipped(location, "$rewindTo", SkipReason.METADATA)
            case {"id": str(), "type": str()}:
                yield from self._take_message(location, event)
            case {"$set": dict()} | {"sessionId": str()}:
                fields = as_object(event.get("$set", event))
                self._conversation = as_string(fields.get("sessionId")) or self._conversation
                self._speaker = sessions.AGENT if fields.get("kind") == "subagent" else self._speaker
                yield Skipped(location, "session", SkipReason.METADATA)
                for number, message in enumerate(map(as_object, as_list(fields.get("messages"))), start=1):
                    yield from self._take_message(f"{location}, message {number}", message, is_history="$set" in event)
            case _:
                yield Skipped(location, next(iter(event), "record"))

    def end(self) -> Iterator[ParsedRecord]:
        yield from self._finish()
        if self._last:
            yield ConversationLeaf(self._conversation, self._last)

    def _take_message(
        self, location: str, message: dict[str, Any], *, is_history: bool = False
    ) -> Iterator[ParsedRecord]:
        """A message; one of the history that the model was sent may be recorded already, with or without its id."""
        id_ = as_string(message.get("id")) or location
        words = _user_words(message, "")[0] if message.get("type") == "user" else ""
        is_newer = not is_history and self._message is not None and self._message[1]["id"] == id_
        if is_newer or id_ in self._parents or (is_history and hash(words) in self._words):
            self._message = (location, message) if is_newer else self._message
            yield Skipped(location, "message written again", SkipReason.REPEATED)
            return
        yield from self._finish()
        self._words |= {hash(words)} if words else set()
        self._parents[id_], self._message = self._last, (location, message | {"id": id_})

    def _finish(self) -> Iterator[ParsedRecord]:
        if self._message is None:
            return
        (location, message), self._message = self._message, None
        kind = as_string(message.get("type"))
        if kind not in {"user", "gemini"}:
            yield Skipped(location, kind or "message", SkipReason.METADATA if kind in _METADATA else SkipReason.UNKNOWN)
            return
        if kind == "user":
            role, (text, skipped) = Role.USER, _user_words(message, location)
            self._title = self._title or sessions.title_of(text)
        else:
            role = Role.ASSISTANT
            text, skipped = read_blocks(_blocks(message.get("content")), as_written, location, _PARTS)
        thoughts = as_list(message.get("thoughts"))
        skipped += [Skipped(location, "thoughts", SkipReason.REASONING, len(thoughts))] if thoughts else []
        time, before = parse_time(message.get("timestamp")), self._last
        record = ImportRecord(
            location=location,
            conversation=self._conversation,
            id=message["id"],
            text=text,
            role=role,
            speaker=self._speaker if role is Role.USER else "",
            time=time,
            created=time,
            title=self._title or None,
            parent=before,
        )
        tools = [_tool(as_object(tool), location) for tool in as_list(message.get("toolCalls"))]
        for stored in sessions.with_results(record, as_string(message.get("model")), tools):
            self._last = stored.id
            yield stored
        yield from skipped or ([Skipped(location, kind, SkipReason.EMPTY)] if self._last == before else [])


def _tool(tool: dict[str, Any], location: str) -> sessions.Tool:
    blocks = [block | {"type": "text"} if "text" in block else block for block in _blocks(tool.get("result"))]
    output = read_blocks(blocks, as_written, location, _PARTS)[0] or as_string(tool.get("resultDisplay"))
    return sessions.call_of(tool.get("id"), tool.get("name"), tool.get("args")), output, tool.get("status") == "error"


def _user_words(message: dict[str, Any], location: str) -> tuple[str, list[Skipped]]:
    """What the user typed: as the app displayed it where that differs from what it sent."""
    texts: list[str] = []
    others: list[dict[str, Any]] = []
    for block in _blocks(message.get("displayContent")) or _blocks(message.get("content")):
        texts, others = ([*texts, block["text"]], others) if block["type"] == "text" else (texts, [*others, block])
    return read_blocks([{"type": "text", "text": "\n".join(texts)}, *others], _without_app, location, _PARTS)


def _without_app(text: str, location: str) -> tuple[str, list[Skipped]]:
    """The text without the blocks of hooks and of the session, and without the files that it refers to."""
    words, count = _APP_BLOCKS.subn("", text)
    return words.strip(), [Skipped(location, "context of the app", SkipReason.METADATA, count)] if count else []


def _blocks(content: Any) -> list[dict[str, Any]]:
    """Parts of Gemini's API as blocks with a `type`."""
    parts = as_list(content) or [content]
    return [_block({"text": part} if isinstance(part, str) else as_object(part)) for part in parts if part]


def _block(part: dict[str, Any]) -> dict[str, Any]:
    match part:
        case {"thought": True}:
            return {"type": "thought"}
        case {"text": str(text)}:
            return {"type": "text", "text": text}
        case {"inlineData": dict()} | {"fileData": dict()}:
            data = as_object(part.get("inlineData") or part.get("fileData"))
            source = {"media_type": data.get("mimeType"), "data": data.get("data"), "url": data.get("fileUri")}
            kind = "image" if as_string(data.get("mimeType")).startswith("image/") else "document"
            return {"type": kind, "title": data.get("displayName"), "source": source}
        case {"functionResponse": {"response": dict()}}:
            response = as_object(part["functionResponse"]["response"])
            output: Any = response.get("output", response.get("error", response))
            text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
            return {"type": "functionResponse", "text": text}
        case _:
            return {"type": next(iter(part), "part")}
