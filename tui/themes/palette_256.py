"""Themes in a terminal of 256 colours, whose palette has few light colours: a warm grey would become pink."""

import re
from dataclasses import replace
from typing import Final

from rich.color import Color, ColorSystem
from textual.theme import Theme

_MOST_CHROMA: Final = 24  # of 255: what is nearly grey
_HEXADECIMAL: Final = re.compile(r"#[0-9a-fA-F]{6}")
_COLOURS: Final = ("background", "surface", "panel", "foreground", "boost")


def with_greys(theme: Theme) -> Theme:
    """The theme; nearly grey colours for which the palette has only a coloured cell are grey in it."""
    colours = {name: _grey(value) for name in _COLOURS if (value := getattr(theme, name))}
    variables = {name: _grey(value) for name, value in theme.variables.items()}
    return replace(theme, variables=variables, **colours)


def _grey(colour: str) -> str:
    if not _HEXADECIMAL.fullmatch(colour):
        return colour
    red, green, blue = bytes.fromhex(colour[1:])
    if max(red, green, blue) - min(red, green, blue) > _MOST_CHROMA or is_neutral(colour):
        return colour
    luma = round(0.299 * red + 0.587 * green + 0.114 * blue)  # ITU-R BT.601
    return f"#{luma:02x}{luma:02x}{luma:02x}"


def is_neutral(colour: str) -> bool:
    """Whether the nearest cell of the palette is black, white or a grey, as Rich chooses it."""
    shown = Color.parse(colour).downgrade(ColorSystem.EIGHT_BIT).get_truecolor()
    return len({*shown}) == 1
