"""Sessions of opencode: what `opencode export` writes, its database `opencode.db`, and its older folder `storage`."""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from agent.importers import agent_sessions as sessions
from agent.importers.json_array import UnknownFormat
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
from foundation.bounded_json import BadJson, load_json
from foundation.files import is_folder, list_files, list_folders, open_for_reading, read_bytes
from models.messages import Role

_DATABASE: Final = b"SQLite format 3\0"
_SESSIONS: Final = "SELECT id, title, parent_id, revert FROM session ORDER BY id"
_MESSAGES: Final = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_MESSAGE_PARTS: Final = "SELECT id, data FROM part WHERE message_id = ? ORDER BY id"
_NEWER_MESSAGES: Final = """SELECT type, count(*) FROM session_message
    WHERE session_id NOT IN (SELECT session_id FROM message) GROUP BY type ORDER BY type"""
_TABLES: Final = ("session", "message", "part")
_PARTS: Final = dict.fromkeys(
    ("agent", "compaction", "patch", "retry", "snapshot", "step-finish", "step-start", "synthetic text"),
    SkipReason.METADATA,
) | {"reasoning": SkipReason.REASONING, "tool": SkipReason.EMPTY}


def read_opencode(session: dict[str, Any], location: str) -> Iterator[ParsedRecord]:
    """The messages, tool calls and results of one session, an object as `opencode export` writes it."""
    info = as_object(session.get("info"))
    reverted, title = as_object(info.get("revert")).get("messageID"), as_string(info.get("title"))
    conversation = as_string(info.get("id")) or location
    last = leaf = ""
    for number, message in enumerate(map(as_object, as_list(session.get("messages"))), start=1):
        about, place = as_object(message.get("info")), f"{location}, message {number}"
        leaf = last if reverted and about.get("id") == reverted else leaf
        role, before = as_string(about.get("role")), last
        parts = [as_object(part) for part in as_list(message.get("parts"))]
        text, skipped = read_blocks([_block(part, about) for part in parts], as_written, place, _PARTS)
        time = parse_time(as_object(about.get("time")).get("created"))
        record = ImportRecord(
            location=place,
            conversation=conversation,
            id=as_string(about.get("id")) or place,
            text=text,
            role=Role.USER if role == "user" else Role.ASSISTANT,
            speaker=sessions.AGENT if role == "user" and info.get("parentID") else "",
            time=time,
            created=time,
            title=(title := title or sessions.title_of(text)),
            parent=last,
        )
        tools = [_tool(part) for part in parts if part.get("type") == "tool"]
        for stored in sessions.with_results(record, as_string(about.get("modelID")), tools):
            last = stored.id
            yield stored
        yield from skipped or ([Skipped(place, role or "message", SkipReason.EMPTY)] if last == before else [])
    if last:
        yield ConversationLeaf(conversation, leaf or last)
    if todos := as_list(session.get("todos")):
        yield Skipped(location, "todo", SkipReason.METADATA, len(todos))


def _tool(part: dict[str, Any]) -> sessions.Tool:
    state = as_object(part.get("state"))
    output = as_string(state.get("output")) or as_string(state.get("error"))
    call = sessions.call_of(part.get("callID"), part.get("tool"), state.get("input"))
    return call, output, state.get("status") == "error"


def _block(part: dict[str, Any], info: dict[str, Any]) -> dict[str, Any]:
    """The part as a block; texts that the app wrote are of the kind `synthetic text`."""
    match part:
        case {"type": "text"} if part.get("synthetic") or part.get("ignored") or info.get("summary") is True:
            return {"type": "synthetic text"}
        case {"type": "subtask", "prompt": str(prompt)}:
            return {"type": "text", "text": prompt}
        case {"type": "file"}:
            mime = as_string(part.get("mime"))
            kind, source = "image" if mime.startswith("image/") else "document", {"media_type": mime}
            return part | {"type": kind, "image_url": part.get("url"), "source": source}
        case _:
            return part


def is_storage(path: Path) -> bool:
    """Whether the path is opencode's folder `storage`, or an SQLite database."""
    if is_folder(path):
        return all(is_folder(path / name) for name in _TABLES)
    with open_for_reading(path) as stream:
        return stream.read(len(_DATABASE)) == _DATABASE


def read_storage(path: Path) -> Iterator[ParsedRecord]:
    """The sessions of a database or of a folder `storage`, one at a time. Raises UnknownFormat for another database."""
    try:
        yield from _of_folder(path) if is_folder(path) else _of_database(path)
    except sqlite3.Error as error:
        raise UnknownFormat("Unknown format", f"{path} is not a database of opencode ({error}).", "") from error


def _of_folder(path: Path) -> Iterator[ParsedRecord]:
    for file in [file for project in list_folders(path / "session") for file in list_files(project, "*.json")]:
        messages: list[dict[str, Any]] = []
        info = yield from _object(read_bytes(file), str(file.name))
        for message in list_files(path / "message" / file.stem, "*.json"):
            about = yield from _object(read_bytes(message), message.name)
            parts: list[dict[str, Any]] = []
            for part in list_files(path / "part" / message.stem, "*.json"):
                parts.append((yield from _object(read_bytes(part), part.name)))
            messages.append({"info": {"id": message.stem} | about, "parts": parts})
        yield from read_opencode({"info": {"id": file.stem} | info, "messages": messages}, f"session {file.stem}")


def _of_database(path: Path) -> Iterator[ParsedRecord]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        for id_, title, parent, revert in database.execute(_SESSIONS):
            location = f"session {id_}"
            info = {"id": id_, "title": title, "parentID": parent, "revert": load_json(revert) if revert else None}
            messages: list[dict[str, Any]] = []
            for message, data in database.execute(_MESSAGES, (id_,)).fetchall():
                about = yield from _object(data, f"{location}, message {message}")
                parts: list[dict[str, Any]] = []
                for part, text in database.execute(_MESSAGE_PARTS, (message,)):
                    parts.append((yield from _object(text, f"{location}, part {part}")))
                messages.append({"info": about | {"id": message}, "parts": parts})
            yield from read_opencode({"info": info, "messages": messages}, location)
        if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'session_message'").fetchone():
            for kind, count in database.execute(_NEWER_MESSAGES):
                yield Skipped("table session_message", f"session_message {kind}", SkipReason.UNKNOWN, count)


def _object(text: str | bytes, location: str) -> Generator[ParsedRecord, None, dict[str, Any]]:
    """Returns the object of a JSON text; yields a BadRecord for another text."""
    try:
        return as_object(load_json(text))
    except BadJson as error:
        yield BadRecord(location, str(error))
        return {}
