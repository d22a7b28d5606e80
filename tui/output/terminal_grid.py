"""What the terminal shows, and the shortest output that turns it into what it should show."""

from collections.abc import Sequence
from itertools import pairwise

from rich.color import ColorSystem
from rich.console import Console
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate

from tui.output.blanks import blank_end, erased
from tui.output.cells import PLAIN, Pen, ScreenCell
from tui.output.moved_lines import Scroll, find_scroll
from tui.output.screen_row import ScreenRow

MIN_SCROLLED = 3  # changed rows below which no scroll is looked for
SAME_CELLS = 6  # cells that did not change but are written again, because that is shorter than to move the cursor


class TerminalGrid:
    """The rows that the terminal shows. `forget` it when something else may have drawn on the terminal.

    `erases_in_colour`: cells that the terminal erases get the present background, not its own.
    """

    def __init__(self, *, erases_in_colour: bool = False) -> None:
        self._rows: list[ScreenRow] = []
        self._erases_in_colour = erases_in_colour
        self.written = 0  # bytes of all updates so far

    def forget(self) -> None:
        """Whatever is drawn next is written whole."""
        self._rows = []

    def changes(self, update: CompositorUpdate) -> CompositorUpdate:
        """The update, reduced to what changes on the terminal when it is rendered."""
        return ChangedCells(self, update) if isinstance(update, LayoutUpdate | ChopsUpdate) else update

    def render(self, update: LayoutUpdate | ChopsUpdate, console: Console) -> str:
        """The sequences that draw the update, which the terminal then shows."""
        output = self._rendered(update, console)
        self.written += len(output.encode(errors="replace"))
        return output

    def _rendered(self, update: LayoutUpdate | ChopsUpdate, console: Console) -> str:
        rows = self._layout_rows(update) if isinstance(update, LayoutUpdate) else self._chop_rows(update)
        rows = {y: row for y, row in rows.items() if not self._rows[y].shows(row)}
        if any(row.has_controls for row in rows.values()):  # pixels: only the whole update is right
            self.forget()
            return update.render_segments(console)
        system = console._color_system or ColorSystem.TRUECOLOR  # pyright: ignore[reportPrivateUsage] -- as Strip.render
        output = _Output(erases_in_colour=self._erases_in_colour)
        if len(rows) >= MIN_SCROLLED and (scroll := self._find_scroll(rows)):
            output.scroll(scroll)
            rows = self._scrolled(scroll, rows)
        for y, row in sorted(rows.items()):
            output.row(y, self._rows[y], row, system)
            self._rows[y] = row
        return output.text()

    def _layout_rows(self, update: LayoutUpdate) -> dict[int, ScreenRow]:
        x, y, width, height = update.region
        rows = {y + number: ScreenRow.of_strips(strips) for number, strips in enumerate(update.strips)}
        if (x, y) != (0, 0) or len(rows) != height:
            raise ValueError("a full update begins at the first cell and covers the screen")
        self._resize(width, height)
        return rows

    def _chop_rows(self, update: ChopsUpdate) -> dict[int, ScreenRow]:
        self._resize(update.chop_ends[0][-1], len(update.chops))
        rows: dict[int, ScreenRow] = {}
        for y, first, last in update.spans:
            row = rows.get(y, self._rows[y])
            rows[y] = row.updated(update.chops[y], update.chop_ends[y], first, last)
        return rows

    def _resize(self, width: int, height: int) -> None:
        if len(self._rows) != height or self._rows[0].width != width:
            self._rows = [ScreenRow.unknown(width)] * height

    def _find_scroll(self, rows: dict[int, ScreenRow]) -> Scroll | None:
        shown = [row.text for row in self._rows]
        return find_scroll(shown, {y: row.text for y, row in rows.items()})

    def _scrolled(self, scroll: Scroll, rows: dict[int, ScreenRow]) -> dict[int, ScreenRow]:
        """Moves the rows; gives all rows that are to be drawn then."""
        top, bottom, lines = scroll
        region = range(top, bottom + 1)
        wanted = {y: self._rows[y] for y in region} | rows
        moved = [
            self._rows[y + lines] if y + lines in region else ScreenRow.unknown(self._rows[y].width) for y in region
        ]
        self._rows[top : bottom + 1] = moved
        return {y: row for y, row in wanted.items() if not self._rows[y].shows(row)}


class ChangedCells(CompositorUpdate):
    """An update of which only the changed cells are written."""

    def __init__(self, grid: TerminalGrid, update: LayoutUpdate | ChopsUpdate) -> None:
        self._grid = grid
        self._update = update

    def render_segments(self, console: Console) -> str:
        return self._grid.render(self._update, console)


class _Output:
    """Sequences for the terminal, which begin and end with its default pen."""

    def __init__(self, *, erases_in_colour: bool) -> None:
        self._parts: list[str] = []
        self._pen = PLAIN
        self._erases_in_colour = erases_in_colour

    def text(self) -> str:
        self._set_pen(PLAIN)
        return "".join(self._parts)

    def scroll(self, scroll: Scroll) -> None:
        top, bottom, lines = scroll
        region = f"\x1b[{top + 1};{bottom + 1}r"
        move = f"\x1b[{bottom + 1};1H" + "\n" * lines if lines > 0 else f"\x1b[{top + 1};1H" + "\x1bM" * -lines
        self._parts.append(f"{region}{move}\x1b[r")

    def row(self, y: int, shown: ScreenRow, wanted: ScreenRow, system: ColorSystem) -> None:
        """Draws the cells in which the rows differ; the whole row where terminals disagree on widths."""
        old, old_certain = shown.cells(system)
        new, new_certain = wanted.cells(system)
        if old_certain and new_certain:
            for first, last in _runs(old, new):
                self._draw(first, y, new[first:last], wanted.width)
        elif old != new or None in old:
            for first, last in pairwise((*wanted.starts, wanted.width)):
                self._draw(first, y, new[first:last], wanted.width)

    def _draw(self, x: int, y: int, cells: Sequence[ScreenCell | None], width: int) -> None:
        self._parts.append(f"\x1b[{y + 1};{x + 1}H")
        at = 0
        while at < len(cells):
            cell = cells[at]
            if cell is not None and cell[0]:
                self._set_pen(cell[1])
                end = blank_end(cells, at) if self._may_erase(cell) else at
                is_last = end == len(cells)
                if erase := erased(end - at, is_last=is_last, reaches_edge=x + end == width):
                    self._parts.append(erase)
                    at = end
                    continue
                self._parts.append(cell[0])
            at += 1

    def _may_erase(self, cell: ScreenCell) -> bool:
        """Whether an erase looks like the cell: a blank with nothing but a background, which the terminal keeps."""
        grapheme, pen = cell
        if grapheme != " " or pen.attributes or pen.link:
            return False
        return self._erases_in_colour or not pen.background

    def _set_pen(self, pen: Pen) -> None:
        if pen is not self._pen and pen != self._pen:
            self._parts.append(pen.change_from(self._pen))
            self._pen = pen


def _runs(old: list[ScreenCell | None], new: list[ScreenCell | None]) -> list[tuple[int, int]]:
    """The spans of columns in which the rows differ; near ones are joined."""
    runs: list[tuple[int, int]] = []
    for column, (before, after) in enumerate(zip(old, new, strict=True)):
        if before == after or after is None:
            continue
        if runs and column - (end := runs[-1][1]) <= SAME_CELLS and None not in new[end:column]:
            runs[-1] = (runs[-1][0], column + 1)
        else:
            runs.append((column - 1 if after[0] == "" and column else column, column + 1))
    return runs
