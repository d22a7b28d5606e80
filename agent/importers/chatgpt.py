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
from agent.importers.timestamps import moment
from models.messages import Role

ROLES = {role.value: role for role in Role}
UNSAID = frozenset({"thoughts", "reasoning_recap", "model_editable_context", "user_editable_context"})
"""Kinds of content that are the service's own notes, shown to nobody as a message."""


def read_chatgpt(conversations: Iterable[Any]) -> Iterator[ParsedRecord]:
    """The messages of each conversation, parents first, and where it goes on from."""
    for number, found in enumerate(conversations, start=1):
        place = f"conversation {number}"
        conversation = as_object(found)
        if not isinstance(conversation.get("mapping"), dict):
            yield BadRecord(place, "it has no “mapping” of messages")
            continue
        yield from _Tree(conversation, place).read()


class _Tree:
    """One conversation of the export."""

    def __init__(self, found: dict[str, Any], place: str) -> None:
        self._found = found
        self._nodes = {key: as_object(node) for key, node in as_object(found["mapping"]).items()}
        self._place = place
        self._id = as_string(found.get("conversation_id")) or as_string(found.get("id")) or _first_key(self._nodes)
        self._title = as_string(found.get("title"))

    def read(self) -> Iterator[ParsedRecord]:
        kept: dict[str, str] = {}  # node → the nearest node at or above it that holds words
        for key, parent in self._in_order():
            above = kept.get(parent, "")
            record = self._record(key, above)
            kept[key] = key if record is not None else above
            if record is not None:
                yield record
        leaf = kept.get(as_string(self._found.get("current_node")), "")
        if leaf:
            yield ConversationLeaf(self._id, leaf)

    def _in_order(self) -> Iterator[tuple[str, str]]:
        """Every node once, each after its parent; what hangs on nothing, or in a ring, counts as a root."""
        seen: set[str] = set()
        roots = [key for key, node in self._nodes.items() if as_string(node.get("parent")) not in self._nodes]
        for root in (*roots, *self._nodes):
            waiting = [(root, "")]
            while waiting:
                key, parent = waiting.pop()
                if key in seen or key not in self._nodes:
                    continue
                seen.add(key)
                yield key, parent
                waiting.extend((child, key) for child in reversed(self._children(key)))

    def _children(self, key: str) -> list[str]:
        return [child for child in as_list(self._nodes[key].get("children")) if isinstance(child, str)]

    def _record(self, key: str, above: str) -> ImportRecord | None:
        message = as_object(self._nodes[key].get("message"))
        notes = as_object(message.get("metadata"))
        content = as_object(message.get("content"))
        text = words(content)
        if notes.get("is_visually_hidden_from_conversation") or not text.strip():
            return None
        author = as_object(message.get("author"))
        role = ROLES.get(as_string(author.get("role")), Role.USER)
        model = as_string(notes.get("model_slug"))
        return ImportRecord(
            place=f"{self._place}, message {key}",
            conversation=self._id,
            id=key,
            text=text,
            role=role,
            speaker=as_string(author.get("name")) or (model if role is Role.ASSISTANT else ""),
            time=moment(message.get("create_time")) or moment(self._found.get("create_time")),
            title=self._title,
            created=moment(self._found.get("create_time")),
            parent=above,
            meta={"model": model} if model else {},
        )


def words(content: dict[str, Any]) -> str:
    """What a message says: its text parts; pictures and files by name."""
    if content.get("content_type") in UNSAID:
        return ""
    parts = as_list(content.get("parts")) or [content.get("text"), content.get("result")]
    return "\n".join(said for part in parts if (said := _part(part)))


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
    """A conversation that names itself nowhere is known by its first node."""
    return next(iter(nodes), "conversation")
