"""A row of the screen, as the strips that it is made of; its text and its cells are computed when they are needed."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from rich.color import ColorSystem
from textual.strip import Strip

from tui.output.cells import ScreenCell, row_cells


class ScreenRow:
    """Strips from left to right with the columns where they start; None where it is not known what is shown."""

    def __init__(self, starts: tuple[int, ...], strips: tuple[Strip | None, ...], width: int) -> None:
        self.starts = starts
        self.strips = strips
        self.width = width

    @classmethod
    def unknown(cls, width: int) -> "ScreenRow":
        return cls((0,), (None,), width)

    @classmethod
    def of_strips(cls, strips: Iterable[Strip]) -> "ScreenRow":
        """A row of strips that follow each other."""
        starts: list[int] = []
        parts: list[Strip | None] = []
        column = 0
        for strip in strips:
            starts.append(column)
            parts.append(strip)
            column += strip.cell_length
        return cls(tuple(starts), tuple(parts), column)

    def updated(self, chops: Mapping[int, Strip | None], ends: Sequence[int], first: int, last: int) -> "ScreenRow":
        """The row after a partial update of the columns `first` to `last`, exclusive."""
        strips = tuple(
            strip if strip is not None and column < last and end > first else None
            for (column, strip), end in zip(chops.items(), ends, strict=False)
        )
        starts = tuple(chops)[: len(strips)]
        if None in strips:
            strips = tuple(
                self._between(column, end) if strip is None else strip
                for column, end, strip in zip(starts, ends, strips, strict=False)
            )
        return ScreenRow(starts, strips, self.width)

    def _between(self, first: int, last: int) -> Strip | None:
        if first in self.starts:
            index = self.starts.index(first)
            strip = self.strips[index]
            if strip is None or strip.cell_length == last - first:
                return strip if index + 1 < len(self.starts) or last == self.width else self._cropped(first, last)
        return self._cropped(first, last)

    def _cropped(self, first: int, last: int) -> Strip | None:
        known = [strip for strip in self.strips if strip is not None]
        return Strip.join(known).crop(first, last) if len(known) == len(self.strips) else None

    def shows(self, other: "ScreenRow") -> bool:
        """Whether both are known and show the same."""
        return None not in self.strips and self.starts == other.starts and self.strips == other.strips

    @property
    def has_controls(self) -> bool:
        """Whether it holds control sequences, such as pixels, beside its text."""
        return any(segment.control for strip in self.strips if strip is not None for segment in strip)

    @cached_property
    def text(self) -> str:
        """The text of the widest strip; "" where something is not known."""
        if None in self.strips:
            return ""
        return max((strip for strip in self.strips if strip is not None), key=lambda strip: strip.cell_length).text

    def cells(self, system: ColorSystem) -> tuple[list[ScreenCell | None], bool]:
        """Its cells, None for the unknown ones, and whether all terminals agree on their widths."""
        if self._cells is None or self._cells[0] is not system:
            self._cells = (system, *self._computed_cells(system))
        return self._cells[1], self._cells[2]

    _cells: tuple[ColorSystem, list[ScreenCell | None], bool] | None = None

    def _computed_cells(self, system: ColorSystem) -> tuple[list[ScreenCell | None], bool]:
        cells: list[ScreenCell | None] = []
        is_certain = True
        for start, end, strip in zip(self.starts, (*self.starts[1:], self.width), self.strips, strict=True):
            found, certain = ([], True) if strip is None else row_cells([strip], system)
            is_certain = is_certain and certain and (strip is None or len(found) == end - start)
            cells += found[: end - start]
            cells += [None] * (end - len(cells))
        return cells, is_certain
