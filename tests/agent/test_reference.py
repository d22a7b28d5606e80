"""The page of commands is what the program says of itself today."""

from agent.reference import page
from tests.paths import ROOT

PAGE = ROOT / "docs" / "commands.md"


def test_the_page_of_commands_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m agent.reference > docs/commands.md"
