"""Sharing of pages between files: pages that already hold a part of the text become pages of the new archive too.

A page of a file is self-contained, so it is shared whole or not at all: the pages' texts joined are the file.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from memory.archive.write.chunks import PagePart, PassageSpan
from memory.pages.render.modes import Mode
from memory.pages.types import PageRow

WORTH_SHARING = 1024  # characters: what stands between shared pages needs pages of its own


class SharedPage(Struct, frozen=True):
    """A page that holds the text's characters from `start` on."""

    start: int
    row: PageRow


class UnsharedSpan(Struct, frozen=True):
    """Characters of the text that are on no page."""

    start: int
    text: str


FilePiece = SharedPage | UnsharedSpan


def way_of(mode: Mode) -> str:
    """The cell and mode of a file's pages, as a key: pages of another key are not shared."""
    return f"{mode.cell.name} {mode.name}"


def candidates(
    cut: Sequence[PassageSpan], homes: Mapping[bytes, Sequence[tuple[PagePart, ...]]]
) -> list[tuple[int, str]]:
    """Offsets in the text at which a shared page may begin, with its id, in order."""
    places: set[tuple[int, str]] = set()
    for passage in cut:
        for parts in homes.get(passage.hash, ()):
            offset = passage.start
            for part in parts:
                places.add((offset - part.page_start, part.page))
                offset += part.length
    return sorted(place for place in places if place[0] >= 0)


def cover(
    text: str,
    mode: Mode,
    places: Sequence[tuple[int, str]],
    rows: Mapping[str, PageRow],
    reads: Callable[[PageRow], str | None],
) -> list[FilePiece]:
    """Splits the text into shared pages and the rest. `reads` gives a page's exact text, or None."""
    pieces, done = list[FilePiece](), 0
    for start, page in places:
        row = rows.get(page)
        if row is None or start < done or not _fits(row, mode, start, len(text)):
            continue
        if (start > done and row.chars < WORTH_SHARING) or reads(row) != text[start : start + row.chars]:
            continue
        if start > done:
            pieces.append(UnsharedSpan(done, text[done:start]))
        pieces.append(SharedPage(start, row))
        done = start + row.chars
    if done < len(text) or not pieces:
        pieces.append(UnsharedSpan(done, text[done:]))
    return pieces


def _fits(row: PageRow, mode: Mode, start: int, chars: int) -> bool:
    """Whether the page looks as it would if drawn now: the last page of a text may be smaller than the mode says."""
    last = start + row.chars == chars
    return row.cell == mode.cell.name and (row.mode == mode.name or (last and row.width < mode.side))
