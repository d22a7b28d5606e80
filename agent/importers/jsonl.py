"""JSONL, a line an entry: `{"id", "conversation", "time", "role", "speaker", "text"}`; only text is required.

The rest of a line is kept in the entry's meta under `imported`. What our own export adds stands under `palimpsest`.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from agent.importers.bounded_lines import LineTooLong
from agent.importers.record import BadRecord, ConversationLeaf, ImportRecord, ParsedRecord, as_object
from agent.importers.timestamps import moment
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


class _BadLine(ValueError):
    """Why a line is no entry."""


def read_jsonl(lines: Iterable[bytes | LineTooLong], conversation: str) -> Iterator[ParsedRecord]:
    """The entries of the lines; `conversation` is the id for lines that name none. Each bad line is told apart."""
    for number, raw in enumerate(lines, start=1):
        place = f"line {number}"
        if isinstance(raw, LineTooLong):
            yield BadRecord(place, f"it has {raw.size:,} bytes; {raw.most:,} are the most (imports.line_mb)")
            continue
        body = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
        if not body.strip():
            continue
        try:
            yield from _read_line(body, place, conversation)
        except _BadLine as error:
            yield BadRecord(place, str(error))


def _read_line(body: bytes, place: str, conversation: str) -> Iterator[ParsedRecord]:
    found = _object(body)
    text = found.get("text")
    if not isinstance(text, str):
        raise _BadLine("it has no “text”" if text is None else "its “text” is no string")
    extra = as_object(found.get("palimpsest"))
    time = moment(found.get("time"))
    rest = {key: value for key, value in found.items() if key not in KEYS}
    if time is None and found.get("time") not in (None, ""):  # a tuple: it may be a list, which no set takes
        rest["time"] = found["time"]
        yield BadRecord(
            place, f"its time {repr(found['time'])[:80]} is not understood; it is imported without", kept=True
        )
    role = found.get("role")
    if isinstance(role, str) and role and role.lower() not in ROLES:
        rest["role"] = role
    meta = dict(as_object(extra.get("meta")))
    if extra.get("trust", Trust.EXACT.value) != Trust.EXACT.value:  # damaged where it was exported
        meta[TRUST] = Trust.APPROXIMATE.value
    yield ImportRecord(
        place=place,
        conversation=_name(found.get("conversation")) or conversation,
        id=_name(found.get("id")),
        text=text,
        role=ROLES.get(role.lower(), Role.USER) if isinstance(role, str) else Role.USER,
        speaker=_name(found.get("speaker")),
        time=time,
        title=_name(extra["title"]) if "title" in extra else None,
        created=moment(extra.get("created")),
        source=extra["source"] if isinstance(extra.get("source"), str) else None,
        kind=_kind(extra.get("kind")),
        parent=extra["parent"] if isinstance(extra.get("parent"), str) else None,
        meta=_with_rest(meta, rest),
        size=len(body),
    )
    if extra.get("leaf") is True:
        yield ConversationLeaf(_name(found.get("conversation")) or conversation, _name(found.get("id")))


def _object(body: bytes) -> dict[str, Any]:
    try:
        found: object = load_json(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _BadLine(f"it is not UTF-8 (byte {error.start})") from error
    except BadJson as error:
        raise _BadLine(str(error)) from error
    if not isinstance(found, dict):
        raise _BadLine("it is no JSON object")
    return as_object(found)


def _with_rest(meta: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    before = meta.pop("imported", None)
    imported = {**as_object(before), **rest}
    if before is not None and not isinstance(before, dict):
        imported["imported"] = before
    return {**meta, "imported": imported} if imported else meta


def _kind(value: Any) -> EntryKind:
    return next((kind for kind in BRANCH_KINDS if kind.value == value), EntryKind.MESSAGE)


def _name(value: Any) -> str:
    """A string, or a number as one."""
    match value:
        case bool():
            return ""
        case str():
            return value
        case int() | float():
            return str(value)
        case _:
            return ""
