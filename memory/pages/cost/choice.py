"""The cheapest layout of a text for a render profile: over the page modes, and dense cells where it reads them."""

from collections.abc import Iterator

from msgspec import Struct

from memory.pages.cost.profiles import RenderProfile
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import CELLS, DENSE, REGULAR, Cell, Mode, modes_of
from memory.pages.render.page import page_sheets

USUAL = modes_of(REGULAR)["base"]


class LayoutChoice(Struct, frozen=True, kw_only=True):
    """A mode, and its cost in vision tokens."""

    mode: Mode
    tokens: int


def cheapest_layout(text: str, profile: RenderProfile, *, dense: bool = False) -> LayoutChoice:
    """The mode that costs the fewest vision tokens, of those that the profile sees unscaled.

    Of equals it has the larger cells, then base pages, then the larger ones. With `dense` only dense cells are tried.

    The last page of a text takes the smallest mode that it fits, whatever the mode of the others is.
    """
    usual_tokens, usual_cells = _cost(text, USUAL, profile)
    best: tuple[int, int, bool, int] | None = None
    chosen = USUAL
    for cell in _readable(profile, dense):
        cells = usual_cells if cell == REGULAR else 0
        for mode in _promising(profile, cell):
            if best is not None and _at_least(cells, mode, profile) > best[0]:
                continue
            tokens, cells = (usual_tokens, cells) if mode == USUAL else _cost(text, mode, profile)
            rank = (tokens, CELLS.index(cell), mode.name != USUAL.name, -mode.side)
            if best is None or rank < best:
                best, chosen = rank, mode
    return LayoutChoice(mode=chosen, tokens=best[0] if best else 0)


def _readable(profile: RenderProfile, dense: bool) -> tuple[Cell, ...]:
    """The cells to try, the smallest first: they take the fewest pages."""
    if dense:
        return (DENSE,)
    return (DENSE, REGULAR) if profile.cell == DENSE.name else (REGULAR,)


def _promising(profile: RenderProfile, cell: Cell) -> Iterator[Mode]:
    """The profile's modes, those with the most cells for a token first."""
    modes = [modes_of(cell)[name] for name in profile.modes]
    return iter(sorted(modes, key=lambda mode: profile.tokens(mode.name) / mode.capacity))


def _cost(text: str, mode: Mode, profile: RenderProfile) -> tuple[int, int]:
    """Vision tokens of the text's pages, and a number of cells that it takes in every mode of that cell."""
    tokens = cells = 0
    for sheet in page_sheets([LayoutText(text)], mode):
        tokens += profile.tokens(sheet.mode.name)
        cells += sheet.used - sheet.mode.rows  # a row may end with a cell that a wide character did not fit
    return tokens, max(0, cells)


def _at_least(cells: int, mode: Mode, profile: RenderProfile) -> int:
    """Vision tokens below which pages of that mode cannot hold so many cells."""
    full = max(0, -(-cells // mode.capacity) - 1)
    return full * profile.tokens(mode.name)
