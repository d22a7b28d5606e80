"""Validates names from a store, a manifest or a listing before they become part of a path."""

from foundation.names import Grammar
from foundation.program import PROGRAM
from foundation.terminal_text import visible
from memory.errors import ForgedName

_SHOWN = 60  # characters of a name that is refused


def vetted(grammar: Grammar, value: object, place: str) -> str:
    """The value, if it fits the grammar. `place` says where it was read: `table leaving`, `deleted.ids`.

    Raises ForgedName before the value is used.
    """
    if isinstance(value, str) and grammar.fits(value):
        return value
    raise ForgedName(
        "Unexpected file name",
        f"{place} contains {shown(value)} instead of {grammar.noun}. No file was changed.",
        f"`{PROGRAM} check` lists such rows; `{PROGRAM} check --repair` removes those that nothing depends on.",
    )


def shown(value: object) -> str:
    """The value for a person: control characters visible, cut where it is long."""
    text = visible(value if isinstance(value, str) else repr(value))
    return f"“{text}”" if len(text) <= _SHOWN else f"“{text[:_SHOWN]}…” ({len(text):,} characters)"
