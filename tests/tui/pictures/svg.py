"""A screen as SVG: a line of the file for a line of the screen, so that the difference of two pictures can be read.

Textual's own export measures text in characters, which squeezes Chinese and emoji, and is five times as large.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct
from rich.cells import split_graphemes
from rich.color import blend_rgb
from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME
from textual.app import App
from textual.strip import Strip

WIDTH: Final = 10
HEIGHT: Final = 20
BASELINE: Final = 15
_FONT: Final = 'font-family="DejaVu Sans Mono, ui-monospace, Menlo, Consolas, monospace" font-size="16.6"'
_WIDE: Final = ' letter-spacing="3.4"'  # a character of 16.6 in two cells
_EMOJI: Final = chr(0x1F000)  # from here on fonts differ
_GAP: Final = 10
_PANEL: Final = re.compile(r"^<svg width.*?^</svg>$", re.MULTILINE | re.DOTALL)


class Look(Struct, frozen=True):
    """Colours as `#rrggbb`, and the attributes of SVG for the rest."""

    ink: str
    ground: str
    more: str = ""


class Run(Struct):
    """Text of one look from a column on; `cells` wide."""

    column: int
    cells: int
    text: str
    look: Look
    is_wide: bool

    def takes(self, piece: str, look: Look) -> bool:
        """Whether the piece, as wide as this, belongs to the run: wide ones where each font gives them one width."""
        return self.look == look and (not self.is_wide or max(self.text[-1], piece) < _EMOJI)


def panel(app: App[Any], name: str) -> str:
    """The whole screen as it is, with those below it where they shine through; `name` is its title."""
    compositor = app.screen._compositor
    update = compositor.render_update(full=True, screen_stack=app._background_screens, simplify=True)  # noqa: SLF001 - as Textual's own export
    assert update is not None
    lines = [list(_runs(strips)) for strips in update.strips]  # type: ignore[attr-defined]  # a LayoutUpdate
    grounds: Counter[str] = Counter()
    for line in lines:
        for run in line:
            grounds[run.look.ground] += run.cells
    ((ground, _),) = grounds.most_common(1)
    width, height = app.size.width * WIDTH, app.size.height * HEIGHT
    rows = [_row(number, line, ground) for number, line in enumerate(lines)]
    first = f'<svg width="{width}" height="{height}"><title>{name}</title>'
    first += f'<rect width="100%" height="100%" fill="{ground}"/>'
    return "\n".join([first, *filter(None, rows), "</svg>"])


def _runs(strips: Iterable[Strip]) -> Iterator[Run]:
    column, last = 0, None
    for strip in strips:
        for text, style, _ in strip:
            look = look_of(style)
            for piece, cells in _pieces(text):
                is_wide = cells > 1 and not piece.isascii()
                if last and (not cells or (last.is_wide == is_wide and last.takes(piece, look))):
                    last.text += piece
                    last.cells += cells
                else:
                    if last:
                        yield last
                    last = Run(column, cells, piece, look, is_wide)
                column += cells
    if last:
        yield last


def _pieces(text: str) -> Iterator[tuple[str, int]]:
    """Graphemes with their cells; a text of ASCII as it is."""
    if text.isascii():
        yield text, len(text)
        return
    for start, end, cells in split_graphemes(text)[0]:
        yield text[start:end], cells


@lru_cache(maxsize=1024)
def look_of(style: Style | None) -> Look:
    """A terminal's own colours are those of Rich's pictures."""
    style = style or Style()
    theme = SVG_EXPORT_THEME
    ink = style.color.get_truecolor(theme) if style.color else theme.foreground_color
    ground = style.bgcolor.get_truecolor(theme, foreground=False) if style.bgcolor else theme.background_color
    if style.reverse:
        ink, ground = ground, ink
    if style.dim:
        ink = blend_rgb(ink, ground, 0.4)
    attributes = {
        'font-weight="bold"': style.bold,
        'font-style="italic"': style.italic,
        'text-decoration="underline"': style.underline,
        'text-decoration="line-through"': style.strike,
    }
    more = "".join(f" {attribute}" for attribute, holds in attributes.items() if holds)
    return Look(f"#{bytes(ink).hex()}", f"#{bytes(ground).hex()}", more)


def _row(number: int, runs: list[Run], ground: str) -> str:
    """The grounds that differ, then the text: each run at its own column, so that no font moves what follows."""
    top = number * HEIGHT
    grounds: list[list[Any]] = []
    for run in runs:
        if grounds and grounds[-1][0] == run.look.ground:
            grounds[-1][2] += run.cells
        else:
            grounds.append([run.look.ground, run.column, run.cells])
    pieces = [
        f'<path fill="{colour}" d="M{column * WIDTH} {top}h{cells * WIDTH}v{HEIGHT}h-{cells * WIDTH}"/>'
        for colour, column, cells in grounds
        if colour != ground
    ]
    spans = [_span(run) for run in runs if run.text.strip() or "underline" in run.look.more]
    if spans:
        pieces.append(f'<text y="{top + BASELINE}">{"".join(spans)}</text>')
    return "".join(pieces)


def _span(run: Run) -> str:
    text, column = run.text, run.column
    if "underline" not in run.look.more:
        text = text.strip(" ")
        column += len(run.text) - len(run.text.lstrip(" "))
    cells = run.cells - (len(run.text) - len(text))
    length = _WIDE if run.is_wide else f' textLength="{cells * WIDTH}"' if cells > 1 else ""
    look = f'fill="{run.look.ink}"{run.look.more}'
    return f'<tspan x="{column * WIDTH}"{length} {look}>{html.escape(text, quote=False)}</tspan>'


def sheet(panels: list[str]) -> str:
    """One file of all panels, one below the other."""
    sides = [tuple(map(int, re.findall(r'="(\d+)"', each)[:2])) for each in panels]
    width, top = max(side[0] for side in sides), 0
    lines: list[str] = []
    for each, (_, height) in zip(panels, sides, strict=True):
        lines += [f'<g transform="translate(0 {top})">', each, "</g>"]
        top += height + _GAP
    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" xml:space="preserve" {_FONT}>'
    return "\n".join([start, *lines, "</svg>\n"])


def panels_of(text: str) -> list[str]:
    """The panels of a file that `sheet` made."""
    return _PANEL.findall(text)
