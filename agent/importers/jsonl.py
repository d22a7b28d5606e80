"""JSONL, a line an entry: `{"id", "conversation", "time", "role", "speaker", "text"}`; only text is required.

The rest of a line is kept in the entry's meta under `imported`. What our own export adds stands under `palimpsest`.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from agent.importers.json_values import as_object, is_deeper
from agent.importers.moments import moment
from agent.importers.record import Bad, Leaf, Read, Record
from memory.cold.entries import EntryKind
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


MOST_NESTED = 100
"""Levels of objects and lists in a line; each is gone through when it is cleared, stored and exported."""


class _Unreadable(ValueError):
    """Why a line is no entry."""


def read_jsonl(lines: Iterable[bytes], conversation: str) -> Iterator[Read]:
    """The entries of the lines; `conversation` is the id for lines that name none. Each bad line is told apart."""
    for number, raw in enumerate(lines, start=1):
        place = f"line {number}"
        body = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
        if not body.strip():
            continue
        try:
            yield from _read_line(body, place, conversation)
        except _Unreadable as error:
            yield Bad(place, str(error))


def _read_line(body: bytes, place: str, conversation: str) -> Iterator[Read]:
    found = _object(body)
    text = found.get("text")
    if not isinstance(text, str):
        raise _Unreadable("it has no “text”" if text is None else "its “text” is no string")
    extra = as_object(found.get("palimpsest"))
    time = moment(found.get("time"))
    rest = {key: value for key, value in found.items() if key not in KEYS}
    if time is None and found.get("time") not in {None, ""}:
        rest["time"] = found["time"]
        yield Bad(place, f"its time {found['time']!r} is not understood; it is imported without", kept=True)
    role = found.get("role")
    if isinstance(role, str) and role and role.lower() not in ROLES:
        rest["role"] = role
    meta = as_object(extra.get("meta"))
    yield Record(
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
    )
    if extra.get("leaf") is True:
        yield Leaf(_name(found.get("conversation")) or conversation, _name(found.get("id")))


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body.decode("utf-8"), parse_constant=str)  # NaN is no JSON: kept as the word
    except UnicodeDecodeError as error:
        raise _Unreadable(f"it is not UTF-8 (byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise _Unreadable(f"it is no JSON: {error.msg} (column {error.colno})") from error
    except RecursionError as error:
        raise _Unreadable("it is nested too deep") from error
    if not isinstance(found, dict):
        raise _Unreadable("it is no JSON object")
    if is_deeper(found, MOST_NESTED):
        raise _Unreadable("it is nested too deep")
    return as_object(found)


def _with_rest(meta: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    imported = {**as_object(meta.get("imported")), **rest}
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
