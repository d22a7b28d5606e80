"""Checks the arguments of a call by the tool's own definition, and says in one sentence what to correct.

What a tool cannot take for another reason it says itself.
"""

import json
from typing import Any, Final

from agent.tools.port import MalformedCall
from models.messages import Tool
from models.tool_arguments import argument_mistake, fields_of

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
    properties = fields_of(definition)
    given = {name: value for name, value in arguments.items() if value is not None or name not in properties}
    if mistake := argument_mistake(definition, given):
        raise _failure(definition, mistake.problem, mistake.field)
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
