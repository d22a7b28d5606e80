"""Planned commands that this version lacks: refused as such, not taken for a message or a typo."""

from foundation.errors import Misuse
from foundation.program import PROGRAM

PLANNED: dict[str, frozenset[str]] = {
    "palimpsest": frozenset({"forget"}),
}
"""Command → its planned subcommands and options. Remove each once it exists."""


def refuse_planned(path: str, word: str) -> None:
    """Raises Misuse where `word` is a planned subcommand or option of the command `path`."""
    if word in PLANNED.get(path, ()):
        raise not_in_this_version(f"{path} {word}")


def not_in_this_version(what: str) -> Misuse:
    return Misuse("Not in this version", f"`{what}` is not in this version.", f"`{PROGRAM} --help` lists what is.")
