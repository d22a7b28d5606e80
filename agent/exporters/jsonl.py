"""JSONL, a line an entry, as `import` takes it. Importing an export gives the same entries.

Text that is damaged, and so not to the letter what was stored, has `"trust": "approximate"` there.

What other programs need stands in the line itself; what only we know (kind, parent, title, meta) under `palimpsest`.
The parts that were put beside a message when it was sent (what was recalled, attachments) are not conversation and
are left out.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, cast

from agent.exporters.walk import ExportedEntry, OnTrouble, entries_of
from agent.importers.jsonl import KEYS
from foundation.trust import Trust
from memory.memory import Memory
from memory.records import Conversation, EntryKind


def lines(memory: Memory, conversation: Conversation, on_trouble: OnTrouble | None = None) -> Iterator[dict[str, Any]]:
    """One object an entry, all branches, parents first."""
    leaf = memory.conversations.entry(conversation.leaf).id if conversation.leaf is not None else ""
    for exported in entries_of(memory, conversation, on_trouble):
        yield _line(conversation, exported, leaf)


def _line(conversation: Conversation, exported: ExportedEntry, leaf: str) -> dict[str, Any]:
    entry = exported.entry
    meta = dict(entry.meta)
    rest: object = meta.pop("imported", {})
    if not entry.complete and not meta.get("stopped"):
        meta["cut_off"] = True  # its writer is gone, or at it still: this is what came so far
    if exported.lost:
        meta["lost"] = list(exported.lost)
    rest = cast("dict[str, Any]", rest) if isinstance(rest, dict) else {}  # an import of 0.3.0 may have left anything
    if hidden := {key: value for key, value in rest.items() if key in KEYS}:
        meta["imported"] = hidden
    ours: dict[str, Any] = {
        "source": conversation.source,
        "title": conversation.title,
        "created": _exactly(conversation.created),
        "parent": exported.parent,
    }
    if entry.kind is not EntryKind.MESSAGE:
        ours["kind"] = entry.kind.value
    if not exported.exact:
        ours["trust"] = Trust.APPROXIMATE.value
    if meta:
        ours["meta"] = meta
    if entry.id == leaf:
        ours["leaf"] = True
    return {
        "id": entry.id,
        "conversation": conversation.id,
        "time": _exactly(entry.time),
        "role": entry.role.value,
        "speaker": entry.speaker,
        "text": exported.text,
        **{key: value for key, value in rest.items() if key not in KEYS},
        "palimpsest": ours,
    }


def _exactly(moment: datetime) -> str:
    """To the millisecond, as the store keeps it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
