"""OCR of a picture, alone or as a second reader of one of our pages.

Where two independent readers agree on a line, it is verified; a single reader is never more than approximate.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import islice

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from foundation.trust import Trust
from memory.errors import NotAPage
from memory.pages.read.deadline import Deadline, DeadlineExceeded
from memory.pages.read.exact import UNKNOWN
from memory.pages.read.grid.detect import Grid, find_grid
from memory.pages.read.nearest.header import nearest_header
from memory.pages.read.nearest.image_model import ImageModel
from memory.pages.read.nearest.resampling import KERNELS
from memory.pages.read.nearest.shapes import load_shapes
from memory.pages.read.ocr.lines import LineReading, OnLine, read_on_grid
from memory.pages.render.entry_heads import ParsedHead
from memory.pages.render.header import HEADER_CELLS, PageHeader
from memory.pages.render.png import decode_grey
from models.ocr.port import OcrEngine, line_rows

SURE = 0.95  # an engine's own score of a line, from which it is not in doubt

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mär|Mai|Okt|Dez)[a-zé]*"
_MONEY = r"(?:[€$£¥₹]|(?<![A-Za-z])(?:EUR|USD|GBP|CHF|CNY|RMB|JPY|INR)(?![A-Za-z]))"
_COUNTS = {
    "address": r"https?://|www\.|[\w.+-]+@[\w-]+\.",
    "hash": r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)[0-9a-fA-F]{7,}(?![A-Za-z0-9])",
    "number": r"\d(?:[ \u00a0.,'’()/+-]{0,2}\d){4,}",  # also in groups: telephones, cards, IBANs, amounts
    "IBAN": r"(?<![A-Za-z])IBAN|(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2}",
    "amount": rf"{_MONEY}\s?\d|\d\s?(?:{_MONEY}|[元円])|\d[.,]\d\d(?!\d)",
    "date": rf"\d{{1,2}}(?:st|nd|rd|th)?\.? ?{_MONTH}|{_MONTH}\.? \d|\d ?[年月日]|\d{{1,4}}([-./])\d{{1,2}}\1\d{{1,4}}",
    "code": r"(?<![A-Za-z0-9])(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{4,}(?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9])(?=[A-Z-]*\d)[A-Z0-9]{2,}-[A-Z0-9-]{2,}"
    r"|(?<![A-Za-z0-9])(?=[a-zA-Z]*\d)(?=\d*[a-zA-Z])[a-zA-Z0-9]{6,}(?![A-Za-z0-9])",
    "path": r"(?:[\w.-]*/){2,}|[A-Za-z]:\\",
    "program": r"\w\(|[{}<>=;$\\]|_\w",
}
_TO_THE_LETTER = re.compile("|".join(f"(?:{pattern})" for pattern in _COUNTS.values()))
"""What one wrong letter changes, and looks right after it."""


def differing_lines(text: str, other: str) -> tuple[int, ...]:
    """The lines of `text`, from 1, that the other reader does not have. Blanks and ways to write a letter are no
    difference (NFKC); a blank line is none either."""
    lines, other_lines = _compared(text), _compared(other)
    matcher = SequenceMatcher(None, [line for _, line in lines], [line for _, line in other_lines], autojunk=False)
    agreed = {lines[block.a + n][0] for block in matcher.get_matching_blocks() for n in range(block.size)}
    return tuple(number for number, _ in lines if number not in agreed)


def uncertain_lines(text: str, scores: Sequence[float] = ()) -> tuple[int, ...]:
    """The lines of what OCR read, from 1, that are in doubt: the engine is unsure, or every letter of it counts."""
    lines = text.split("\n")
    known_scores = [*scores, *[1.0] * (len(lines) - len(scores))]
    return tuple(
        n for n, (line, score) in enumerate(zip(lines, known_scores, strict=False), 1) if score < SURE or _counts(line)
    )


def _counts(line: str) -> bool:
    return _TO_THE_LETTER.search(line) is not None


def _compared(text: str) -> list[tuple[int, str]]:
    """The lines that are not blank, each with its number from 1."""
    lines = ("".join(unicodedata.normalize("NFKC", line).split()) for line in text.split("\n"))
    return [(number, line) for number, line in enumerate(lines, 1) if line]


__all__ = ["OcrPageText", "OnLine", "read_by_ocr", "verify_by_ocr"]

_GRIDS = 3  # candidates that are tried
_MOST_GRIDS = 8  # candidates that are looked at for a header
_LONGEST = 12.0  # seconds of CPU in which a grid is looked for
_LOST = 0.5  # share of lines from which on a reader is lost
_CLEAR = 0.15**2  # noise below which the glyphs explain the picture


class OcrPageText(Struct, frozen=True, kw_only=True):
    """What one reader, or two, made of a picture. `grid` and `noise` as in memory.pages.read.exact.PageReading."""

    text: str
    trust: Trust
    engine: str
    doubt: tuple[int, ...] = ()
    header: PageHeader | None = None
    heads: tuple[ParsedHead, ...] = ()
    warnings: tuple[str, ...] = ()
    grid: Grid | None = None
    noise: float = 0.0

    def saying(self, sentence: str) -> "OcrPageText":
        """The same, with a sentence more."""
        return replace(self, warnings=(*self.warnings, sentence))

    @property
    def stands(self) -> bool:
        """Whether its glyphs are what the picture shows: no other reader's words take the place of these."""
        if self.header is not None:
            return True
        lines = self.text.split("\n")
        return self.noise < _CLEAR and sum(UNKNOWN in line for line in lines) <= _LOST * len(lines)

    @property
    def is_cut(self) -> bool:
        """Whether the header states more than the picture holds."""
        if self.header is None or self.grid is None:
            return False
        columns = self.grid.columns
        return self.header.used > (self.grid.rows - -(-HEADER_CELLS // columns)) * columns

    @property
    def is_settled(self) -> bool:
        """Whether a second reader can change nothing: only where it was cut is it in doubt."""
        return self.is_cut and self.noise < _CLEAR and set(self.doubt) <= {self.text.count("\n") + 1}


def read_by_ocr(picture: bytes, engine: OcrEngine, on_line: OnLine | None = None) -> OcrPageText:
    """The engine's text: line by line on a page's grid, else the picture as a whole. Never more than approximate."""
    if engine.lines and (page := _on_grid(picture, None, engine, on_line)):
        return _approximate(page.text, engine.name, page.scores)
    reading = engine.read(picture)
    scores = [min(line.score for line in row) for row in line_rows(reading.lines)]
    return replace(_approximate(reading.text, engine.name, scores), warnings=reading.warnings)


def verify_by_ocr(first: OcrPageText, picture: bytes, engine: OcrEngine, on_line: OnLine | None = None) -> OcrPageText:
    """A page that is not proven by its hash, looked at by the engine too, on the same grid.

    Where both agree it is verified; lines where they differ are in doubt. Of a page that was cut, and shows its glyphs
    clearly, the hash could not agree: there the engine takes doubt away and adds none. Its own words count only where
    the first reader was lost and it is the surer.
    """
    page = _on_grid(picture, first.grid, engine, on_line) if engine.lines else None
    if page is None:
        return first
    differs = differing_lines(first.text, page.text)
    lines = sum(1 for line in first.text.split("\n") if line)
    if not first.stands and len(differs) > _LOST * max(lines, 1):
        alone = _approximate(page.text, engine.name, page.scores)
        if len(alone.doubt) < len(first.doubt):
            return replace(alone, doubt=tuple(sorted({*alone.doubt, *differing_lines(page.text, first.text)})))
    summary = f"{engine.name} reads {lines - len(differs):,} of {lines:,} lines alike."
    both = replace(first, engine=f"{first.engine}+{engine.name}").saying(summary)
    if not first.is_cut:
        return replace(both, trust=Trust.APPROXIMATE if differs else Trust.VERIFIED, doubt=differs)
    unsure_yet = set(first.doubt) & set(differs) if first.noise < _CLEAR else set(differs)
    last = first.text.count("\n") + 1  # what followed it is lost
    return replace(both, trust=Trust.APPROXIMATE, doubt=tuple(sorted({*unsure_yet, last})))


def _on_grid(picture: bytes, known: Grid | None, engine: OcrEngine, on_line: OnLine | None) -> LineReading | None:
    try:
        grey = decode_grey(picture)
    except NotAPage:  # no picture at all, or a photograph larger than any page: the engine sees for itself
        return None
    for grid in [known] if known else _candidate_grids(grey):
        if (page := read_on_grid(grey, grid, engine, on_line)) is not None:
            return page
    return None


def _candidate_grids(grey: NDArray[np.uint8]) -> Iterator[Grid]:
    """The one grid on which the header can be read; where there is none, the likeliest few.

    A page that lost its lower rows has the height of a smaller one, and the same first words.
    """
    grids = list[Grid]()
    with suppress(DeadlineExceeded):
        grids.extend(islice(find_grid(grey, Deadline(_LONGEST)), _MOST_GRIDS))
    headed = [grid for grid in grids if grid.has_header]
    sure = next((grid for grid in headed if _header_reads(grey, grid)), None) if len(headed) > 1 else None
    yield from [sure] if sure else grids[:_GRIDS]


def _header_reads(grey: NDArray[np.uint8], grid: Grid) -> bool:
    """Whether the grid's first rows are a header, by its CRC."""
    head = -(-HEADER_CELLS // grid.columns)
    cells = ImageModel(grey, replace(grid, rows=min(head + 1, grid.rows)), KERNELS[0]).strip()
    return nearest_header(cells.reshape(-1, *cells.shape[2:]), load_shapes(grid.cell)[0]) is not None


def _approximate(text: str, engine: str, scores: Sequence[float]) -> OcrPageText:
    return OcrPageText(text=text, trust=Trust.APPROXIMATE, engine=engine, doubt=uncertain_lines(text, scores))
