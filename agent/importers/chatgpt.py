"""ChatGPT's data export: `conversations.json`, each conversation a tree of nodes under `mapping`. Branches are kept."""

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

ROLES = {role.value: role for role in Role}
INTERNAL_CONTENT = frozenset({"thoughts", "reasoning_recap", "model_editable_context", "user_editable_context"})
"""Content types of the service's internal notes, which are not shown as messages."""


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
            ancestors[key] = key if record is not None else ancestor
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

    def _record(self, key: str, parent: str) -> ImportRecord | None:
        message = as_object(self._nodes[key].get("message"))
        metadata = as_object(message.get("metadata"))
        content = as_object(message.get("content"))
        text = content_text(content)
        if metadata.get("is_visually_hidden_from_conversation") or not text.strip():
            return None
        author = as_object(message.get("author"))
        role = ROLES.get(as_string(author.get("role")), Role.USER)
        model = as_string(metadata.get("model_slug"))
        return ImportRecord(
            location=f"{self._place}, message {key}",
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


def content_text(content: dict[str, Any]) -> str:
    """A message's text parts; pictures and audio as placeholders."""
    if content.get("content_type") in INTERNAL_CONTENT:
        return ""
    parts = as_list(content.get("parts")) or [content.get("text"), content.get("result")]
    return "\n".join(text for part in parts if (text := _part(part)))


def _part(part: Any) -> str:
    match part:
        case str():
            return part
        case {"content_type": "audio_transcription", "text": str(text)}:
            return text
        case {"content_type": "image_asset_pointer"}:
            return "[image]"
        case {"content_type": "audio_asset_pointer" | "real_time_user_audio_video_asset_pointer"}:
            return "[audio]"
        case {"text": str(text)}:
            return text
        case _:
            return ""


def _first_key(nodes: dict[str, Any]) -> str:
    """The id of a conversation without one: its first node's key."""
    return next(iter(nodes), "conversation")
