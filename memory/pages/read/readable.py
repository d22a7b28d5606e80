"""Recognises pages for people by their layout: four columns between rules, under a title and a line.

They carry no header and are not read back: the error says where their text is stored.
"""

import re

import numpy as np
from numpy.typing import NDArray

from foundation.program import own_command
from memory.errors import NotAPage
from memory.pages.font.glyphs import ESCAPE, load_glyphs
from memory.pages.read.exact import read_cells
from memory.pages.render.modes import CELLS, Mode, modes_of
from memory.pages.render.png import decode_grey
from memory.pages.render.raster import cells_of
from memory.pages.render.readable import BESIDE, COLUMNS, TITLE_ROWS, width_of

_SMALLEST, _LARGEST = 0.6, 4.0  # scales at which a rule still is one
_RULED = 0.9  # share of a rule's length that is ink
_DARK = 0.35  # of full contrast, from which a pixel is ink
_NUMBERED = re.compile(r"(.*?) ?\d+/\d+\s*")


class HeaderlessPage(NotAPage):
    """The picture is one of our pages for people, without a header."""


def refuse_for_people(picture: bytes) -> None:
    """Raises HeaderlessPage where the picture is one of our pages for people; NotAPage where it is no picture.
    Quick."""
    grey = decode_grey(picture)
    if (mode := mode_of_layout(grey)) is None:
        return
    label = _label(grey, mode)
    recalling = own_command("recall", label or "LABEL")
    raise HeaderlessPage(
        "A page for people",
        f"This is a page for people{f' of “{label}”' if label else ''}, without a header: it cannot be read back.",
        f"Recall the archive by its label: {recalling}",
    )


def mode_of_layout(grey: NDArray[np.uint8]) -> Mode | None:
    """The mode of the page for people that the picture shows whole; None for any other picture."""
    height, width = grey.shape
    if abs(height - width) > 2:
        return None
    modes = [mode for cell in CELLS for mode in modes_of(cell).values()]
    likely = [mode for mode in modes if _SMALLEST <= width / mode.side <= _LARGEST]
    if not likely:
        return None
    likely.sort(key=lambda mode: mode.side != width)  # a scaled page may have the rules of another, about
    ink = _ink(grey)
    return next((mode for mode in likely if _is_ruled(ink, mode)), None)


def _ink(grey: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which pixels are ink, dark on light or light on dark."""
    ground = int(np.median(grey))
    far = max(255 - ground, ground)
    return np.abs(grey.astype(np.int16) - ground) > _DARK * far


def _is_ruled(ink: NDArray[np.bool_], mode: Mode) -> bool:
    """Whether the line stands below the title, and a rule between each two columns."""
    scale = ink.shape[1] / mode.side
    cell = mode.cell
    across = round(mode.columns * cell.width * scale)
    top, below = (round(row * cell.height * scale) for row in (TITLE_ROWS - 1, TITLE_ROWS))
    if not (ink[top:below, :across].mean(axis=1) > _RULED).any():
        return False
    down = round(mode.rows * cell.height * scale)
    step = width_of(mode) + BESIDE
    for column in range(1, COLUMNS):
        left = round((column * step - 1) * cell.width * scale)
        right = round(column * step * cell.width * scale)
        ruled = ink[below:down, left:right].mean(axis=0) > _RULED
        if not ruled.any() or ruled.all():
            return False
    return True


def _label(grey: NDArray[np.uint8], mode: Mode) -> str:
    """What stands in the title before the page's number, where the picture has the page's own size; else nothing."""
    if grey.shape[1] != mode.side:
        return ""
    packed = np.packbits(_ink(grey[: mode.cell.height]), axis=1)
    codes = read_cells(cells_of(packed, mode.cell), load_glyphs(mode.cell))
    title = "".join(chr(code) for code in codes.tolist() if 0x20 <= code < ESCAPE)
    numbered = _NUMBERED.fullmatch(title.rstrip())
    return numbered[1].strip() if numbered else ""
