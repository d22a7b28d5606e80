"""The page modes: how large a page is, in which cells it is drawn, and what it nominally costs a vision model."""

from msgspec import Struct

from foundation.errors import Misuse
from memory.pages.render.header import HEADER_CELLS


class Cell(Struct, frozen=True):
    """The box of one narrow character, in pixels; a wide one takes two side by side."""

    name: str
    width: int
    height: int


REGULAR = Cell("8x16", 8, 16)
DENSE = Cell("6x12", 6, 12)
CELLS = (REGULAR, DENSE)


class Mode(Struct, frozen=True):
    """A square page of `side` pixels. `vision_tokens` is nominal: 4,096 px a token (DeepSeek-OCR, arXiv 2510.18234).

    Where the side is no multiple of the cell's, a margin at the right and below stays blank.
    """

    name: str
    side: int
    vision_tokens: int
    cell: Cell = REGULAR

    @property
    def columns(self) -> int:
        return self.side // self.cell.width

    @property
    def rows(self) -> int:
        return self.side // self.cell.height

    @property
    def header_rows(self) -> int:
        return -(-HEADER_CELLS // self.columns)

    @property
    def capacity(self) -> int:
        """Cells for text."""
        return (self.rows - self.header_rows) * self.columns

    @property
    def smaller(self) -> tuple["Mode", ...]:
        """The modes with smaller pages in the same cells, smallest first."""
        return tuple(mode for mode in modes_of(self.cell).values() if mode.side < self.side)


_SIZES = (("tiny", 512, 64), ("small", 640, 100), ("base", 1024, 256), ("large", 1280, 400))
MODES = {size[0]: Mode(*size) for size in _SIZES}
DENSE_MODES = {size[0]: Mode(*size, DENSE) for size in _SIZES}
TINY = MODES["tiny"]
PROFILE = "deepseek-ocr (nominal)"


def modes_of(cell: Cell) -> dict[str, Mode]:
    """By name, smallest first."""
    return DENSE_MODES if cell == DENSE else MODES


def mode_named(name: str, dense: bool = False) -> Mode:
    """The mode of that name, in 6×12 cells where it is to be dense. Raises Misuse."""
    if name not in MODES:
        raise Misuse("Page mode", f"There is no page mode “{name}”.", f"Choose one of {', '.join(MODES)}.")
    return modes_of(DENSE if dense else REGULAR)[name]
