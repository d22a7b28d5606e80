"""JSONL with an entry per line: `{"id", "conversation", "time", "role", "speaker", "text"}`; only text is required.

A line may have `content` for `text`, a string or a list of parts as in OpenAI's messages, and `timestamp` for `time`.

Unknown fields are kept in the entry's meta under `imported`. Our own export adds its fields under `palimpsest`.
"""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from msgspec import Struct

from agent.importers.record import BadRecord, ConversationLeaf, ImportRecord, ParsedRecord, as_list, as_object
from agent.importers.timestamps import parse_time
from foundation.bounded_json import BadJson, load_json
from foundation.trust import Trust
from memory.records import TRUST, EntryKind
from models.messages import Role

KEYS = frozenset({"schema", "id", "conversation", "time", "role", "speaker", "text", "palimpsest"})
ROLES = {
    "human": Role.USER,
    "me": Role.USER,
    "ai": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "developer": Role.SYSTEM,
    "function": Role.TOOL,
    **{role.value: role for role in Role},
}
BRANCH_KINDS = frozenset({EntryKind.MESSAGE, EntryKind.TOOL_CALL, EntryKind.TOOL_RESULT, EntryKind.OBSERVATION})


CHUNK = 2**20  # bytes of a skipped line that are read at once


class LineTooLong(Struct, frozen=True):
    """A skipped line: its size, and the limit `most`, in bytes."""

    size: int
    most: int


def bounded_lines(stream: BinaryIO, max_bytes: int) -> Iterator[bytes | LineTooLong]:
    """Each line with its line end; LineTooLong for one of more than `max_bytes` bytes."""
    while line := stream.readline(max_bytes + 1):
        if len(line) <= max_bytes or line.endswith(b"\n"):
            yield line
            continue
        size = len(line)
        del line
        while chunk := stream.readline(CHUNK):
            size += len(chunk)
            if chunk.endswith(b"\n"):
                break
        yield LineTooLong(size, max_bytes)


class NoEntry(ValueError):
    """The reason why a line or an object is not an entry, as the end of a sentence."""


def read_jsonl(lines: Iterable[bytes | LineTooLong], conversation: str) -> Iterator[ParsedRecord]:
    """The entries of the lines; `conversation` is the default id. Each bad line gives a BadRecord."""
    for number, raw in enumerate(lines, start=1):
        location = f"line {number}"
        if isinstance(raw, LineTooLong):
            yield BadRecord(location, f"it has {raw.size:,} bytes; the maximum is {raw.most:,} (imports.line_mb)")
            continue
        body = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
        if not body.strip():
            continue
        try:
            yield from _read_line(body, location, conversation)
        except NoEntry as error:
            yield BadRecord(location, str(error))


def _read_line(body: bytes, location: str, conversation: str) -> Iterator[ParsedRecord]:
    yield from read_object(parse_object(body), location, conversation, len(body))


def read_object(object_: dict[str, Any], location: str, conversation: str, size: int = 0) -> Iterator[ParsedRecord]:
    """The entry of one object, which has `size` bytes in the file. Raises NoEntry."""
    object_ = _with_our_names(object_)
    text = object_.get("text")
    if not isinstance(text, str):
        raise NoEntry("it has no “text” or “content”" if text is None else "its “text” is not a string")
    extra = as_object(object_.get("palimpsest"))
    time = parse_time(object_.get("time"))
    unknown = {key: value for key, value in object_.items() if key not in KEYS}
    if time is None and object_.get("time") not in (
        None,
        "",
    ):  # a tuple, because it may be a list, which is not hashable
        unknown["time"] = object_["time"]
        yield BadRecord(
            location,
            f"its time {repr(object_['time'])[:80]} cannot be read; the entry is imported without a time",
            partly_imported=True,
        )
    role = object_.get("role")
    if isinstance(role, str) and role and role.lower() not in ROLES:
        unknown["role"] = role
    meta = dict(as_object(extra.get("meta")))
    if extra.get("trust", Trust.EXACT.value) != Trust.EXACT.value:  # it was damaged when exported
        meta[TRUST] = Trust.APPROXIMATE.value
    yield ImportRecord(
        location=location,
        conversation=name_of(object_.get("conversation")) or conversation,
        id=name_of(object_.get("id")),
        text=text,
        role=ROLES.get(role.lower(), Role.USER) if isinstance(role, str) else Role.USER,
        speaker=name_of(object_.get("speaker")),
        time=time,
        title=name_of(extra["title"]) if "title" in extra else None,
        created=parse_time(extra.get("created")),
        source=extra["source"] if isinstance(extra.get("source"), str) else None,
        kind=_kind(extra.get("kind")),
        parent=extra["parent"] if isinstance(extra.get("parent"), str) else None,
        meta=_with_unknown_fields(meta, unknown),
        size=size,
    )
    if extra.get("leaf") is True:
        yield ConversationLeaf(name_of(object_.get("conversation")) or conversation, name_of(object_.get("id")))


def _with_our_names(object_: dict[str, Any]) -> dict[str, Any]:
    """The object with `text` and `time`, where it has `content` and `timestamp` in their place."""
    renamed = dict(object_)
    if "text" not in renamed and (text := content_text(renamed.get("content"))) is not None:
        renamed["text"] = text
        del renamed["content"]
    if "time" not in renamed and "timestamp" in renamed:
        renamed["time"] = renamed.pop("timestamp")
    return renamed


def content_text(content: object) -> str | None:
    """The text of a message's `content`: a string, or the text parts of a list, each a paragraph. None for neither."""
    if isinstance(content, str):
        return content
    parts = [as_object(part) for part in as_list(content)]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return "\n\n".join(texts) if texts else None


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object of a line. Raises NoEntry."""
    try:
        value: object = load_json(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise NoEntry(f"it is not UTF-8 (byte {error.start})") from error
    except BadJson as error:
        raise NoEntry(str(error)) from error
    if not isinstance(value, dict):
        raise NoEntry("it is not a JSON object")
    return as_object(value)


def _with_unknown_fields(meta: dict[str, Any], unknown: dict[str, Any]) -> dict[str, Any]:
    previous = meta.pop("imported", None)
    imported = {**as_object(previous), **unknown}
    if previous is not None and not isinstance(previous, dict):
        imported["imported"] = previous
    return {**meta, "imported": imported} if imported else meta


def _kind(value: Any) -> EntryKind:
    return next((kind for kind in BRANCH_KINDS if kind.value == value), EntryKind.MESSAGE)


def name_of(value: Any) -> str:
    """A string, or a number as a string; "" for anything else."""
    match value:
        case bool():
            return ""
        case str():
            return value
        case int() | float():
            return str(value)
        case _:
            return ""
