"""What an OCR engine makes of a picture, alone or as a second reader of a page of ours."""

from collections.abc import Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from foundation.trust import Trust
from memory.archive.draw.header import Header
from memory.archive.draw.heads import ReadHead
from memory.archive.draw.pixels import decode_grey
from memory.archive.read.agreement import differing, unsure
from memory.archive.read.ocr_lines import LineReading, OnLine, read_on_grid
from memory.errors import NotAPage
from models.ocr.port import OcrEngine, rows

__all__ = ["Found", "OnLine", "by_ocr", "seconded"]

_GRIDS = 3  # candidates that are tried
_LOST = 0.5  # share of lines in doubt from which OCR alone is the better reader


class Found(Struct, frozen=True, kw_only=True):
    """What one reader, or two, made of a picture."""

    text: str
    trust: Trust
    engine: str
    doubt: tuple[int, ...] = ()
    header: Header | None = None
    heads: tuple[ReadHead, ...] = ()
    told: tuple[str, ...] = ()

    def saying(self, sentence: str) -> "Found":
        """The same, with a sentence more."""
        return replace(self, told=(*self.told, sentence))


def by_ocr(picture: bytes, engine: OcrEngine, on_line: OnLine | None = None) -> Found:
    """The engine's word: line by line on a page's grid, else the picture as a whole. Never more than approximate."""
    if engine.lines and (page := _on_grid(picture, engine, on_line)):
        return _approximate(page.text, engine.name, page.scores)
    reading = engine.read(picture)
    scores = [min(line.score for line in row) for row in rows(reading.lines)]
    return replace(_approximate(reading.text, engine.name, scores), told=reading.told)


def seconded(first: Found, picture: bytes, engine: OcrEngine, on_line: OnLine | None = None) -> Found:
    """A page that is not proven by its hash, looked at by the engine too.

    Where both agree it is verified; lines where they differ are in doubt. Where they hardly agree anywhere and the
    engine is the surer, its word counts.
    """
    page = _on_grid(picture, engine, on_line) if engine.lines else None
    if page is None:
        return first
    doubt = differing(first.text, page.text)
    lines = sum(1 for line in first.text.split("\n") if line)
    if len(doubt) > _LOST * max(lines, 1) and len(first.doubt) > _LOST * lines:
        alone = _approximate(page.text, engine.name, page.scores)
        return replace(alone, header=first.header) if len(alone.doubt) < len(first.doubt) else first
    told = f"{engine.name} reads {lines - len(doubt):,} of {lines:,} lines alike."
    trust = Trust.APPROXIMATE if doubt else Trust.VERIFIED
    return replace(first, trust=trust, doubt=doubt, engine=f"{first.engine}+{engine.name}").saying(told)


def _on_grid(picture: bytes, engine: OcrEngine, on_line: OnLine | None) -> LineReading | None:
    from memory.archive.read.grid import find_grid

    try:
        grey = decode_grey(picture)
    except NotAPage:  # no picture at all, or a photograph larger than any page: the engine sees for itself
        return None
    for grid in islice(find_grid(grey), _GRIDS):
        if (page := read_on_grid(grey, grid, engine, on_line)) is not None:
            return page
    return None


def _approximate(text: str, engine: str, scores: Sequence[float]) -> Found:
    return Found(text=text, trust=Trust.APPROXIMATE, engine=engine, doubt=unsure(text, scores))
