"""Memory files of chat and novel programs: `chunks/{id}_chunk_001.json`, `summaries/{id}_summary_001.json`,
`{id}_index.json`.

A chunk is a list of messages, or an object that holds one. Our own export adds its fields under `palimpsest`. All files
are read once before the first entry is given, so a bad one leaves nothing behind.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from agent.importers.chatgpt import content_text
from agent.importers.jsonl import ROLES, NoEntry, name_of, read_object
from agent.importers.record import BadRecord, ConversationLeaf, ImportRecord, ParsedRecord, as_list, as_object
from agent.importers.settings import ImportSettings
from agent.importers.skipped import Skipped
from agent.importers.timestamps import parse_time
from foundation.bounded_json import BadJson, load_json
from foundation.errors import PalimpsestError
from foundation.files import FileTooLarge, is_folder, list_files, read_bytes, resolve_path
from memory.records import EntryKind
from memory.turn_summaries import TURNS

CHUNKS, SUMMARIES = "chunks", "summaries"
_NAME = re.compile(r"(?P<id>.+)_(?P<kind>chunk|summary)_(?P<number>\d+)\.json", re.IGNORECASE | re.DOTALL)
_INDEX = re.compile(r"(?P<id>.+)_index\.json", re.IGNORECASE | re.DOTALL)

IDS = ("novel_id", "conversation_id", "session_id", "conversation")
LISTS = (
    "messages",
    "records",
    "history",
    "conversations",
    "conversation",
    "dialogue",
    "chat",
    "entries",
    "data",
    "items",
)
CONTENTS = ("content", "text", "message", "body")
TIMES = ("timestamp", "time", "created_at", "create_time", "datetime", "date")
ROLE_KEYS = ("role", "sender", "from")
MESSAGE_IDS = ("id", "message_id", "uuid")
SUMMARY_KEYS = ("summary", "content", "text", "compressed", "compressed_content", "summaries")
PAIRS = (("user", "assistant"), ("human", "ai"), ("prompt", "response"), ("question", "answer"), ("input", "output"))
"""Keys of objects that hold a message and its answer."""


class BadChunkFile(PalimpsestError):
    """A file is not in this format. Nothing of the import was stored."""

    code = "import"


class _Work(Struct):
    """The files of one conversation, by number."""

    name: str  # in the file names
    chunks: list[tuple[int, Path]]
    summaries: list[tuple[int, Path]]
    index: Path | None = None


def holds_chunks(path: Path) -> bool:
    """Whether the path is a folder of such files, or one of them by its name."""
    if is_folder(path):
        return bool(_works(path))
    return bool(_NAME.fullmatch(path.name) or _INDEX.fullmatch(path.name))


def read_chunks(path: Path, limits: ImportSettings | None = None) -> Iterator[ParsedRecord]:
    """The messages and summaries of a folder, or of the conversation that the named file belongs to.

    Raises BadChunkFile for a file that cannot be used, before anything is given.
    """
    works = _works(resolve_path(path))
    if not works:
        raise BadChunkFile(
            "No chunks",
            f"{path} contains no file like chunks/NAME_chunk_001.json.",
            "Name the folder that contains chunks/, or one of its files.",
        )
    most = (limits or ImportSettings()).conversation
    for work in works:  # refuses all where one is bad
        for _ in _read_work(work, most):
            pass
    for work in works:
        yield from _read_work(work, most)


def _works(path: Path) -> list[_Work]:
    """The conversations below a folder, or the one of a file; `memory/` of a folder that has no chunks itself."""
    wanted = ""
    if not is_folder(path):
        match = _NAME.fullmatch(path.name) or _INDEX.fullmatch(path.name)
        wanted = match["id"] if match else ""
        path = path.parent.parent if path.parent.name in {CHUNKS, SUMMARIES} else path.parent
        if not wanted:
            return []
    found = _works_in(path) or _works_in(path / "memory")
    return [work for name, work in sorted(found.items()) if wanted in {"", name}]


def _works_in(folder: Path) -> dict[str, _Work]:
    works: dict[str, _Work] = {}
    for file in (*list_files(folder / CHUNKS), *list_files(folder / SUMMARIES), *list_files(folder)):
        if match := _NAME.fullmatch(file.name):
            work = works.setdefault(match["id"], _Work(match["id"], [], []))
            files = work.chunks if match["kind"].lower() == "chunk" else work.summaries
            files.append((int(match["number"]), file))
    for work in works.values():
        work.chunks.sort()
        work.summaries.sort()
        index = folder / f"{work.name}_index.json"
        work.index = index if index in list_files(folder, "*_index.json") else None
    return works


def _read_work(work: _Work, most: int) -> Iterator[ParsedRecord]:
    index = as_object(_json_of(work.index, most)) if work.index else {}
    title = name_of(index.get("title"))
    id_ = next((name for key in IDS if (name := name_of(index.get(key)))), "")
    for _, file in work.chunks:
        value = _json_of(file, most)
        id_ = id_ or next((name for key in IDS if (name := name_of(as_object(value).get(key)))), "") or work.name
        for number, message in enumerate(_messages(value, file), start=1):
            yield from _read_message(message, f"{file.name}, message {number}", file, id_, title)
    for number, file in work.summaries:
        yield from _read_summary(_json_of(file, most), file, number, id_ or work.name, title)


def _json_of(path: Path, most: int) -> Any:
    try:
        return load_json(read_bytes(path, most=most).decode("utf-8-sig"))
    except FileTooLarge as error:
        raise BadChunkFile(error.title, error.message, "Raise imports.conversation_mb.") from error
    except UnicodeDecodeError as error:
        raise _bad(path, f"it is not UTF-8 (byte {error.start})") from error
    except BadJson as error:
        raise _bad(path, str(error)) from error


def _messages(value: Any, file: Path) -> list[Any]:
    """The list of messages in a chunk; an object that is a message itself is a list of one."""
    if isinstance(value, list):
        return cast("list[Any]", value)
    held = as_object(value)
    found = next((as_list(held[key]) for key in LISTS if isinstance(held.get(key), list)), None)
    if found is not None:
        return found
    if any(key in held for key in CONTENTS) or _pair(held):
        return [held]
    raise _bad(file, f"it contains no list of messages (looked for {', '.join(LISTS)})")


def _read_message(message: Any, location: str, file: Path, conversation: str, title: str) -> Iterator[ParsedRecord]:
    if isinstance(message, str):
        message = {"content": message}
    fields = as_object(message)
    if not fields:
        raise _bad(file, f"{location.rpartition(', ')[2]} is not an object")
    try:
        for single in _split_pair(fields):
            for record in read_object(_jsonl_fields(single), location, conversation):
                yield _titled(record, conversation, title, file.name)
    except NoEntry as error:
        raise _bad(file, f"{location.rpartition(', ')[2]}: {error}") from error


def _titled(record: ParsedRecord, conversation: str, title: str, file: str) -> ParsedRecord:
    """The record in the conversation of the files, with its file, whatever conversation its line names."""
    match record:
        case ImportRecord():
            title_here = title or None if record.title is None else record.title
            return replace(record, conversation=conversation, title=title_here, file=file)
        case ConversationLeaf():
            return ConversationLeaf(conversation, record.id)
        case BadRecord() | Skipped():
            return record


def _pair(fields: dict[str, Any]) -> tuple[str, str] | None:
    """The keys of a message and its answer, where the object holds both as texts."""
    return next((pair for pair in PAIRS if all(isinstance(fields.get(key), str) for key in pair)), None)


def _split_pair(fields: dict[str, Any]) -> list[dict[str, Any]]:
    pair = None if any(key in fields for key in CONTENTS) else _pair(fields)
    if pair is None:
        return [fields]
    rest = {key: value for key, value in fields.items() if key not in pair and key not in MESSAGE_IDS}
    return [
        {**rest, "role": role, "content": fields[key]} for role, key in zip(("user", "assistant"), pair, strict=True)
    ]


def _jsonl_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """The object with the field names of our JSONL; what has no name there is kept as it is. Raises NoEntry."""
    rest = dict(fields)
    content_key = next((key for key in CONTENTS if key in fields), None)
    if content_key is None:
        raise NoEntry(f"it has no text (looked for {', '.join(CONTENTS)})")
    role_key = next((key for key in ROLE_KEYS if str(fields.get(key)).lower() in ROLES), "role")
    time_key = next((key for key in TIMES if key in fields), "time")
    id_key = next((key for key in MESSAGE_IDS if name_of(fields.get(key))), "id")
    named = {
        "text": _text(rest.pop(content_key)),
        "role": rest.pop(role_key, None),
        "time": rest.pop(time_key, None),
        "id": rest.pop(id_key, None),
        "speaker": rest.pop("speaker", None) or rest.pop("name", None),
    }
    return {**{key: value for key, value in rest.items() if key not in named}, **named}


def _text(content: Any) -> str:
    match content:
        case str():
            return content
        case None:
            return ""
        case list():
            return content_text({"parts": content})
        case dict():
            return content_text(as_object(content))
        case _:
            raise NoEntry("its text is not a string")


def _read_summary(value: Any, file: Path, number: int, conversation: str, title: str) -> Iterator[ParsedRecord]:
    """A summary file gives a summary, or one for each object of its list."""
    fields = as_object(value)
    held = _summary_of(value)
    for part in as_list(held) or [held]:
        inner = as_object(part)
        text = _summary_of(part)
        if not text:
            raise _bad(file, f"it contains no summary (looked for {', '.join(SUMMARY_KEYS)})")
        source = inner if part is not held else fields
        own = as_object(fields.get("palimpsest"))
        yield ImportRecord(
            location=file.name,
            conversation=conversation,
            id=name_of(source.get("id")) if own else "",
            text=text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, indent=1),
            time=next((time for key in TIMES if (time := parse_time(source.get(key)))), None),
            title=title or None,
            source=own["source"] if isinstance(own.get("source"), str) else None,
            kind=EntryKind.SUMMARY,
            parent="",
            meta={TURNS: as_list(own.get(TURNS)), "chunk": number},
            beside=True,
        )


def _summary_of(value: Any) -> Any:
    """What an object holds under one of the names of a summary; anything else as it is."""
    fields = as_object(value)
    return next((fields[key] for key in SUMMARY_KEYS if fields.get(key)), None) if fields else value


def _bad(path: Path, problem: str) -> BadChunkFile:
    return BadChunkFile(
        "A chunk file cannot be read",
        f"{path}: {problem}.",
        "Nothing was imported. Fix or remove the file, then import again.",
    )
