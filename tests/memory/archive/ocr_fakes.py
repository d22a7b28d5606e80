"""Pages for OCR to read, what may befall them, and an engine that says what it is told."""

import io
from collections.abc import Callable, Sequence

from PIL import Image

from memory.pages.render.entry_heads import EntryHead
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import TINY, Mode
from memory.pages.render.page import page_sheets, render_page
from models.ocr.picture import open_image
from models.ocr.port import OcrLine, OcrReading

PAGE_ID = "pg_abcdefghijkl"


def page(text: str, head: EntryHead | None = None, mode: Mode = TINY) -> bytes:
    """The first page of the text, as PNG."""
    (sheet, *_) = page_sheets([LayoutText(text, head)], mode)
    return render_page(sheet, PAGE_ID, 1).png


def redrawn(png: bytes, change: Callable[[Image.Image], Image.Image]) -> bytes:
    """The page after something befell it, saved anew without metadata."""
    with Image.open(io.BytesIO(png)) as image:
        changed = change(image.convert("L"))
    file = io.BytesIO()
    changed.save(file, "PNG")
    return file.getvalue()


def unproven(png: bytes) -> bytes:
    """The page with its header blotted out: no hash is left that the text could match."""

    def blot(image: Image.Image) -> Image.Image:
        image.paste(0, (150, 0, 500, 30))
        return image

    return redrawn(png, blot)


def forged(png: bytes) -> bytes:
    """The page with the first sign of its third line drawn over by that of its first: every cell is a glyph of ours."""

    def copy(image: Image.Image) -> Image.Image:
        image.paste(image.crop((0, 32, 8, 48)), (0, 64))
        return image

    return redrawn(png, copy)


class FakeEngine:
    """Reads these lines: crop by crop the n-th, of a whole picture all; `written` is a text without lines."""

    name = "fake"

    def __init__(
        self,
        says: Sequence[str],
        score: float = 0.99,
        *,
        lines: bool = True,
        written: str = "",
        warnings: tuple[str, ...] = (),
    ) -> None:
        self._says = list(says)
        self._score = score
        self._written, self._warnings = written, warnings
        self.lines = lines
        self.crops: list[bytes] = []
        self.pictures: list[bytes] = []

    def read(self, image: bytes) -> OcrReading:
        if not self.lines:
            open_image(image)  # an engine of whole pictures opens them
        self.pictures.append(image)
        height = 20.0
        lines = (
            OcrLine(words, (0, n * height, 90, (n + 1) * height - 1), self._score) for n, words in enumerate(self._says)
        )
        return OcrReading(self.name, tuple(lines), written=self._written, warnings=self._warnings)

    def read_lines(self, images: Sequence[bytes]) -> list[OcrLine]:
        begin = len(self.crops)
        self.crops += images
        return [OcrLine(words, (0, 0, 1, 1), self._score) for words in self._says[begin : begin + len(images)]]
