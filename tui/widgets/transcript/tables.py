"""Tables: columns at their natural width where there is room, narrowed evenly where there is not."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from rich.cells import cell_len
from rich.segment import Segment

from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine, StyledRun, breaks, cells, cut

GAP: Final = 2
NARROWEST: Final = 6
TableCell = list[StyledRun]


class MarkdownTable(Struct, frozen=True):
    """`sides` says for each column: left, right, center or ""."""

    header: list[TableCell]
    rows: list[list[TableCell]]
    sides: list[str]


def natural_widths(table: MarkdownTable) -> list[int]:
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


def table_lines(
    table: MarkdownTable, width: int, look: TranscriptStyles, *, wanted: Sequence[int] = (), opens: bool = True
) -> list[StyledLine]:
    """The table as lines; without its header where it goes on from an earlier block."""
    widths = fitted(wanted or natural_widths(table), width)
    if widths is None:
        return _records(table, width, look)
    lines: list[StyledLine] = []
    if opens:
        header = [[(words, style + look.strong) for words, style in cell] for cell in table.header]
        lines += _row(header, widths, table.sides, look)
        lines.append(_between([Segment("─" * each, look.rule) for each in widths], look))
    for row in table.rows:
        lines += _row(row, widths, table.sides, look)
    return lines


def _row(row: list[TableCell], widths: list[int], sides: list[str], look: TranscriptStyles) -> list[StyledLine]:
    columns = [cut(cell, each, breaks) for cell, each in zip(row, widths, strict=False)]
    tall = max((len(column) for column in columns), default=0)
    lines: list[StyledLine] = []
    for number in range(tall):
        line: StyledLine = []
        for column, each, side in zip(columns, widths, sides, strict=False):
            here = column[number] if number < len(column) else []
            space = max(each - cells(here), 0)
            left = {"right": space, "center": space // 2}.get(side, 0)
            gap = GAP if line else 0
            line += [Segment(" " * (gap + left), look.text), *here, Segment(" " * (space - left), look.text)]
        lines.append(line)
    return lines


def _between(pieces: list[Segment], look: TranscriptStyles) -> StyledLine:
    line: StyledLine = []
    for piece in pieces:
        line += [Segment(" " * GAP, look.text), piece] if line else [piece]
    return line


def _records(table: MarkdownTable, width: int, look: TranscriptStyles) -> list[StyledLine]:
    """More columns than a narrow screen holds: each row as a short list."""
    lines: list[StyledLine] = []
    for row in table.rows:
        for name, cell in zip(table.header, row, strict=False):
            named = [(words, look.muted) for words, _ in name]
            lines += cut([*named, (": ", look.muted), *cell], width, breaks)
        lines.append([Segment("─" * min(width, 20), look.rule)])
    return lines


def _wide(cell: TableCell) -> int:
    return max(cell_len(line) for line in "".join(words for words, _ in cell).split("\n"))
