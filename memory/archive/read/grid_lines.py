"""The rows of a found grid as single-line pictures, for engines that read lines better than pages."""

import io
from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PIL import Image

from memory.archive.read.grid import Grid

LINE_HEIGHT = 48
"""Pixels of a line as recognisers like it (PP-OCR's input is 48 high)."""
_MARGIN = 0.25  # of a cell's height, white, around the line


class LineCrop(Struct, frozen=True):
    """One row of cells. `png` is grey, dark on light; `row` counts from 0, the header's rows included."""

    row: int
    png: bytes
    box: tuple[int, int, int, int]  # x, y, width, height in the picture


def line_crops(
    grey: NDArray[np.uint8], grid: Grid, *, height: int = LINE_HEIGHT, first_row: int = 0
) -> Iterator[LineCrop]:
    """Each row of the grid from `first_row` that has any ink, upscaled to `height` pixels (never scaled down)."""
    right = min(round(grid.x0 + grid.columns * grid.cell_width), grey.shape[1])
    left = max(round(grid.x0), 0)
    for row in range(first_row, grid.rows):
        top = max(round(grid.y0 + row * grid.cell_height), 0)
        bottom = min(round(grid.y0 + (row + 1) * grid.cell_height), grey.shape[0])
        line = grey[top:bottom, left:right]
        line = 255 - line if grid.inverted else line
        if line.size and int(line.max()) - int(line.min()) >= 64:
            yield LineCrop(row, _upscaled(line, height), (left, top, right - left, bottom - top))


def _upscaled(line: NDArray[np.uint8], height: int) -> bytes:
    factor = max(1.0, height / line.shape[0])
    picture = Image.fromarray(line)
    picture = picture.resize((round(picture.width * factor), round(picture.height * factor)), Image.Resampling.BICUBIC)
    margin = round(picture.height * _MARGIN)
    sheet = Image.new("L", (picture.width + 2 * margin, picture.height + 2 * margin), int(line.max()))
    sheet.paste(picture, (margin, margin))
    out = io.BytesIO()
    sheet.save(out, "PNG", compress_level=1)
    return out.getvalue()
