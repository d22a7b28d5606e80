"""Arguments that a tool cannot take, by its schema."""

from typing import Any

import pytest

from models.messages import Tool
from models.tool_arguments import argument_mistake

FIELDS = {"pattern": {"type": "string"}, "folder": {"type": "string"}}


def tool(properties: dict[str, Any], **more: Any) -> Tool:
    return Tool("find_files", "", {"type": "object", "properties": properties} | more)


def test_arguments_of_which_none_is_known_name_the_fields() -> None:
    mistake = argument_mistake(tool(FIELDS), {"glob": "*.py"})
    assert mistake is not None
    assert mistake.field == "pattern"
    assert mistake.problem == "none of its fields is given (“glob”): they are “pattern”, “folder”"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        (tool(FIELDS), {}),
        (tool(FIELDS), {"glob": "*.py", "folder": "src"}),
        (tool({}), {"reason": "none"}),
        (tool(FIELDS, additionalProperties=True), {"glob": "*.py"}),
        (tool(FIELDS, patternProperties={"^g": {}}), {"glob": "*.py"}),
    ],
)
def test_what_may_be_meant_is_no_mistake(tool: Tool, given: dict[str, Any]) -> None:
    assert argument_mistake(tool, given) is None
