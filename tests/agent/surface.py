"""What the program shows to people and scripts, as text to compare: `python -m tests.agent.surface` writes it anew."""

import json
import os
from collections.abc import Iterator

import click

from agent.cli.group import LazyGroup
from agent.cli.root import COMMANDS, palimpsest
from agent.config.settings import json_schema
from tests.paths import ROOT

HELP = ROOT / "tests" / "agent" / "snapshots" / "help.txt"
CONFIG = ROOT / "docs" / "json" / "config.schema.json"
WIDTH = 100


def help_of_everything() -> str:
    """`--help` of each command, in the order of the table of commands."""
    settings = {**palimpsest.context_settings, "max_content_width": WIDTH}
    root = click.Context(palimpsest, info_name="palimpsest", terminal_width=WIDTH, **settings)
    parts = [palimpsest.get_help(root)]
    for name in COMMANDS:
        command = palimpsest.get_command(root, name)
        assert command is not None
        parts += _helps(command, name, root)
    return "\n\n\n".join(parts) + "\n"


def configuration() -> str:
    """`config schema`, indented."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


def _helps(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, parent=parent, info_name=name)
    yield command.get_help(context)
    if isinstance(command, click.Group) and not isinstance(command, LazyGroup):
        for below, each in command.commands.items():
            yield from _helps(each, below, context)


if __name__ == "__main__":
    os.environ.pop("COLUMNS", None)
    HELP.write_text(help_of_everything(), encoding="utf-8")
    CONFIG.write_text(configuration(), encoding="utf-8")
