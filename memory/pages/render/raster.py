"""Between a grid of cells and the ink of a page.

Ink is (height, width/8) uint8, most significant bit first. A cell is its rows, a byte each from the highest bit on: a
cell of 8 pixels is a byte of ink a row, four cells of 6 pixels are three. The margin right and below is blank.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from memory.pages.render.modes import Cell, Mode

Bits = NDArray[np.uint8]


def ink_of(cells: Bits, mode: Mode) -> Bits:
    """The page's ink, from its cells (rows·columns, height) in reading order."""
    rows, columns, height = mode.rows, mode.columns, mode.cell.height
    lines = cells.reshape(rows, columns, height).transpose(0, 2, 1).reshape(rows * height, columns)
    if mode.cell.width == 6:
        lines = _six_to_eight(lines)
    ink = np.zeros((mode.side, mode.side // 8), np.uint8)
    ink[: rows * height, : lines.shape[1]] = lines[:, : mode.side // 8]
    return ink


def cells_of(ink: Bits, cell: Cell) -> Bits:
    """(rows·columns, height): the bitmap of each whole cell, in reading order."""
    rows, columns = ink.shape[0] // cell.height, ink.shape[1] * 8 // cell.width
    lines = ink[: rows * cell.height]
    if cell.width == 6:
        lines = _eight_to_six(lines)
    grid = lines[:, :columns].reshape(rows, cell.height, columns).transpose(0, 2, 1)
    return np.ascontiguousarray(grid).reshape(rows * columns, cell.height)


def margin_is_blank(ink: Bits, cell: Cell) -> bool:
    """Whether there is no ink right of the last column and below the last row."""
    margin = _margin(ink.shape[0], cell)
    return margin is None or not (ink & margin).any()


@cache
def _margin(side: int, cell: Cell) -> Bits | None:
    """The ink of a page that is black in its margin alone; None where there is no margin."""
    if side % cell.width == 0 and side % cell.height == 0:
        return None
    black = np.ones((side, side), np.uint8)
    black[: side // cell.height * cell.height, : side // cell.width * cell.width] = 0
    return np.packbits(black, axis=1)


def _six_to_eight(lines: Bits) -> Bits:
    """Bytes of six pixels each (the highest bits) packed to bytes of eight: sixteen of them as three words of 32 bits.

    Short rows are filled up with blank.
    """
    lines = np.pad(lines, ((0, 0), (0, -lines.shape[1] % 16)))
    four = lines.view(">u4").astype(np.uint32)  # four cells a word, 24 bits of ink
    ink = (four >> 8 & 0xFC0000) | (four >> 6 & 0x3F000) | (four >> 4 & 0xFC0) | (four >> 2 & 0x3F)
    a, b, c, d = (ink[:, n::4] for n in range(4))
    words = np.empty((lines.shape[0], a.shape[1], 3), ">u4")
    words[:, :, 0] = a << 8 | b >> 16
    words[:, :, 1] = b << 16 | c >> 8
    words[:, :, 2] = c << 24 | d
    return words.view(np.uint8).reshape(lines.shape[0], -1)


def _eight_to_six(lines: Bits) -> Bits:
    """The inverse of `_six_to_eight`."""
    lines = np.pad(lines, ((0, 0), (0, -lines.shape[1] % 12)))
    a, b, c = (lines.view(">u4").astype(np.uint32)[:, n::3] for n in range(3))
    ink = np.empty((lines.shape[0], a.shape[1], 4), np.uint32)
    ink[:, :, 0] = a >> 8
    ink[:, :, 1] = a << 16 | b >> 16
    ink[:, :, 2] = b << 8 | c >> 24
    ink[:, :, 3] = c
    four = (ink & 0xFC0000) << 8 | (ink & 0x3F000) << 6 | (ink & 0xFC0) << 4 | (ink & 0x3F) << 2
    return four.astype(">u4").view(np.uint8).reshape(lines.shape[0], -1)
