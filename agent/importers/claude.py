"""Claude's data export: `conversations.json`, each conversation a list of `chat_messages`."""

from collections.abc import Iterable, Iterator
from typing import Any

from agent.importers.record import (
    BadRecord,
    ConversationLeaf,
    ImportRecord,
    ParsedRecord,
    as_list,
    as_object,
    as_string,
)
from agent.importers.timestamps import parse_time
from models.messages import Role

ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}

ROOT = "00000000-0000-4000-8000-000000000000"
"""The parent id of a conversation's first message."""


def read_claude(conversations: Iterable[Any]) -> Iterator[ParsedRecord]:
    """The messages of each conversation; a retried message is a branch where the export names its parent."""
    for number, raw in enumerate(conversations, start=1):
        location = f"conversation {number}"
        conversation = as_object(raw)
        if not isinstance(conversation.get("chat_messages"), list):
            yield BadRecord(location, "it has no “chat_messages”")
            continue
        yield from _read_one(conversation, as_list(conversation["chat_messages"]), location)


def _read_one(conversation_object: dict[str, Any], messages: list[Any], position: str) -> Iterator[ParsedRecord]:
    conversation = as_string(conversation_object.get("uuid")) or position
    parents = {ROOT: ""}  # message → the nearest non-empty message at or above it
    last = ""
    for number, raw in enumerate(messages, start=1):
        location = f"{position}, message {number}"
        message = as_object(raw)
        if not message:
            yield BadRecord(location, "it is no object")
            continue
        key, text = as_string(message.get("uuid")), _words(message)
        answers = as_string(message.get("parent_message_uuid"))
        parent = parents.get(answers, last)
        if not text.strip():
            parents[key] = parent
            continue
        parents[key] = last = key
        yield ImportRecord(
            location=location,
            conversation=conversation,
            id=key,
            text=text,
            role=ROLES.get(as_string(message.get("sender")), Role.USER),
            time=parse_time(message.get("created_at")) or parse_time(conversation_object.get("created_at")),
            title=as_string(conversation_object.get("name")),
            created=parse_time(conversation_object.get("created_at")),
            parent=parent if key else None,
        )
    leaf = parents.get(as_string(conversation_object.get("current_leaf_message_uuid")), "")
    if leaf:
        yield ConversationLeaf(conversation, leaf)


def _words(message: dict[str, Any]) -> str:
    """The text blocks, or the plain text of older exports; then the attachments."""
    blocks = [_block(block) for block in as_list(message.get("content"))]
    text = "\n\n".join(block for block in blocks if block) or as_string(message.get("text"))
    files = [_attachment(as_object(attachment)) for attachment in as_list(message.get("attachments"))]
    return "\n\n".join(part for part in (text, *files) if part)


def _block(block: Any) -> str:
    """The text of a text block; "" for thinking and tool calls."""
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case _:
            return ""


def _attachment(attachment: dict[str, Any]) -> str:
    name, text = as_string(attachment.get("file_name")), as_string(attachment.get("extracted_content"))
    return f"[attachment: {name or 'unnamed'}]\n{text}".rstrip() if name or text else ""
