"""ChatGPT's data export: `conversations.json`, each conversation a tree of nodes under `mapping`. Branches are kept."""

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
from foundation.bounded_json import BadJson, load_json
from models.messages import Role

ROLES = {role.value: role for role in Role}
_INTERNAL: Final = {
    "thoughts": SkipReason.REASONING,
    "reasoning_recap": SkipReason.REASONING,
    "model_editable_context": SkipReason.METADATA,
    "user_editable_context": SkipReason.METADATA,
}
"""Content types of the service's internal notes, which are not shown as messages."""
_LEFT_OUT: Final = _INTERNAL | dict.fromkeys(
    ("message", "text", "code", "multimodal_text", "execution_output"), SkipReason.EMPTY
)
_AUDIO: Final = ("audio_asset_pointer", "real_time_user_audio_video_asset_pointer")
_CANVAS: Final = "canmore."
"""Begins the names of the tools that write a canvas."""


def read_chatgpt(conversations: Iterable[Any]) -> Iterator[ParsedRecord]:
    """The messages of each conversation, parents first, and its leaf."""
    for number, raw in enumerate(conversations, start=1):
        location = f"conversation {number}"
        conversation = as_object(raw)
        if not isinstance(conversation.get("mapping"), dict):
            yield BadRecord(location, "it has no “mapping” of messages")
            continue
        yield from _Tree(conversation, location).read()


class _Tree:
    """One conversation of the export."""

    def __init__(self, conversation: dict[str, Any], location: str) -> None:
        self._conversation = conversation
        self._nodes = {key: as_object(node) for key, node in as_object(conversation["mapping"]).items()}
        self._place = location
        self._id = (
            as_string(conversation.get("conversation_id"))
            or as_string(conversation.get("id"))
            or _first_key(self._nodes)
        )
        self._title = as_string(conversation.get("title"))

    def read(self) -> Iterator[ParsedRecord]:
        ancestors: dict[str, str] = {}  # node → the nearest non-empty node at or above it
        for key, parent in self._parents_first():
            ancestor = ancestors.get(parent, "")
            record = self._record(key, ancestor)
            ancestors[key] = key if isinstance(record, ImportRecord) else ancestor
            if record is not None:
                yield record
        leaf = ancestors.get(as_string(self._conversation.get("current_node")), "")
        if leaf:
            yield ConversationLeaf(self._id, leaf)

    def _parents_first(self) -> Iterator[tuple[str, str]]:
        """Every node once, after its parent, with the parent's key; orphans and cycles count as roots."""
        seen: set[str] = set()
        roots = [key for key, node in self._nodes.items() if as_string(node.get("parent")) not in self._nodes]
        for root in (*roots, *self._nodes):
            stack = [(root, "")]
            while stack:
                key, parent = stack.pop()
                if key in seen or key not in self._nodes:
                    continue
                seen.add(key)
                yield key, parent
                stack.extend((child, key) for child in reversed(self._children(key)))

    def _children(self, key: str) -> list[str]:
        return [child for child in as_list(self._nodes[key].get("children")) if isinstance(child, str)]

    def _record(self, key: str, parent: str) -> ImportRecord | Skipped | None:
        message = as_object(self._nodes[key].get("message"))
        metadata, author = as_object(message.get("metadata")), as_object(message.get("author"))
        if not message:
            return None
        kind = as_string(as_object(message.get("content")).get("content_type")) or "message"
        location = f"{self._place}, message {key}"
        if metadata.get("is_visually_hidden_from_conversation") or as_string(author.get("name")).startswith(_CANVAS):
            return Skipped(location, as_string(author.get("name")) or kind, SkipReason.METADATA)
        text = _message_text(message)
        if not text.strip():
            return Skipped(location, kind, _LEFT_OUT.get(kind, SkipReason.UNKNOWN))
        role = ROLES.get(as_string(author.get("role")), Role.USER)
        model = as_string(metadata.get("model_slug"))
        return ImportRecord(
            location=location,
            conversation=self._id,
            id=key,
            text=text,
            role=role,
            speaker=as_string(author.get("name")) or (model if role is Role.ASSISTANT else ""),
            time=parse_time(message.get("create_time")) or parse_time(self._conversation.get("create_time")),
            title=self._title,
            created=parse_time(self._conversation.get("create_time")),
            parent=parent,
            meta={"model": model} if model else {},
        )


def _message_text(message: dict[str, Any]) -> str:
    """The text of a message; the document of a canvas; the names of its files where it has no text."""
    text = content_text(as_object(message.get("content")))
    if as_string(message.get("recipient")).startswith(_CANVAS):
        text = _canvas_text(text)
    files = [as_object(file) for file in as_list(as_object(message.get("metadata")).get("attachments"))]
    return text if text.strip() else "\n".join(f"[file: {as_string(file.get('name')) or 'unnamed'}]" for file in files)


def _canvas_text(text: str) -> str:
    """The document that a call writes into a canvas: whole, its new parts, or the comments on it."""
    try:
        fields = as_object(load_json(text))
    except BadJson:
        return text
    changes = map(as_object, [*as_list(fields.get("updates")), *as_list(fields.get("comments"))])
    parts = [fields.get("content"), *(change.get("replacement") or change.get("comment") for change in changes)]
    document = "\n\n".join(part for part in map(as_string, parts) if part)
    return f"[canvas: {as_string(fields.get('name')) or 'unnamed'}]\n{document}" if document else text


def content_text(content: dict[str, Any]) -> str:
    """A message's text parts; pictures and audio as placeholders."""
    if content.get("content_type") in _INTERNAL:
        return ""
    parts = as_list(content.get("parts")) or [content.get("text"), content.get("result")]
    return "\n".join(text for part in parts if (text := _part(part)))


def _part(part: Any) -> str:
    match part:
        case str():
            return part
        case {"content_type": "image_asset_pointer"}:
            return "[image]"
        case {"text": str(text)}:
            return text
        case {"content_type": str(kind)}:
            return "[audio]" if kind in _AUDIO else f"[{kind}]"
        case _:
            return ""


def _first_key(nodes: dict[str, Any]) -> str:
    """The id of a conversation without one: its first node's key."""
    return next(iter(nodes), "conversation")
