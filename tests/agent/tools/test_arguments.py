"""Malformed arguments: one correction, with the field, its type and a valid example."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tools.arguments import checked_arguments, example_of
from agent.tools.port import ToolFailure
from models.messages import Tool

TOOL = Tool(
    "edit",
    "",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "count": {"type": "integer"},
            "all": {"type": "boolean"},
            "steps": {"type": "array", "items": {"type": "object", "properties": {"state": {"enum": ["done"]}}}},
            "any": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["path"],
    },
)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, 'edit: “path” is missing. Valid: {"path": "src/main.py"}'),
        (
            {"file_path": "a"},
            'edit: “path” is missing (“file_path” is none of its fields). Valid: {"path": "src/main.py"}',
        ),
        ({"path": 3}, 'edit: “path” must be a string, not 3. Valid: {"path": "src/main.py"}'),
        (
            {"path": "a", "count": "two"},
            'edit: “count” must be a whole number, not "two". Valid: {"path": "src/main.py", "count": 1}',
        ),
        (
            {"path": "a", "all": "yes"},
            'edit: “all” must be true or false, not "yes". Valid: {"path": "src/main.py", "all": true}',
        ),
        (
            {"path": "a", "steps": {}},
            'edit: “steps” must be an array, not {}. Valid: {"path": "src/main.py", "steps": [{"state": "done"}]}',
        ),
    ],
)
def test_a_correction_has_the_field_its_type_and_an_example(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ToolFailure) as failure:
        checked_arguments(TOOL, arguments)
    assert failure.value.message == sentence


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "a", "count": "12", "unknown": None},
        {"path": "a", "count": 3.0},
        {"path": "", "any": 4},
    ],
)
def test_what_a_tool_can_take_passes(arguments: dict[str, Any]) -> None:
    assert checked_arguments(TOOL, arguments) == arguments


def test_null_stands_for_a_field_that_is_left_out() -> None:
    assert checked_arguments(TOOL, {"path": "a", "count": None}) == {"path": "a"}


_SCHEMAS = st.dictionaries(
    st.text(min_size=1),
    st.sampled_from(["string", "integer", "number", "boolean", "array", "object"]).map(lambda kind: {"type": kind}),
)


@given(_SCHEMAS, st.randoms())
def test_an_example_is_valid(properties: dict[str, Any], random: Any) -> None:
    required = [name for name in properties if random.random() < 0.5]
    tool = Tool("t", "", {"type": "object", "properties": properties, "required": required})
    example = json.loads(example_of(tool))
    assert checked_arguments(tool, example) == example


def test_the_former_name_of_a_tool_goes_on_working() -> None:
    from agent.tools.memory.search import MemorySearch
    from agent.tools.port import ToolSettings
    from agent.tools.registry import Toolbox
    from models.messages import ToolCall

    box = Toolbox([MemorySearch(None, frozenset)], ToolSettings())  # type: ignore[arg-type]  # no memory is read
    assert box.only_reads(ToolCall("c", "search_memory", "{}"))
    assert [tool.name for tool in box.definitions] == ["memory_search"]
