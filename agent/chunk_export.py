"""Export of conversations as the memory files that `agent.importers.chunks` reads.

`chunks/{id}_chunk_001.json` holds the full records of CHUNK_ENTRIES entries, oldest first and on every branch;
`summaries/{id}_summary_001.json` one summary; `{id}_index.json` what there is. All are UTF-8; characters that no screen
shows are escaped.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent.exporters import OnTrouble, jsonl_objects, to_millisecond
from agent.importers.chunks import CHUNKS, SUMMARIES
from agent.importers.jsonl import KEYS
from agent.importers.record import as_object
from foundation.errors import Misuse
from foundation.files import exists, make_folder, write_atomically
from foundation.privacy import as_given
from memory.memory import Memory
from memory.records import CHUNK_ENTRIES, UNDOES, Conversation, Entry, EntryKind
from memory.turn_summaries import TURNS, covered_ids

_UNREADABLE = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]")
"""Characters of controls, directions and no width, and half characters."""


def write_chunks(memory: Memory, conversation: Conversation, folder: Path, on_trouble: OnTrouble | None = None) -> Path:
    """Writes the conversation's files below `folder`, which exists; gives the path of its index, written last.

    Raises Misuse where its index is there already.
    """
    name = Path(memory.mirrors.file_name(conversation)).stem
    index = folder / f"{name}_index.json"
    if exists(index):
        raise Misuse("Already exists", f"{index} already exists.", "Choose an empty folder.")
    chunks, summaries = list[dict[str, Any]](), list[dict[str, Any]]()
    make_folder(folder / CHUNKS)
    for number, messages in enumerate(_chunks(memory, conversation, on_trouble), start=1):
        file = f"{CHUNKS}/{name}_chunk_{number:03}.json"
        _write(folder / file, {"novel_id": conversation.id, "chunk": number, "messages": messages})
        times = [message["timestamp"] for message in messages]
        chunks.append({"file": file, "messages": len(messages), "first": min(times), "last": max(times)})
    for number, summary in enumerate(_summaries(memory, conversation), start=1):
        make_folder(folder / SUMMARIES)
        file = f"{SUMMARIES}/{name}_summary_{number:03}.json"
        _write(folder / file, {"novel_id": conversation.id, "number": number, **summary})
        summaries.append({"file": file, "time": summary["timestamp"], "id": summary["id"]})
    _write(
        index,
        {
            "novel_id": conversation.id,
            "title": conversation.title,
            "created": to_millisecond(conversation.created),
            "updated": to_millisecond(conversation.updated),
            "total_messages": sum(chunk["messages"] for chunk in chunks),
            "chunk_count": len(chunks),
            "summary_count": len(summaries),
            "chunks": chunks,
            "summaries": summaries,
        },
    )
    return index


def _chunks(memory: Memory, conversation: Conversation, on_trouble: OnTrouble | None) -> Iterator[list[dict[str, Any]]]:
    messages = list[dict[str, Any]]()
    for line in jsonl_objects(memory, conversation, on_trouble):
        messages.append(_message(line))
        if len(messages) == CHUNK_ENTRIES:
            yield messages
            messages = []
    if messages:
        yield messages


def _message(line: dict[str, Any]) -> dict[str, Any]:
    """The entry of a line of our JSONL. Fields of other programs are with our own, so that no name means two things."""
    others = {key: value for key, value in line.items() if key not in KEYS}
    own = dict(line["palimpsest"])
    if others:
        meta = as_object(own.get("meta"))
        own["meta"] = {**meta, "imported": {**others, **as_object(meta.get("imported"))}}
    return {
        "id": line["id"],
        "timestamp": line["time"],
        "role": line["role"],
        "speaker": line["speaker"],
        "content": line["text"],
        "palimpsest": own,
    }


def _summaries(memory: Memory, conversation: Conversation) -> Iterator[dict[str, Any]]:
    for entry in memory.conversations.all_entries(conversation.seq):
        if entry.kind is not EntryKind.SUMMARY or UNDOES in entry.meta:
            continue
        if text := memory.vault.readable_text(entry).text:
            yield {
                "id": entry.id,
                "timestamp": to_millisecond(entry.time),
                "summary": text,
                "palimpsest": {"source": conversation.source, TURNS: _covered(memory, entry)},
            }


def _covered(memory: Memory, summary: Entry) -> list[str]:
    """The ids of the first and the last entry that it covers; none where that is not known."""
    if ids := covered_ids(summary):
        return list(ids)
    covers: list[int] = summary.meta.get("covers") or []
    found = memory.conversations.entries(covers)
    return [found[seq].id for seq in covers] if covers and all(seq in found for seq in covers) else []


def _write(path: Path, value: dict[str, Any]) -> None:
    text = json.dumps({"schema": 1, **value}, ensure_ascii=False, indent=1) + "\n"
    text = _UNREADABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    write_atomically(path, as_given(text))  # stored text was cleared when it was stored
