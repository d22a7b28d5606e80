"""Claude's data export: `conversations.json`, each conversation a list of `chat_messages`."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

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
from models.messages import Role

ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}

ROOT = "00000000-0000-4000-8000-000000000000"
"""The parent id of a conversation's first message."""

_DOCUMENTS: Final = ("content", "file_text", "new_str", "insert_text")
"""The fields of a tool call that hold a document, or the new part of one: artifacts and created files."""
_LEFT_OUT: Final = {
    "thinking": SkipReason.REASONING,
    "redacted_thinking": SkipReason.REASONING,
    "tool_use": SkipReason.METADATA,
    "tool_result": SkipReason.METADATA,
    "token_budget": SkipReason.METADATA,
    "flag": SkipReason.METADATA,
}


def read_claude(conversations: Iterable[Any]) -> Iterator[ParsedRecord]:
    """The messages of each conversation; a retried message is a branch where the export names its parent."""
    for number, raw in enumerate(conversations, start=1):
        location = f"conversation {number}"
        conversation = as_object(raw)
        if name := knowledge_file(conversation):
            yield Skipped(location, name, SkipReason.KNOWLEDGE)
            continue
        if not isinstance(conversation.get("chat_messages"), list):
            yield BadRecord(location, "it has no “chat_messages”")
            continue
        yield from _read_one(conversation, as_list(conversation["chat_messages"]), location)


def knowledge_file(item: dict[str, Any]) -> str:
    """The file of the export that an object is of; "" for a conversation."""
    if "docs" in item or "prompt_template" in item:
        return "projects.json"
    return "memories.json" if "conversations_memory" in item or "project_memories" in item else ""


def knowledge_documents(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The documents and instructions of a project, or the memories: name and text of each."""
    project = as_string(item.get("name")) or "project"
    yield f"{project} instructions", as_string(item.get("prompt_template"))
    for document in map(as_object, as_list(item.get("docs"))):
        yield f"{project} {as_string(document.get('filename'))}", as_string(document.get("content"))
    yield "memory", as_string(item.get("conversations_memory"))
    for id_, text in as_object(item.get("project_memories")).items():
        yield f"memory {id_}", as_string(text)


def _read_one(conversation_object: dict[str, Any], messages: list[Any], position: str) -> Iterator[ParsedRecord]:
    conversation = as_string(conversation_object.get("uuid")) or position
    parents = {ROOT: ""}  # message → the nearest non-empty message at or above it
    last = ""
    for number, raw in enumerate(messages, start=1):
        location = f"{position}, message {number}"
        message = as_object(raw)
        if not message:
            yield BadRecord(location, "it is not an object")
            continue
        key, (text, skipped) = as_string(message.get("uuid")), _words(message, location)
        yield from skipped
        answers = as_string(message.get("parent_message_uuid"))
        parent = parents.get(answers, last)
        if not text.strip():
            parents[key] = parent
            yield from [] if skipped else [Skipped(location, "message", SkipReason.EMPTY)]
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


def _words(message: dict[str, Any], location: str) -> tuple[str, list[Skipped]]:
    """The text blocks and documents, or the plain text of older exports; then the attachments and files."""
    blocks = [(block, _block(block)) for block in map(as_object, as_list(message.get("content")))]
    text = "\n\n".join(text for _, text in blocks if text) or as_string(message.get("text"))
    attachments = [as_object(attachment) for attachment in as_list(message.get("attachments"))]
    names = {as_string(attachment.get("file_name")): None for attachment in attachments}
    files = [as_string(as_object(file).get("file_name")) for file in as_list(message.get("files"))]
    parts = [*map(_attachment, attachments), *(f"[file: {name}]" for name in files if name and name not in names)]
    skipped = [_skipped(block, location) for block, text in blocks if not text and block.get("type") != "text"]
    return "\n\n".join(part for part in (text, *parts) if part), skipped


def _block(block: dict[str, Any]) -> str:
    """The text of a block, or the document in a tool call; "" for other blocks."""
    match block:
        case {"type": "tool_use", "input": dict()}:
            fields = as_object(block["input"])
            document = next((text for key in _DOCUMENTS if (text := as_string(fields.get(key)))), "")
            label = "artifact" if block.get("name") == "artifacts" else "file"
            title = next((name for key in ("title", "path", "id") if (name := as_string(fields.get(key)))), "unnamed")
            return f"[{label}: {title}]\n{document}" if document else ""
        case {"type": str(kind), "text": str(text)} if kind not in _LEFT_OUT:
            return text
        case _:
            return ""


def _skipped(block: dict[str, Any], location: str) -> Skipped:
    kind = as_string(block.get("type")) or "block"
    name = as_string(block.get("name")) if kind.startswith("tool_") else ""
    return Skipped(location, f"{kind} {name}".rstrip(), _LEFT_OUT.get(kind, SkipReason.UNKNOWN))


def _attachment(attachment: dict[str, Any]) -> str:
    name, text = as_string(attachment.get("file_name")), as_string(attachment.get("extracted_content"))
    return f"[attachment: {name or 'unnamed'}]\n{text}".rstrip() if name or text else ""
