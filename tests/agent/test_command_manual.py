"""The command manual in docs/ matches the program's help."""

from agent.command_manual import manual
from tests.paths import ROOT

MANUAL = ROOT / "docs" / "reference" / "commands.md"


def test_the_command_manual_is_up_to_date() -> None:
    assert MANUAL.read_text(encoding="utf-8") == manual(), "python -m agent.command_manual > docs/reference/commands.md"
