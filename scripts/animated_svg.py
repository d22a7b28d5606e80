"""Screens of a terminal, one after another, as an animated SVG: no script, no font from elsewhere, still on paper.

A row of text is kept once, however many screens show it. The animation is CSS that moves a strip of screens; where a
reader asks for less motion, the last screen stands still.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Final

import pyte
from msgspec import Struct
from pyte.screens import Char

CELL: Final = (8.4, 18)  # pixels
MARGIN: Final = 14  # pixels around a screen
INK: Final = "#ded7cc"  # colours of the theme `palimpsest`
GROUND: Final = "#191715"
ANSI: Final = {
    "black": "#191715",
    "red": "#e06c75",
    "green": "#98c379",
    "brown": "#e5c07b",
    "blue": "#61afef",
    "magenta": "#c678dd",
    "cyan": "#56b6c2",
    "white": INK,
}


class Row(Struct, frozen=True):
    """A row of a screen, drawn."""

    svg: str


class Frame(Struct, frozen=True):
    """A screen, and the second from which it is shown."""

    second: float
    rows: tuple[Row, ...]


def frame_of(screen: pyte.Screen, second: float) -> Frame:
    """The screen as it is now, with the cursor where it is shown."""
    cursor = None if screen.cursor.hidden else (screen.cursor.x, screen.cursor.y)
    return Frame(second, tuple(Row(_drawn(screen, y, cursor)) for y in range(screen.lines)))


def animated_svg(frames: Sequence[Frame], columns: int, seconds: float) -> str:
    """The SVG that shows the frames for so many seconds, again and again. `columns` is the width of a screen."""
    height = len(frames[0].rows)
    size = (columns * CELL[0] + 2 * MARGIN, height * CELL[1] + 2 * MARGIN)
    ids = {row: f"r{n}" for n, row in enumerate(dict.fromkeys(row for frame in frames for row in frame.rows))}
    symbols = "".join(f'<g id="{id_}">{row.svg}</g>' for row, id_ in ids.items() if row.svg)
    screens = "".join(_placed(frame, ids, n * size[0]) for n, frame in enumerate(frames))
    steps = "".join(
        f"{100 * frame.second / seconds:.2f}%{{transform:translateX({-n * size[0]:.1f}px)}}"
        for n, frame in enumerate(frames)
    )
    last = -(len(frames) - 1) * size[0]
    style = (
        "text{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:14px;white-space:pre}"
        f"@keyframes s{{{steps}100%{{transform:translateX({last:.1f}px)}}}}"
        f"#strip{{animation:s {seconds:g}s steps(1,end) infinite}}"
        "@media (prefers-reduced-motion:reduce){#strip{animation:none;transform:translateX(" + f"{last:.1f}px)" + "}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]:.1f} {size[1]:.1f}" '
        f'width="{size[0]:.0f}" height="{size[1]:.0f}"><style>{style}</style><defs>{symbols}</defs>'
        f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/><g id="strip">{screens}</g></svg>\n'
    )


def _placed(frame: Frame, ids: dict[Row, str], x: float) -> str:
    rows = (f'<use href="#{ids[row]}" y="{MARGIN + n * CELL[1]}"/>' for n, row in enumerate(frame.rows) if row.svg)
    return f'<g transform="translate({x + MARGIN:.1f})">{"".join(rows)}</g>'


def _drawn(screen: pyte.Screen, y: int, cursor: tuple[int, int] | None) -> str:
    """A row's grounds and its text: one element a run of one style, as wide as its cells."""
    line = screen.buffer[y]
    cells = [(x, line[x]) for x in range(screen.columns)]
    if cursor and cursor[1] == y:
        x = cursor[0]
        cells[x] = (x, line[x]._replace(reverse=not line[x].reverse))
    parts = [_run(list(run), style) for style, run in groupby(cells, key=lambda cell: _style(cell[1]))]
    return "".join(part for pair in zip(*parts, strict=True) for part in pair) if parts else ""


def _style(char: Char) -> tuple[str, str, bool, bool, bool]:
    ink, ground = _colour(char.fg, INK), _colour(char.bg, GROUND)
    if char.reverse:
        ink, ground = ground, ink
    return ink, ground, char.bold, char.italics, char.underscore


def _colour(name: str, default: str) -> str:
    if name == "default":
        return default
    return ANSI.get(name.removeprefix("bright"), f"#{name}")


def _run(cells: list[tuple[int, Char]], style: tuple[str, str, bool, bool, bool]) -> tuple[str, str]:
    """The ground of a run, and its text."""
    ink, ground, bold, italic, underlined = style
    x, width = cells[0][0] * CELL[0], len(cells) * CELL[0]
    rect = ""
    if ground != GROUND:
        rect = f'<rect x="{x:.1f}" width="{width:.1f}" height="{CELL[1]}" fill="{ground}"/>'
    texts = "".join(_texts(cells))
    if not texts:
        return rect, ""
    attributes = "".join(
        (
            ' font-weight="bold"' * bold,
            ' font-style="italic"' * italic,
            ' text-decoration="underline"' * underlined,
        )
    )
    return rect, f'<g fill="{ink}"{attributes}>{texts}</g>'


def _texts(cells: list[tuple[int, Char]]) -> Iterator[str]:
    """The words of a run. Each is placed by its own cell, so that no font moves what follows it."""
    for is_blank, run in groupby(cells, key=lambda cell: cell[1].data in {" ", ""}):
        word = list(run)
        if is_blank:
            continue
        text = "".join(char.data for _, char in word)
        yield f'<text x="{word[0][0] * CELL[0]:.1f}" y="13.5">{escape(text)}</text>'
