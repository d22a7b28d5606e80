"""Pictures drawn in characters: coloured half blocks, two pixels per cell, or shades without colour."""

from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Final

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from tui.images.protocol import GraphicsProtocol
from tui.widgets.transcript.wrap import StyledLine

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

UPPER: Final = "▀"
SHADES: Final = " ░▒▓█"

Pixel = tuple[int, ...]


def fit_cells(width: int, height: int, columns: int, rows: int) -> tuple[int, int]:
    """Columns and rows of a picture of this size in pixels within a box of cells, which are twice as high as wide."""
    fitted_rows = max(round(columns * height / width / 2), 1)
    if fitted_rows <= rows:
        return max(columns, 1), fitted_rows
    return max(min(round(rows * 2 * width / height), columns), 1), max(rows, 1)


def picture_lines(
    picture: "Picture", columns: int, rows: int, protocol: GraphicsProtocol = GraphicsProtocol.BLOCKS
) -> list[StyledLine]:
    """The picture (of Pillow, in RGB) in exactly `columns` × `rows` cells."""
    if protocol is GraphicsProtocol.SHADES:
        return [
            [Segment("".join(SHADES[pixel * len(SHADES) // 256] for pixel in row))]
            for row in _rows(picture.convert("L"), columns, rows)
        ]
    pixels = [list(_pixels(row)) for row in _rows(picture, columns, rows * 2)]
    return [_line(upper, lower) for upper, lower in zip(pixels[::2], pixels[1::2], strict=True)]


def _rows(picture: "Picture", columns: int, rows: int) -> list[bytes]:
    resized = picture.resize((columns, rows), reducing_gap=2.0)
    data, width = resized.tobytes(), columns * len(resized.getbands())
    return [data[start : start + width] for start in range(0, len(data), width)]


def _pixels(row: bytes) -> "list[Pixel]":
    return [tuple(row[start : start + 3]) for start in range(0, len(row), 3)]


def _line(upper: "list[Pixel]", lower: "list[Pixel]") -> StyledLine:
    """A segment for each run of one colour."""
    runs = ((pair, len(list(run))) for pair, run in groupby(zip(upper, lower, strict=True)))
    return [Segment(UPPER * length, _style(*pair)) for pair, length in runs]


@lru_cache(4096)
def _style(upper: Pixel, lower: Pixel) -> Style:
    return Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower))


class BlockPicture(Widget):
    """A picture as large as its box allows, in its proportions."""

    def __init__(self, picture: "Picture", protocol: GraphicsProtocol) -> None:
        super().__init__()
        self.picture = picture
        self._protocol = protocol
        self._rendered: tuple[Size, list[StyledLine]] | None = None

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return fit_cells(*self.picture.size, container.width or viewport.width, container.height or viewport.height)[0]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return fit_cells(*self.picture.size, container.width or viewport.width, container.height or viewport.height)[1]

    def render_line(self, y: int) -> Strip:
        if self._rendered is None or self._rendered[0] != self.size:
            self._rendered = self.size, picture_lines(self.picture, self.size.width, self.size.height, self._protocol)
        line = self._rendered[1][y] if y < len(self._rendered[1]) else []
        return Strip(line, self.size.width)
