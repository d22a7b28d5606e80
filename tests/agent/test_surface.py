"""Help and settings change only where somebody means it: they are compared with what was written down."""

from tests.agent.surface import CONFIG, HELP, configuration, help_of_everything

AGAIN = "python -m tests.agent.surface"


def test_the_help_of_every_command_is_as_written_down() -> None:
    assert HELP.read_text(encoding="utf-8") == help_of_everything(), AGAIN


def test_the_schema_of_the_configuration_is_as_written_down() -> None:
    assert CONFIG.read_text(encoding="utf-8") == configuration(), AGAIN
