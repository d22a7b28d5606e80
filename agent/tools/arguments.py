"""Checks the arguments of a call by the tool's own definition, and says in one sentence what to correct.

Only definite mistakes are named: a required field that is missing, and a value of another type than the field's. What
a tool cannot take for another reason it says itself.
"""

import difflib
import json
from typing import Any, Final

from agent.tools.port import MalformedCall
from models.messages import Tool

_TYPES: Final[dict[str, tuple[type, ...]]] = {
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
_VALUES: Final[dict[str, Any]] = {"string": "…", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
_SAMPLES: Final = {
    "path": "src/main.py",
    "command": "ls",
    "query": "boiler",
    "ref": "e_4kx7m2p0q9ab",
    "url": "https://example.org/",
    "pattern": "*.py",
    "question": "Which port?",
    "around": "2026-03-01",
}
"""Values of examples, by the name of the field."""


def checked_arguments(definition: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments without those that are null. Raises MalformedCall with the field, its type and a valid example."""
    properties: dict[str, dict[str, Any]] = definition.parameters.get("properties") or {}
    required: list[str] = definition.parameters.get("required") or []
    given = {name: value for name, value in arguments.items() if value is not None or name not in properties}
    for name in required:
        if name not in given:
            raise _failure(definition, f"“{name}” is missing{_misspelt(name, properties, given)}", name)
    for name, value in given.items():
        kind = (properties.get(name) or {}).get("type")
        if isinstance(kind, str) and kind in _TYPES and not _is_of(value, kind):
            raise _failure(definition, f"“{name}” must be {_NAMES[kind]}, not {_shown(value)}", name)
    return given


def example_of(definition: Tool, *also: str) -> str:
    """Valid arguments of the tool, as JSON: its required fields, and those named."""
    properties: dict[str, dict[str, Any]] = definition.parameters.get("properties") or {}
    required: list[str] = definition.parameters.get("required") or list(properties)[:1]
    names = dict.fromkeys([*required, *(name for name in also if name in properties)])
    return json.dumps({name: _sample(name, properties.get(name) or {}) for name in names}, ensure_ascii=False)


def _sample(name: str, schema: dict[str, Any]) -> Any:
    """A valid value of a field."""
    if values := schema.get("enum"):
        return values[0]
    kind = schema.get("type")
    if kind == "array":
        return [_sample("", schema.get("items") or {})]
    if kind == "object":
        fields: dict[str, dict[str, Any]] = schema.get("properties") or {}
        return {field: _sample(field, each) for field, each in fields.items()}
    return _SAMPLES.get(name, _VALUES["string"]) if kind in {None, "string"} else _VALUES.get(str(kind), "…")


def _failure(definition: Tool, problem: str, field: str) -> MalformedCall:
    example = example_of(definition, field)
    return MalformedCall("Wrong arguments", f"{definition.name}: {problem}. Valid: {example}")


def _misspelt(name: str, properties: dict[str, Any], given: dict[str, Any]) -> str:
    unknown = [key for key in given if key not in properties]
    if not unknown:
        return ""
    nearest = difflib.get_close_matches(name, unknown, n=1, cutoff=0.3) or unknown[:1]
    return f" (“{nearest[0]}” is none of its fields)"


def _is_of(value: Any, kind: str) -> bool:
    """Whether the value is of the type; digits in a string are taken for a number, as tools do."""
    if kind in {"integer", "number"}:
        if isinstance(value, str):
            return value.strip().lstrip("-").replace(".", "", kind == "number").isdecimal()
        return (
            not isinstance(value, bool)
            and isinstance(value, (int, float))
            and (kind == "number" or value == int(value))
        )
    return isinstance(value, _TYPES[kind])


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:60] + "…"
