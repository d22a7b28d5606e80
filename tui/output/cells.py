"""Cells of a terminal row: a grapheme and the pen that draws it."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from rich.cells import split_graphemes
from rich.color import ColorSystem
from rich.style import Style
from textual.strip import Strip

_ATTRIBUTES = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "21", "51", "52", "53")  # SGR codes by Rich's bit number


class Pen(NamedTuple):
    """How a cell is drawn: SGR parameters, "" where the terminal's default holds, and a link."""

    attributes: str = ""
    colour: str = ""
    background: str = ""
    link: str = ""  # of OSC 8: parameters and address

    def change_from(self, other: "Pen") -> str:
        """The shortest sequence from the other pen to this one."""
        codes: list[str] = []
        if self.attributes != other.attributes:
            codes += ["", self.attributes] if self.attributes else [""]
            other = Pen(link=other.link)
        if self.colour != other.colour:
            codes.append(self.colour or "39")
        if self.background != other.background:
            codes.append(self.background or "49")
        link = f"\x1b]8;{self.link or ';'}\x1b\\" if self.link != other.link else ""
        return f"\x1b[{';'.join(codes)}m{link}" if codes else link


PLAIN = Pen()

ScreenCell = tuple[str, Pen]
"""A grapheme and its pen; the second cell of a wide grapheme is ""."""


def row_cells(strips: Iterable[Strip], system: ColorSystem) -> tuple[list[ScreenCell], bool]:
    """The cells, and whether all terminals agree on their widths: on those of emoji and of clusters they do not."""
    cells: list[ScreenCell] = []
    is_certain = True
    for strip in strips:
        for text, style, _ in strip:
            pen = PLAIN if style is None else pen_of(style, system)
            if text.isascii():
                cells += [(letter, pen) for letter in text]
                continue
            for start, end, width in split_graphemes(text)[0]:
                grapheme = text[start:end]
                is_certain = is_certain and _has_certain_width(grapheme)
                if width:
                    cells.append((grapheme, pen))
                    cells += [("", pen)] * (width - 1)
                elif cells:  # it belongs to the grapheme before it
                    cells[-1] = (cells[-1][0] + grapheme, cells[-1][1])
    return cells, is_certain


@lru_cache(maxsize=8192)
def pen_of(style: Style, system: ColorSystem) -> Pen:
    """The pen of a style."""
    bits = style._attributes & style._set_attributes  # pyright: ignore[reportPrivateUsage] -- as Strip.render reads it
    attributes = ";".join(code for bit, code in enumerate(_ATTRIBUTES) if bits & (1 << bit))
    colour = ";".join(style.color.downgrade(system).get_ansi_codes()) if style.color else ""
    ground = ";".join(style.bgcolor.downgrade(system).get_ansi_codes(foreground=False)) if style.bgcolor else ""
    link = f"id={style.link_id};{style.link}" if style.link else ""
    return Pen(attributes, colour, ground, link)


@lru_cache(maxsize=8192)
def _has_certain_width(grapheme: str) -> bool:
    if len(grapheme) > 1 or grapheme > "\uffff":
        return False
    kind = unicodedata.category(grapheme)
    return not (kind[0] in "MC" or (kind == "So" and unicodedata.east_asian_width(grapheme) in "WF"))
