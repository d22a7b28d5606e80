"""The JSON of each command against its schema in docs/json, which says of every field whether it is always there."""

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from tests.paths import ROOT

SCHEMAS = ROOT / "docs" / "json"


def schema_name(command_path: str) -> str:
    """`palimpsest memory list` → `memory-list`; the root, which answers `-p`, is `print`."""
    return "-".join(command_path.split()[1:]) or "print"


def assert_in_shape(command_path: str, value: Any) -> None:
    """Fails where the object is neither an error nor what the command's schema allows."""
    name = "error" if "error" in value and "type" not in value else schema_name(command_path)
    if name == "config-schema":
        return  # it prints docs/json/config.schema.json itself (test_surface.py)
    problems = [f"{error.json_path}: {error.message[:300]}" for error in _validator(name).iter_errors(value)]
    assert not problems, f"docs/json/{name}.schema.json: " + "; ".join(problems[:5])


@cache
def _validator(name: str) -> Draft202012Validator:
    path = SCHEMAS / f"{name}.schema.json"
    assert path.exists(), f"docs/json has no schema of `{name}`"
    schema = json.loads(path.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
