"""Checks the arguments of a call by the tool's JSON Schema.

Only definite mistakes are named: a required field that is missing, a value of another type than the field's, and
arguments of which the tool knows none.
"""

import difflib
import json
from typing import Any, Final

from msgspec import Struct

from models.messages import Tool

TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_NAMES: Final = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
}

_MOST_NAMED: Final = 5  # unknown fields


class ArgumentMistake(Struct, frozen=True):
    field: str
    problem: str  # the beginning of a sentence: “path” is missing


def fields_of(tool: Tool) -> dict[str, dict[str, Any]]:
    """Schemas of the tool's arguments, by name."""
    return tool.parameters.get("properties") or {}


def argument_mistake(tool: Tool, arguments: dict[str, Any]) -> ArgumentMistake | None:
    """The first definite mistake; None if the arguments fit."""
    fields = fields_of(tool)
    required: list[str] = tool.parameters.get("required") or []
    for name in required:
        if name not in arguments:
            return ArgumentMistake(name, f"“{name}” is missing{_misspelt(name, fields, arguments)}")
    if not required and (problem := _unknown(tool, fields, arguments)):
        return ArgumentMistake(next(iter(fields)), problem)
    for name, value in arguments.items():
        kind = (fields.get(name) or {}).get("type")
        if isinstance(kind, str) and kind in TYPES and not _is_of(value, kind):
            return ArgumentMistake(name, f"“{name}” must be {_NAMES[kind]}, not {_shown(value)}")
    return None


def _unknown(tool: Tool, fields: dict[str, Any], given: dict[str, Any]) -> str:
    """Names the fields where none of those given is among them; "" where one is, or the tool takes others too."""
    takes_others = any(tool.parameters.get(name) for name in ("additionalProperties", "patternProperties"))
    if takes_others or not (fields and given) or fields.keys() & given.keys():
        return ""
    known, unknown = (", ".join(f"“{name}”" for name in names) for names in (fields, list(given)[:_MOST_NAMED]))
    return f"none of its fields is given ({unknown}): they are {known}"


def _misspelt(name: str, fields: dict[str, Any], given: dict[str, Any]) -> str:
    unknown = [key for key in given if key not in fields]
    if not unknown:
        return ""
    nearest = difflib.get_close_matches(name, unknown, n=1, cutoff=0.3) or unknown[:1]
    return f" (“{nearest[0]}” is none of its fields)"


def _is_of(value: Any, kind: str) -> bool:
    """Whether the value is of the type; digits in a string are taken for a number, as tools do."""
    if kind in {"integer", "number"}:
        if isinstance(value, str):
            return value.strip().lstrip("-").replace(".", "", kind == "number").isdecimal()
        if isinstance(value, float):
            return kind == "number" or value.is_integer()
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[kind])


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:60] + "…"
