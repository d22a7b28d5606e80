"""Tables: columns as wide as their words where there is room, narrowed fairly where there is not."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from rich.cells import cell_len
from rich.segment import Segment

from tui.widgets.transcript.segments import Line, Run, cells, cut
from tui.widgets.transcript.styles import Look
from tui.widgets.transcript.wrap import breaks

GAP: Final = 2
NARROWEST: Final = 6
Cell = list[Run]


class Table(Struct, frozen=True):
    """`sides` says for each column: left, right, center or ""."""

    header: list[Cell]
    rows: list[list[Cell]]
    sides: list[str]


def natural_widths(table: Table) -> list[int]:
    """What each column would like to have, in cells."""
    return [
        max((_wide(row[column]) for row in [table.header, *table.rows] if column < len(row)), default=1)
        for column in range(len(table.header))
    ]


def fitted(wanted: Sequence[int], width: int) -> list[int] | None:
    """Widths that fit into `width` with the gaps between: the widest give first. None where columns are too many."""
    room = width - GAP * (len(wanted) - 1)
    if sum(wanted) <= room:
        return list(wanted)
    if room < sum(min(want, NARROWEST) for want in wanted):
        return None
    low, high = 1, max(wanted)
    while low < high:  # the greatest cap under which all fit
        middle = (low + high + 1) // 2
        low, high = (middle, high) if sum(min(want, middle) for want in wanted) <= room else (low, middle - 1)
    return [min(want, low) for want in wanted]


def table_lines(table: Table, width: int, look: Look, *, wanted: Sequence[int] = (), opens: bool = True) -> list[Line]:
    """The table as lines; without its header where it goes on from an earlier block."""
    widths = fitted(wanted or natural_widths(table), width)
    if widths is None:
        return _records(table, width, look)
    lines: list[Line] = []
    if opens:
        header = [[(words, style + look.strong) for words, style in cell] for cell in table.header]
        lines += _row(header, widths, table.sides, look)
        lines.append(_between([Segment("─" * each, look.rule) for each in widths], look))
    for row in table.rows:
        lines += _row(row, widths, table.sides, look)
    return lines


def _row(row: list[Cell], widths: list[int], sides: list[str], look: Look) -> list[Line]:
    columns = [cut(cell, each, breaks) for cell, each in zip(row, widths, strict=False)]
    tall = max((len(column) for column in columns), default=0)
    lines: list[Line] = []
    for number in range(tall):
        line: Line = []
        for column, each, side in zip(columns, widths, sides, strict=False):
            here = column[number] if number < len(column) else []
            space = max(each - cells(here), 0)
            left = {"right": space, "center": space // 2}.get(side, 0)
            gap = GAP if line else 0
            line += [Segment(" " * (gap + left), look.text), *here, Segment(" " * (space - left), look.text)]
        lines.append(line)
    return lines


def _between(pieces: list[Segment], look: Look) -> Line:
    line: Line = []
    for piece in pieces:
        line += [Segment(" " * GAP, look.text), piece] if line else [piece]
    return line


def _records(table: Table, width: int, look: Look) -> list[Line]:
    """More columns than a narrow screen holds: each row as a short list."""
    lines: list[Line] = []
    for row in table.rows:
        for name, cell in zip(table.header, row, strict=False):
            named = [(words, look.muted) for words, _ in name]
            lines += cut([*named, (": ", look.muted), *cell], width, breaks)
        lines.append([Segment("─" * min(width, 20), look.rule)])
    return lines


def _wide(cell: Cell) -> int:
    return max(cell_len(line) for line in "".join(words for words, _ in cell).split("\n"))
