"""The page of commands is what the program says of itself today."""

from pathlib import Path

from agent.reference import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"


def test_the_page_of_commands_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m agent.reference > docs/commands.md"
