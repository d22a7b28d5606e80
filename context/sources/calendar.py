"""Rendering of JSON as readable lines, and of calendar events as title, time, place and people."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

_TITLE = ("title", "summary", "subject", "name")
_START = ("start", "startTime", "start_time", "startDate", "begin", "begins", "dtstart", "when")
_END = ("end", "endTime", "end_time", "endDate", "ends", "dtend")
_WHERE = ("location", "where", "place", "venue")
_WHO = ("attendees", "participants", "who", "guests", "invitees", "organizer", "organiser")
_NOTES = ("description", "notes", "body", "agenda")
_LISTS = ("items", "events", "value")
MOST_DEPTH = 12


def is_event(value: object) -> bool:
    """Whether the value is a calendar event: an object with a title and a start time."""
    fields = _object(value)
    return fields is not None and _first(fields, _TITLE) is not None and _first(fields, _START) is not None


def events_in(value: object) -> list[Mapping[str, Any]]:
    """Events in a JSON calendar: a single event, a list of events, or a list under `items`, `events` or `value`."""
    if is_event(value):
        return [cast("Mapping[str, Any]", value)]
    fields = _object(value)
    if fields is not None:
        value = next((fields[key] for key in _LISTS if isinstance(fields.get(key), list)), None)
    if isinstance(value, list):
        items = cast("list[object]", value)
        if items and all(is_event(item) for item in items):
            return cast("list[Mapping[str, Any]]", items)
    return []


def readable(value: object) -> str:
    """Renders JSON as readable lines."""
    events = events_in(value)
    if events:
        return "\n\n".join(_event(event) for event in events)
    return "\n".join(_outline(value, 0))


def _event(event: Mapping[str, Any]) -> str:
    used = {key for keys in (_TITLE, _START, _END, _WHERE, _WHO, _NOTES) for key in keys}
    start, end = _moment(_first(event, _START)), _moment(_first(event, _END))
    lines = [
        f"Event: {_plain(_first(event, _TITLE))}",
        f"When: {start} to {end}" if end else f"When: {start}",
        f"Where: {_plain(_first(event, _WHERE))}",
        f"Who: {_people([event[key] for key in _WHO if key in event])}",
        f"Notes: {_plain(_first(event, _NOTES))}",
    ]
    rest = {key: value for key, value in event.items() if key not in used}
    return "\n".join([line for line in lines if not line.endswith(": ")] + _outline(rest, 0))


def _moment(value: object) -> str:
    fields = _object(value)
    if fields is None:
        return _plain(value)
    when = _plain(_first(fields, ("dateTime", "date", "time", "value")))
    zone = _plain(_first(fields, ("timeZone", "timezone", "tz")))
    return f"{when} ({zone})" if zone else when


def _people(values: Iterable[object]) -> str:
    names: list[str] = []
    for value in values:
        for person in cast("list[object]", value) if isinstance(value, list) else [value]:
            name = _person(person)
            if name and name not in names:
                names.append(name)
    return ", ".join(names)


def _person(value: object) -> str:
    fields = _object(value)
    if fields is None:
        return _plain(value)
    inner = _object(fields.get("emailAddress"))
    fields = inner or fields
    name = _plain(_first(fields, ("displayName", "name", "email", "address")))
    answer = _plain(_first(fields, ("responseStatus", "status")))
    return f"{name} ({answer})" if name and answer else name


def _outline(value: object, depth: int) -> list[str]:
    indent = "  " * depth
    if depth >= MOST_DEPTH:
        return [f"{indent}…"]
    fields = _object(value)
    if fields is not None:
        return [line for key, item in fields.items() for line in _entry(f"{indent}{key}:", item, depth)]
    if isinstance(value, list):
        return [line for item in cast("list[object]", value) for line in _entry(f"{indent}-", item, depth)]
    return [indent + _plain(value)]


def _entry(label: str, item: object, depth: int) -> list[str]:
    if _is_nested(item):
        return [label, *_outline(item, depth + 1)]
    plain = _plain(item)
    if "\n" in plain:
        return [label, *("  " * (depth + 1) + line for line in plain.split("\n"))]
    return [f"{label} {plain}"]


def _is_nested(value: object) -> bool:
    return value not in ({}, []) and isinstance(value, dict | list)


def _object(value: object) -> Mapping[str, Any] | None:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else None


def _first(fields: Mapping[str, Any], names: Iterable[str]) -> object | None:
    return next((fields[name] for name in names if fields.get(name) not in (None, "", [], {})), None)


def _plain(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list() | dict():
            return ", ".join(_outline(cast("object", value), 0)) if value else ""
        case _:
            return str(value)
