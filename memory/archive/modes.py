"""The page modes: how large a page is, and what it nominally costs a vision model."""

from msgspec import Struct

from foundation.errors import Misuse
from memory.archive.header import HEADER_CELLS

CELL_WIDTH, CELL_HEIGHT = 8, 16


class Mode(Struct, frozen=True):
    """A square page of `side` pixels. `vision_tokens` is nominal: 4,096 px a token (DeepSeek-OCR, arXiv 2510.18234)."""

    name: str
    side: int
    vision_tokens: int

    @property
    def columns(self) -> int:
        return self.side // CELL_WIDTH

    @property
    def rows(self) -> int:
        return self.side // CELL_HEIGHT

    @property
    def header_rows(self) -> int:
        return -(-HEADER_CELLS // self.columns)

    @property
    def capacity(self) -> int:
        """Cells for text."""
        return (self.rows - self.header_rows) * self.columns


MODES = {
    mode.name: mode
    for mode in (Mode("tiny", 512, 64), Mode("small", 640, 100), Mode("base", 1024, 256), Mode("large", 1280, 400))
}
TINY = MODES["tiny"]
PROFILE = "deepseek-ocr (nominal)"


def mode_named(name: str) -> Mode:
    """The mode of that name. Raises Misuse."""
    if name not in MODES:
        raise Misuse("Page mode", f"There is no page mode “{name}”.", f"Choose one of {', '.join(MODES)}.")
    return MODES[name]
