"""A bad rule of system.yaml is told by `context` and by -p alike, and the others hold."""

from pathlib import Path

import pytest

from tests.agent.conftest import Run

RULES = """version: 1
abilities:
  - Be kind.
rules:
  - when: {entity: phone}
    then: [never said]
  - when: {keyword: 报销}
    then: [Ask for the receipt.]
"""


@pytest.mark.parametrize("arguments", [("context", "我要報銷"), ("-p", "我要報銷")])
def test_a_bad_rule_is_told_with_its_line_and_the_others_hold(run: Run, root: Path, arguments: tuple[str, str]) -> None:
    (root / "system.yaml").write_text(RULES, encoding="utf-8")
    shown = run(*arguments)
    assert "system.yaml:5: `entity`: `phone` is not one of" in shown.err
    if arguments[0] == "context":
        assert "Be kind." in shown.out
        assert "Ask for the receipt." in shown.out
