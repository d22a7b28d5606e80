"""JSONL with an entry per line, in the format of `import`. Importing an export gives the same entries.

Common fields are in the line itself, our own (kind, parent, title, meta) under `palimpsest`; there, damaged text has
`"trust": "approximate"`. The parts that were added to a message when it was sent (recalled passages, attachments) are
left out.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, cast

from agent.exporters.walk import ExportedEntry, OnTrouble, entries_of
from agent.importers.jsonl import KEYS
from foundation.trust import Trust
from memory.memory import Memory
from memory.records import Conversation, EntryKind


def jsonl_objects(
    memory: Memory, conversation: Conversation, on_trouble: OnTrouble | None = None
) -> Iterator[dict[str, Any]]:
    """An object per entry, all branches, parents first."""
    leaf = memory.conversations.entry(conversation.leaf).id if conversation.leaf is not None else ""
    for exported in entries_of(memory, conversation, on_trouble):
        yield _line(conversation, exported, leaf)


def _line(conversation: Conversation, exported: ExportedEntry, leaf: str) -> dict[str, Any]:
    entry = exported.entry
    meta = dict(entry.meta)
    imported_fields: object = meta.pop("imported", {})
    if not entry.complete and not meta.get("stopped"):
        meta["cut_off"] = True  # interrupted, or still being written
    if exported.lost:
        meta["lost"] = list(exported.lost)
    imported_fields = (
        cast("dict[str, Any]", imported_fields) if isinstance(imported_fields, dict) else {}
    )  # 0.3.0 may have imported any type
    if colliding := {key: value for key, value in imported_fields.items() if key in KEYS}:
        meta["imported"] = colliding
    own_fields: dict[str, Any] = {
        "source": conversation.source,
        "title": conversation.title,
        "created": _to_millisecond(conversation.created),
        "parent": exported.parent,
    }
    if entry.kind is not EntryKind.MESSAGE:
        own_fields["kind"] = entry.kind.value
    if not exported.exact:
        own_fields["trust"] = Trust.APPROXIMATE.value
    if meta:
        own_fields["meta"] = meta
    if entry.id == leaf:
        own_fields["leaf"] = True
    return {
        "id": entry.id,
        "conversation": conversation.id,
        "time": _to_millisecond(entry.time),
        "role": entry.role.value,
        "speaker": entry.speaker,
        "text": exported.text,
        **{key: value for key, value in imported_fields.items() if key not in KEYS},
        "palimpsest": own_fields,
    }


def _to_millisecond(moment: datetime) -> str:
    """The time to the millisecond, as stored."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
