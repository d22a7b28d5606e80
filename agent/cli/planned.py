"""Planned commands and values that this version lacks: refused as such, not taken for a message or a typo."""

from collections.abc import Sequence
from typing import Any

import click

from foundation.errors import Misuse
from foundation.program import PROGRAM

PLANNED: dict[str, frozenset[str]] = {
    "palimpsest": frozenset({"forget"}),
    "palimpsest memory": frozenset({"log", "diff", "restore"}),
}
"""Command → its planned subcommands and options. Remove each once it exists."""


def refuse_planned(path: str, word: str) -> None:
    """Raises Misuse where `word` is a planned subcommand or option of the command `path`."""
    if word in PLANNED.get(path, ()):
        raise not_in_this_version(f"{path} {word}")


def not_in_this_version(what: str) -> Misuse:
    return Misuse("Not in this version", f"`{what}` is not in this version.", f"`{PROGRAM} --help` lists what is.")


class PlannedChoice(click.Choice[str]):
    """A choice with planned values, which help does not list."""

    def __init__(self, choices: Sequence[str], later: Sequence[str]) -> None:
        super().__init__(choices)
        self._later = frozenset(later)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in self._later:
            raise not_in_this_version(f"{param.opts[-1]} {value}" if param else str(value))
        return super().convert(value, param, ctx)
