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
from agent.importers.timestamps import moment
from models.messages import Role

ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}

ROOT = "00000000-0000-4000-8000-000000000000"
"""What the first message of a conversation says it answers."""


def read_claude(conversations: Iterable[Any]) -> Iterator[ParsedRecord]:
    """The messages of each conversation; a retried message is a branch where the export says what it answers."""
    for number, found in enumerate(conversations, start=1):
        place = f"conversation {number}"
        conversation = as_object(found)
        if not isinstance(conversation.get("chat_messages"), list):
            yield BadRecord(place, "it has no “chat_messages”")
            continue
        yield from _read_one(conversation, as_list(conversation["chat_messages"]), place)


def _read_one(found: dict[str, Any], messages: list[Any], place: str) -> Iterator[ParsedRecord]:
    conversation = as_string(found.get("uuid")) or place
    kept = {ROOT: ""}  # message → the nearest message at or above it that holds words
    last = ""
    for number, one in enumerate(messages, start=1):
        here = f"{place}, message {number}"
        message = as_object(one)
        if not message:
            yield BadRecord(here, "it is no object")
            continue
        key, text = as_string(message.get("uuid")), _words(message)
        answers = as_string(message.get("parent_message_uuid"))
        parent = kept.get(answers, last)
        if not text.strip():
            kept[key] = parent
            continue
        kept[key] = last = key
        yield ImportRecord(
            place=here,
            conversation=conversation,
            id=key,
            text=text,
            role=ROLES.get(as_string(message.get("sender")), Role.USER),
            time=moment(message.get("created_at")) or moment(found.get("created_at")),
            title=as_string(found.get("name")),
            created=moment(found.get("created_at")),
            parent=parent if key else None,
        )
    leaf = kept.get(as_string(found.get("current_leaf_message_uuid")), "")
    if leaf:
        yield ConversationLeaf(conversation, leaf)


def _words(message: dict[str, Any]) -> str:
    """The text blocks, or the plain text of older exports; then what was attached."""
    blocks = [_block(block) for block in as_list(message.get("content"))]
    said = "\n\n".join(block for block in blocks if block) or as_string(message.get("text"))
    files = [_attachment(as_object(one)) for one in as_list(message.get("attachments"))]
    return "\n\n".join(part for part in (said, *files) if part)


def _block(block: Any) -> str:
    """Words that were said; thinking and tool traffic were not."""
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case _:
            return ""


def _attachment(found: dict[str, Any]) -> str:
    name, text = as_string(found.get("file_name")), as_string(found.get("extracted_content"))
    return f"[attachment: {name or 'unnamed'}]\n{text}".rstrip() if name or text else ""
