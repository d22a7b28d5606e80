"""How this terminal draws a picture: told by what it says of itself, never by asking it.

A question to the terminal is answered on standard input, where the person types; so none is asked. What is not known
to draw pixels gets half blocks, which every terminal with colours can show. `screen.pictures` decides otherwise.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Drawing(StrEnum):
    """A way to draw. `SHADES` are ░▒▓█, for a terminal without colours."""

    KITTY = "kitty"
    SIXEL = "sixel"
    BLOCKS = "blocks"
    SHADES = "shades"
    OFF = "off"


_KITTY_TERMS: Final = ("xterm-kitty", "xterm-ghostty")
_KITTY_PROGRAMS: Final = frozenset({"ghostty", "kitty"})
_SIXEL_TERMS: Final = ("foot", "mlterm", "contour", "yaft")
_SIXEL_PROGRAMS: Final = frozenset({"WezTerm", "iTerm.app", "mintty"})
_WITHIN: Final = ("TMUX", "STY", "ZELLIJ")  # a multiplexer stands between: pixels do not pass
KONSOLE: Final = 220400  # the first version of Konsole that draws Sixel


def drawing_for(environment: Mapping[str, str], setting: str = "auto", *, colour: bool = True) -> Drawing:
    """The way to draw here. `setting` is `screen.pictures`; without `colour` half blocks would say nothing."""
    if setting == "off":
        return Drawing.OFF
    if not colour:
        return Drawing.SHADES
    return Drawing(setting) if setting != "auto" else _by_terminal(environment)


def _by_terminal(environment: Mapping[str, str]) -> Drawing:
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if any(environment.get(name) for name in _WITHIN) or term.startswith(("tmux", "screen")):
        return Drawing.BLOCKS
    if term.startswith(_KITTY_TERMS) or program in _KITTY_PROGRAMS or environment.get("KITTY_WINDOW_ID"):
        return Drawing.KITTY
    if term.startswith(_SIXEL_TERMS) or program in _SIXEL_PROGRAMS or _konsole(environment) >= KONSOLE:
        return Drawing.SIXEL
    return Drawing.BLOCKS


def _konsole(environment: Mapping[str, str]) -> int:
    version = environment.get("KONSOLE_VERSION", "")
    return int(version) if version.isdigit() else 0
